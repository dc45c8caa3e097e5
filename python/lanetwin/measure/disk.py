"""A block device of this machine: which drive it is, what is on it, who uses that."""

from __future__ import annotations

import json
from typing import TypedDict, cast

from lanetwin import _core


class Store(TypedDict):
    """A block device or a partition, and who uses it."""

    name: str
    users: list[str]
    root: bool


class Disk(TypedDict):
    """A block device of this machine."""

    name: str
    made_of: str | None
    """What it is a part of, or made of, in words; None of a whole drive."""
    serial: str | None
    model: str
    bytes: int
    read_only: bool
    stores: list[Store]


def disk(name: str) -> Disk | None:
    """Look at a block device by its name (`nvme0n1`); return None if there is none."""
    return cast("Disk | None", json.loads(_core.disk(name)))
