"""A dozen drawn relations between runs hold, and what does not hold is seen."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import drawn_cases
import relations
from drawn_cases import Case
from relations import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relations import Relation

SEED = 1
REQUESTS = 2000
LIGHT = ("intel-900p", "intel-p5800x", "samsung-pm9a3")
"""Drives of which a run takes a fraction of a second."""


def dozen() -> Iterator[tuple[Case, Relation]]:
    """Draw a dozen relations, each with a case that it applies to; small I/Os, as they cost least."""
    cases = [
        replace(case, drive=LIGHT[at % 3], bs="4k", depth=min(case.depth, 8), clones=1, gen=3, width=2)
        for at, case in enumerate(drawn_cases.drawn(SEED, 40, REQUESTS))
    ]
    chance = random.Random(f"a dozen {SEED}")  # noqa: S311
    for relation in chance.sample(RELATIONS, 12):
        yield next(case for case in cases if relation.applies(case)), relation


@pytest.mark.parametrize(
    ("case", "relation"), list(dozen()), ids=lambda one: getattr(one, "name", None) or one.drive
)
def test_a_drawn_relation_holds(case: Case, relation: Relation) -> None:
    wrong = {
        name: fault
        for name, fault in relations.examined(case, [relation])
        if fault not in ("", relations.OPEN)
    }
    assert not wrong, case


CASE = Case("intel-p5800x", "randread", 100, "4k", 2, 1, "spdk", requests=REQUESTS)


def test_what_does_not_hold_is_seen() -> None:
    narrow, deep = replace(CASE, bs="128k", width=1), replace(CASE, depth=8)
    assert relations.not_lower(relations.ran(deep), relations.ran(CASE)).startswith("IOPS ")
    assert relations.not_higher(relations.ran(CASE), relations.ran(deep)).startswith("IOPS ")
    assert "latency" in relations.alike(relations.ran(CASE), relations.ran(deep))
    assert relations.later(relations.ran(narrow), relations.ran(CASE)).startswith("latency ")
    assert relations.doubled(relations.ran(CASE), relations.ran(CASE))
    assert relations.passes(10, 4)(relations.ran(CASE), relations.ran(CASE)).endswith(": 0.0 ns for 40")


def test_every_relation_applies_to_something_drawn() -> None:
    cases = list(drawn_cases.drawn(SEED, 100, REQUESTS))
    assert not [one.name for one in RELATIONS if not any(one.applies(case) for case in cases)]
    assert list(drawn_cases.drawn(SEED, 100, REQUESTS)) == cases
