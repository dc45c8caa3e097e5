"""The file or block device that is read: its kind, its size, and whether reads of it are valid.

It is opened for reading only, here as by fio (`--readonly`).
"""

from __future__ import annotations

import os
import random
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.measure.problem import refuse

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = 256
"""Number of places of a target that are checked. Assumed: detects 92 % of the targets that are 1 % empty."""
SAMPLE_BYTES = 4096
MOST_EMPTY = 0.01
"""Share of zeroes above which blocks are deallocated or were never written. Assumed."""
_SPECIAL = frozenset(":\\\n\r\t ,;#=[]")
"""Characters with a meaning for fio in the name of a file, or that end it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of reads."""

    variant: str
    path: Path
    size: int
    """Its size in bytes."""
    is_device: bool

    @property
    def path_for_fio(self) -> str:
        """The path as written in a job file."""
        return "".join("\\" + sign if sign in ":\\" else sign for sign in str(self.path))

    def invalid(self, start: int, end: int) -> str:
        """Return why a test of reads from `start` to `end` is not valid; empty if it is."""
        share = empty(self.path, start, end)
        if share <= MOST_EMPTY:
            return ""
        return f"{share * 100:.0f} % of what is read of {self.path} is empty: {EMPTY}"


EMPTY = "blocks that were never written, or were deallocated, are answered without being read"


def opened(variant: str, path: Path) -> Target:
    """Examine a target. Raises `LanetwinError` (MR002) if it cannot be read."""
    real = path.resolve()
    if any(sign in _SPECIAL - {":", "\\"} for sign in str(real)):
        refuse("MR002", f"fio cannot be given the name {str(real)!r}", "name it by a path without such signs")
    try:
        mode = real.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISBLK(mode)):
            refuse(
                "MR002", f"{path} is neither a file nor a block device", "name a file, or a device in /dev"
            )
        handle = os.open(real, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        refuse(
            "MR002", f"{path} cannot be read: {error.strerror}", "name a file or a device that you may read"
        )
    try:
        size = os.lseek(handle, 0, os.SEEK_END)
        if size < SAMPLE_BYTES:
            refuse("MR002", f"{path} holds {size} B: there is nothing to read", "name a larger one")
        return Target(variant, real, size, stat.S_ISBLK(mode))
    finally:
        os.close(handle)


def empty(path: Path, start: int, end: int) -> float:
    """Return the share of checked places between two offsets that contain only zeroes."""
    places = random.Random(1)  # noqa: S311 - no secret
    first, blocks = start // SAMPLE_BYTES, max((end - start) // SAMPLE_BYTES, 1)
    nothing = bytes(SAMPLE_BYTES)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = [
            os.pread(handle, SAMPLE_BYTES, (first + place) * SAMPLE_BYTES) == nothing
            for place in places.sample(range(blocks), min(SAMPLES, blocks))
        ]
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)
    return sum(found) / len(found)
