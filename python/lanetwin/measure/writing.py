"""Permission to write to a target that is empty, not in use, and named by its owner.

A drive is named by its serial number, a file by its path. This module does not write, and no part of lanetwin
formats or sanitizes a real drive.
"""

from __future__ import annotations

import contextlib
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lanetwin.measure.disk import disk as look_at
from lanetwin.measure.problem import refuse
from lanetwin.measure.signatures import signatures, told_by_wipefs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lanetwin.measure.disk import Disk
    from lanetwin.measure.target import Target

PROC, SYS = Path("/proc"), Path("/sys")


@dataclass(frozen=True, slots=True)
class Owned:
    """A target that may be written to."""

    target: Target
    serial: str
    """The name given by its owner: the serial number of a drive, the path of a file."""
    model: str


@contextmanager
def permitted(targets: Sequence[Target], named: Sequence[str]) -> Iterator[list[Owned]]:
    """Open all targets exclusively until the end of the block.

    Each is opened with `O_EXCL`, so that nothing in the kernel can claim it meanwhile, and is then checked
    again. Raises `LanetwinError`: MR005 if it has contents or is in use, MR006 if `named` does not contain
    its name.
    """
    with contextlib.ExitStack() as held:
        yield [_one(target, named, held) for target in targets]


def _one(target: Target, named: Sequence[str], held: contextlib.ExitStack) -> Owned:
    path = str(target.path)
    _refuse_what_is_used(target)
    try:
        handle = os.open(target.path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        refuse("MR005", f"{path} cannot be had alone: {error.strerror}", HELP_USED, file=path)
    held.callback(os.close, handle)
    mode = os.fstat(handle)
    if target.is_device != stat.S_ISBLK(mode.st_mode):
        refuse("MR005", f"{path} is not what it was", HELP_USED, file=path)
    disk = _disk_of(mode.st_rdev) if target.is_device else None
    # second check: finds changes since the first one; none are possible from here on
    _refuse_what_is_used(target)
    serial = (disk["serial"] if disk else path) or ""
    if not serial:
        refuse("MR006", f"{path} has no serial number to name it by", HELP_NO_SERIAL, file=path)
    if serial not in named:
        what = "serial number" if target.is_device else "path"
        said = f"its {what} is `{serial}`" + (f", and not {', '.join(named)}" if named else "")
        refuse("MR006", f"nobody has said that what is on {path} may be lost: {said}", HELP_NAME, file=path)
    return Owned(target, serial, disk["model"] if disk else "a file")


def _refuse_what_is_used(target: Target) -> None:
    """Raise `LanetwinError` (MR005) with every reason against writing to a target, if there is one."""
    handle = os.open(target.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = os.fstat(handle)
        reasons = _of_device(_disk_of(mode.st_rdev)) if target.is_device else _of_file(target.path, mode)
        there = signatures(handle, target.size) or told_by_wipefs(target.path)
        reasons += [f"it holds {what}" for what in there]
    finally:
        os.close(handle)
    if reasons:
        path = str(target.path)
        refuse("MR005", f"{path} is not written to: {'; '.join(reasons)}", HELP_USED, file=path)


HELP_USED = (
    "take a drive that holds nothing and that nobody uses; what is on it is yours to remove (`wipefs`)"
)
HELP_NO_SERIAL = "take a whole drive that tells its serial number"
HELP_NAME = "if it may be, say so: `--destroy` with this serial number (or path)"


def _disk_of(number: int) -> Disk | None:
    """Return the kernel's entry for the block device with a number."""
    name = (SYS / f"dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
    return look_at(name)


def _of_device(disk: Disk | None) -> list[str]:
    """Return every reason against writing to a device."""
    if disk is None:
        return ["the kernel tells nothing of it"]
    reasons = [f"{disk['made_of']}: name the whole drive"] if disk["made_of"] else []
    reasons += ["it is read-only"] if disk["read_only"] else []
    for store in disk["stores"]:
        reasons += [f"the root file system is on {store['name']}"] if store["root"] else []
        users = (by for by in store["users"] if by != f"open in process {os.getpid()}")
        reasons += [f"{store['name']} is in use: {by}" for by in users]
    parts = [store["name"] for store in disk["stores"][1:]]
    return reasons + ([f"it has partitions: {', '.join(parts)}"] if parts else [])


def _of_file(path: Path, mode: os.stat_result) -> list[str]:
    """Return every reason against writing to a file."""
    reasons = ["it is no plain file"] if not stat.S_ISREG(mode.st_mode) else []
    reasons += [f"it has {mode.st_nlink} names"] if mode.st_nlink > 1 else []
    reasons += ["it can be executed"] if mode.st_mode & 0o111 else []
    swaps = _text(PROC / "swaps").splitlines()[1:]
    reasons += ["swap"] if any(line.split(" ")[0] == str(path) for line in swaps) else []
    loops = (_text(file) for file in SYS.glob("block/loop*/loop/backing_file"))
    reasons += ["a loop device is made of it"] if str(path) in loops else []
    reasons += [f"it is open in process {number}" for number in _openers(mode)]
    return reasons


def _openers(mode: os.stat_result) -> list[str]:
    """Return the other processes that have a file open, as far as they are visible."""
    found = set()
    for folder in PROC.glob("[0-9]*/fd"):
        number = folder.parent.name
        if number == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            for link in os.scandir(folder):
                with contextlib.suppress(OSError):
                    there = link.stat()
                    if (there.st_dev, there.st_ino) == (mode.st_dev, mode.st_ino):
                        found.add(number)
    return sorted(found, key=int)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
