"""A block device of this machine: the drive, its contents and its users."""

from __future__ import annotations

import json
from typing import TypedDict, cast

from lanetwin import _core


class Store(TypedDict):
    """A block device or a partition, and its users."""

    name: str
    users: list[str]
    root: bool


class Disk(TypedDict):
    """A block device of this machine."""

    name: str
    made_of: str | None
    """The device that contains it, or its components, in words; None for a whole drive."""
    serial: str | None
    model: str
    bytes: int
    read_only: bool
    stores: list[Store]


def disk(name: str) -> Disk | None:
    """Examine a block device by its name (`nvme0n1`); return None if there is none."""
    return cast("Disk | None", json.loads(_core.disk(name)))
