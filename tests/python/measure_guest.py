"""The NVMe drive of a guest of QEMU, measured there with docs/measure/disk.yaml: `make demo-measure-guest`.

    .venv/bin/python tests/python/measure_guest.py FOLDER

The results are in FOLDER/measured.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

from guest import OUT, booted, python_and_lanetwin, require_guest
from test_measure_live import hardware

SCENARIO = Path(__file__).parents[2] / "docs" / "measure" / "disk.yaml"
SIZE = 256 << 20
LONG_S = 3600.0


def measured(folder: Path, to: Path, options: str) -> None:
    """Boot a guest with one drive, measure it there, and put the results into a folder."""
    tools = require_guest("fio")
    (folder / "drive").write_bytes(os.urandom(SIZE))
    python, files = python_and_lanetwin()
    files |= {"/disk.yaml": SCENARIO}
    script = f"stty -F {OUT} raw\nmkdir /out /tmp\n"
    script += f"env {python} -m lanetwin measure /disk.yaml --on /dev/nvme0n1 --out /out/measured {options}\n"
    script += f"tar c -C /out . > {OUT}\n"
    with booted(folder, tools, script, hardware(folder, ("drive",)), files) as guest:
        if guest.said("ENDED", LONG_S) != "0":
            sys.exit(guest.tail())
    with tarfile.open(folder / "out") as tar:
        tar.extractall(to, filter="data")


def main() -> None:
    """Measure, or say which tool is missing."""
    os.environ["PATH"] += ":/sbin:/usr/sbin"
    to = Path(sys.argv[1])
    seconds = os.environ.get("SECONDS_EACH", "2")
    with tempfile.TemporaryDirectory(prefix="lanetwin-") as folder:
        try:
            measured(Path(folder), to, f"--seconds {seconds} --ramp 0.5 --repeats 4 --quiet")
        except pytest.skip.Exception as why:
            sys.exit(f"demo-measure-guest: {why}")


if __name__ == "__main__":
    main()
