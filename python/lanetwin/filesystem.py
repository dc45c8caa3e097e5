"""A file system on a drive served as a file: loop device, mkfs.ext4, mount; removed with its process.

Only root can do that. Mount and loop device are removed when the block ends; if this process is killed, by a
separate shell that waits for its end.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn, Self

from lanetwin.errors import Diagnostic, LanetwinError

TOOLS = ("losetup", "mkfs.ext4", "mount", "umount")
"""The required tools."""
DEVICES = ("/dev/fuse", "/dev/loop-control")
"""The devices for FUSE and for loop devices."""
CAP_SYS_ADMIN = 21
"""The bit of the right to mount (capabilities(7))."""
MAKE = ("-q", "-F", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1")
"""Options for a new drive that reads as zeroes: nothing has to be zeroed."""
MOUNT = ("-t", "ext4", "-o", "noinit_itable,nodev,nosuid")
"""Nor later, in the background, where it would disturb the program."""
SEARCHED = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
"""Folders of the tools, since not every PATH has those of root."""
KEEPER = """read -r _ && exit
umount -l -- "$1"
[ "$(cat "/sys/block/${2#/dev/}/loop/backing_file")" = "$3" ] && losetup -d "$2"
"""
LONG = 600.0
"""Timeout of a tool [s]."""


def refuse(message: str, help_: str) -> NoReturn:
    """Raise the error of an impossible file system.

    Raises `LanetwinError`, always.
    """
    raise LanetwinError("", [Diagnostic("EX003", "error", message, help_, "", 0, 0, "")])


def why_not() -> str | None:
    """Return why a file system is not possible here; None if it is."""
    if os.geteuid() != 0:
        return "only root can attach a loop device and mount it"
    missing = [tool for tool in TOOLS if shutil.which(tool, path=SEARCHED) is None]
    if missing:
        return f"{', '.join(missing)} not found"
    absent = [path for path in DEVICES if not Path(path).exists()]
    if absent:
        return f"there is no {' and no '.join(absent)}"
    return _forbidden()


def _forbidden() -> str | None:
    """Return what root is not permitted to do here, as in a container; None if nothing."""
    for path in DEVICES:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        except OSError as error:
            return f"{path}: {error.strerror}"
    rights = re.search(r"^CapEff:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text("ascii"), re.MULTILINE)
    may_mount = rights is not None and int(rights[1], 16) >> CAP_SYS_ADMIN & 1
    return None if may_mount else "root may not mount here (CAP_SYS_ADMIN)"


def insist() -> None:
    """Raise `LanetwinError`, EX003, if a file system is not possible here."""
    why = why_not()
    if why:
        refuse(f"there can be no file system: {why}", "run it as root on a Linux host with FUSE")


def mounts_below(folder: Path) -> list[Path]:
    """Return the mount points in a folder or below it, the innermost first."""
    table = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    unescaped = (re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), line) for line in table.splitlines())
    found = [Path(line.split(" ")[1]) for line in unescaped]
    return sorted({place for place in found if place.is_relative_to(folder)}, reverse=True)


def removed(folder: Path) -> bool:
    """Remove a folder and the mounts in it, but not the contents of the mounted file systems."""
    folder = folder.resolve()
    for place in mounts_below(folder):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603 - our own words
                [_tool("umount"), "-l", "--", str(place)], check=False, capture_output=True, timeout=LONG
            )
    if mounts_below(folder):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


class Ext4:
    """An ext4 on the file of a drive, while the block runs: a new one, or the existing one."""

    def __init__(self, file: Path, folder: Path, *, is_new: bool = True) -> None:
        self._file = file
        self._is_new = is_new
        self.folder = folder
        """The mount point, an empty folder."""
        self.loop = ""
        """The loop device, once there is one."""
        self._keeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.loop = _ran(
            "losetup", "--find", "--show", "--direct-io=on", "--sector-size=4096", str(self._file)
        ).strip()
        try:
            self._keeper = self._kept()
            self._insist_on_ours()
            if self._is_new:
                _ran("mkfs.ext4", *MAKE, self.loop)
            _ran("mount", *MOUNT, self.loop, str(self.folder))
            # from now on it detaches itself after its last use
            _ran("losetup", "--detach", self.loop)
        except BaseException:
            self._undone()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._undone()

    def _backing(self) -> str:
        return (
            Path("/sys/block", Path(self.loop).name, "loop/backing_file").read_text(encoding="utf-8").strip()
        )

    def _insist_on_ours(self) -> None:
        """Raise `LanetwinError` unless the device is a drive of lanetwin: no other is ever formatted."""
        if not re.fullmatch(r"/dev/loop\d+", self.loop) or self._backing() != str(self._file):
            refuse(f"{self.loop} is not the drive that is served", "try again")

    def _kept(self) -> subprocess.Popen[bytes]:
        words = ["/bin/sh", "-c", KEEPER, "sh", str(self.folder), self.loop, str(self._file)]
        return subprocess.Popen(  # noqa: S603 - our own words
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=os.environ | {"PATH": SEARCHED},
            start_new_session=True,
        )

    def _undone(self) -> None:
        """Unmount it, at the latest when it is no longer in use, and detach the device."""
        for how in ([], ["-l"]):
            if self.folder not in mounts_below(self.folder):
                break
            with contextlib.suppress(LanetwinError):
                _ran("umount", *how, "--", str(self.folder))
        with contextlib.suppress(OSError, LanetwinError):
            if self._backing() == str(self._file):
                _ran("losetup", "--detach", self.loop)
        if self._keeper and self._keeper.stdin:
            with contextlib.suppress(OSError):
                self._keeper.stdin.write(b"\n")
                self._keeper.stdin.close()
            self._keeper.wait()


def _tool(name: str) -> str:
    return shutil.which(name, path=SEARCHED) or name


def _ran(name: str, *words: str) -> str:
    """Run a tool; return its output.

    Raises `LanetwinError` if it fails.
    """
    ran = subprocess.run(  # noqa: S603 - our own words
        [_tool(name), *words],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if ran.returncode != 0:
        refuse(f"{name} failed: {ran.stderr.strip()}", "look at what the kernel says of it (dmesg)")
    return ran.stdout
