"""What the scripts here share: programs that have to be there, servers that end with their script."""

from __future__ import annotations

import mmap
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

SEARCHED = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
"""Where programs are: Debian has servers where only root looks."""
BEGINS_WITHIN = 60.0
"""A server that does not answer by then never will [s]."""
ENDS_WITHIN = 30.0
"""A server that was asked to end is killed after so long [s]."""
PIECE = 256 << 10
"""What is copied at a time [B]."""


def found(name: str, package: str) -> str:
    """Return where a program is, or end and say what has it."""
    path = shutil.which(name, path=SEARCHED)
    if path is None:
        raise SystemExit(f"{name} is not installed (Debian: apt install {package})")
    return path


def is_listened_to(place: Path) -> bool:
    """Whether somebody accepts connections at a Unix socket."""
    with socket.socket(socket.AF_UNIX) as asking, suppress(OSError):
        asking.connect(str(place))
        return True
    return False


@contextmanager
def server(
    words: Sequence[str],
    is_ready: Callable[[], bool],
    log: Path,
    *,
    executable: str | None = None,
    is_killed: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server while the block runs; then it is asked to end and waited for, or killed."""
    with log.open("wb") as said:
        process = subprocess.Popen(  # noqa: S603 - our own words
            words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, executable=executable
        )
    try:
        until = time.monotonic() + BEGINS_WITHIN
        while not is_ready():
            if process.poll() is not None or time.monotonic() > until:
                sys.stderr.write(log.read_text(errors="replace")[-4000:])
                raise SystemExit(f"{words[0]} has not begun to answer")
            time.sleep(0.02)
        yield process
    finally:
        if is_killed:
            process.kill()
        else:
            process.terminate()
        try:
            process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ran(*words: str) -> str:
    """Run a program to its end; what it wrote."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-4000:])
        raise SystemExit(f"{words[0]} ended with status {done.returncode}")
    return done.stdout


def copied(template: Path, to: Path) -> None:
    """Copy a folder to a drive, one piece after the other and past the page cache.

    A flood of everything at once would be answered late, and count in what is told of the door.
    """
    shutil.copytree(template, to, copy_function=_copied_file)
    ran("sync", "--file-system", str(to))


def _copied_file(source: str, to: str) -> None:
    """Copy a file with direct I/O, whose buffer and sizes are those of pages."""
    buffer = mmap.mmap(-1, PIECE)
    file = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
    with open(source, "rb", buffering=0) as reading, memoryview(buffer) as pages:
        while taken := reading.readinto(buffer):
            os.write(file, pages[: -(-taken // mmap.PAGESIZE) * mmap.PAGESIZE])
        os.ftruncate(file, reading.tell())
    os.close(file)
    buffer.close()
