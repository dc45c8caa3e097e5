"""A storm of write, truncate, rename, removal and fsync in this folder, whose files are checked."""

from __future__ import annotations

import os
import random
import sys
import zlib
from pathlib import Path

LARGEST = 1 << 20


def written(chance: random.Random, name: str, held: bytearray) -> None:
    """Write somewhere, perhaps beyond the end; sometimes make it sure."""
    at, data = chance.randrange(LARGEST // 2), chance.randbytes(chance.randrange(1, 60_000))
    if len(held) < at:
        held.extend(bytes(at - len(held)))
    held[at : at + len(data)] = data
    with open(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.seek(at)
        file.write(data)
        file.flush()
        if chance.random() < 0.3:
            os.fsync(file.fileno())


def truncated(chance: random.Random, name: str, held: bytearray) -> None:
    """Give it another length."""
    length = chance.randrange(LARGEST)
    del held[length:]
    held.extend(bytes(length - len(held)))
    os.truncate(name, length)


def found(name: str) -> int:
    """Return the checksum of a file as the drive has it: what the kernel has cached of it is forgotten."""
    with Path(name).open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return zlib.crc32(file.read())


def storm(seed: int, steps: int) -> int:
    """Do so many random steps; how many bytes were held at the end."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    files: dict[str, bytearray] = {}
    for _ in range(steps):
        name = f"file{chance.randrange(8)}"
        what = chance.random()
        if what < 0.5 or name not in files:
            written(chance, name, files.setdefault(name, bytearray()))
        elif what < 0.65:
            truncated(chance, name, files[name])
        elif what < 0.8:
            other = f"file{chance.randrange(8)}"
            Path(name).rename(other)
            files[other] = files.pop(name)
        elif what < 0.85:
            Path(name).unlink()
            del files[name]
        elif found(name) != zlib.crc32(files[name]):
            raise SystemExit(f"{name} is not what was written")
    wrong = [name for name, held in files.items() if found(name) != zlib.crc32(held)]
    there = {path.name for path in Path().iterdir()} - {"lost+found"}
    if wrong or there != set(files):
        raise SystemExit(f"not what was written: {wrong}, {there ^ set(files)}")
    return sum(map(len, files.values()))


if __name__ == "__main__":
    print(storm(int(sys.argv[1]), int(sys.argv[2])))
