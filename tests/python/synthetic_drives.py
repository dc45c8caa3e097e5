"""Drives whose truth is known, drawn at random: what a calibration from eight cases says of twenty others.

    .venv/bin/python tests/python/synthetic_drives.py 50

The part that a calibration begins with is the same for all of them. The truth is simulated with another seed,
and every number of it has noise of one per cent.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from lanetwin import engine
from lanetwin.calibration import Asked, Outcome, calibrate
from lanetwin.calibration.outcome import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.calibration.outcome import Line
    from lanetwin.results import Results

JOBS = (
    [("randread", size, depth) for size in ("4k", "16k", "128k") for depth in (1, 8, 64)]
    + [("randread", "64k", depth) for depth in (8, 64)]
    + [("read", size, depth) for size in ("4k", "128k") for depth in (1, 8, 64)]
    + [("randwrite", size, depth) for size in ("4k", "16k") for depth in (1, 8, 64)]
    + [("write", "128k", depth) for depth in (1, 8)]
    + [("randread", "32k", depth) for depth in (1, 8, 64)]
)
CALIBRATING = 8
NOISE = 0.01
REACH = 2.5
"""Each parameter of a drive is drawn between its start by this and its start times this."""
TIMES_US = {
    "firmware.read": 5.0,
    "firmware.write": 5.0,
    "firmware.read-latency": 8.0,
    "firmware.write-latency": 4.0,
    "nand.read": 45.0,
    "nand.read-step": 6.0,
    "nand.program": 1000.0,
    "nand.erase": 4000.0,
    "buffer.latency": 1.0,
}
"""What the part says that every calibration begins with."""
COUNTS = {
    "firmware.engines": "8",
    "nand.channels": "8",
    "nand.chips": "4",
    "nand.blocks": "24",
    "nand.pages": "768",
    "capacity": "12GiB",
    "buffer": "256KiB",
    "port.gen": "4",
    "port.width": "4",
}
"""What a data sheet tells, the same of all drives."""


def scenario(folder: Path, requests: int) -> Path:
    """Write the part and the scenario."""
    numbers = [
        f"  {name}: {{value: {value}us, kind: assumed, source: a guess}}" for name, value in TIMES_US.items()
    ]
    numbers += [
        f"  {name}: {{value: {value}, kind: datasheet, source: a sheet}}" for name, value in COUNTS.items()
    ]
    head = "name: drive\nabout: A drive.\nmodel: nvme-ssd\ngrade: datasheet-only\nparameters:\n"
    (folder / "parts").mkdir()
    (folder / "parts" / "drive.yaml").write_text(head + "\n".join(numbers) + "\n")
    workloads = [
        f"  {rw}-{size}-{depth}: {{on: host, target: ssd, fio: "
        f"{{rw: {rw}, bs: {size}, iodepth: {depth}, size: 2g, requests: {requests}}}}}"
        for rw, size, depth in JOBS
    ]
    file = folder / "drive.yaml"
    file.write_text(
        "about: Is the drive that was measured known?\n"
        "machine:\n  host: {part: generic-host-gen4}\n  ssd: {part: drive, ftl.initial: sequential}\n"
        "links:\n  bay: {from: host, to: ssd}\nworkloads:\n"
        + "\n".join(workloads)
        + "\nrun: {repeats: 1, seed: 1}\n"
    )
    return file


def truth_us(drive: int) -> dict[str, float]:
    """Return the parameters of a drive."""
    chance = random.Random(drive)  # noqa: S311 - no secret
    return {
        name: value * math.exp(chance.uniform(-1, 1) * math.log(REACH)) for name, value in TIMES_US.items()
    }


def measured(file: Path, drive: int) -> Results:
    """Return what is measured of a drive."""
    sets = [f"machine.ssd.{name}={value * 1e3:.0f}ns" for name, value in truth_us(drive).items()]
    truth = engine.run(str(file), sets=sets, seed=1000 + drive)
    chance = random.Random(-drive)  # noqa: S311 - no secret
    for row in truth["rows"]:
        row["value"] *= math.exp(chance.gauss(0, NOISE))
    truth["kind"] = "measured"
    return truth


def outcome(drive: int, folder: Path, requests: int) -> Outcome:
    """Calibrate the part to a drive."""
    file = scenario(folder, requests)
    return calibrate(Asked("drive", file, on=CALIBRATING), measured(file, drive))


def told(lines: Sequence[Line]) -> str:
    """Say how well some rows come out."""
    errors = sorted(abs(line.error) for line in lines)
    if not errors:
        return "none"
    return f"{len(errors):3}: median {median(errors):6.1%}, largest {errors[-1]:6.1%}"


def main() -> None:
    """Calibrate as many drives as the first argument says, from that on which the third one names.

    Tells how each comes out, and all together.
    """
    words = [int(word) for word in sys.argv[1:]]
    number, requests, first = words + [1, 200, 0][len(words) :]
    all_lines: list[Line] = []
    for drive in range(first, first + number):
        with tempfile.TemporaryDirectory() as folder:
            found = outcome(drive, Path(folder), requests)
        all_lines += found.rows
        held, apart = found.of(Role.PREDICTED), found.of(Role.APART)
        print(f"drive {drive}: predicted {told(held)}; apart {told(apart)}; {found.runs} runs", flush=True)
    for role in Role:
        print(f"all {role}: {told([line for line in all_lines if line.role is role])}")


if __name__ == "__main__":
    main()
