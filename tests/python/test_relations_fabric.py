"""A dozen of the relations that `make relations-fabric` draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import relations_fabric

if TYPE_CHECKING:
    from relations_told import Asked

SEED = 11
EACH = 6
"""How many relations of each area; `make relations-fabric` has more, of any seed."""
DRAWN = [
    pytest.param(one, id=f"{area} {index}: {one.relation}")
    for area in relations_fabric.AREAS
    for index, one in relations_fabric.asked(SEED, EACH, area)
]


@pytest.mark.parametrize("one", DRAWN)
def test_relation_holds(one: Asked) -> None:
    assert relations_fabric.broken(one) == []
