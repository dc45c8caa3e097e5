"""What a sweep of the demo machine costs beside its simulations alone, in CPU time of one thread.

    .venv/bin/python tests/python/sweep_cost.py 125

Every point has six cases. The number is that of the depths; there are four widths and four lengths of runs
for each.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from time import process_time

from lanetwin import _core
from lanetwin.report import sweep as report
from lanetwin.sweep import Asked, files, sweep
from lanetwin.sweep.analysis import analyse
from lanetwin.sweep.cache import Cache
from lanetwin.sweep.executors import Threads

DEMO = """about: What does the card of the demo get?
machine:
  host: {part: bdw-xeon-e5-2630v4-dell-t430}
  card: {part: nfp-6000}
links:
  slot: {from: host, to: card, gen: 3, width: x8}
workloads:
  read:
    dma: {size: [64B, 128B, 256B, 512B, 1KiB, 2KiB], window: 8KiB, outstanding: 8, transfers: 4000}
    on: card
    target: host
run: {repeats: 1, seed: 1}
"""


def asked(depths: int) -> Asked:
    """Return a sweep of sixteen points for each depth, of the scenario in this folder."""
    Path("demo.yaml").write_text(DEMO, encoding="utf-8")
    return Asked(
        "demo.yaml",
        vary=(
            f"workloads.read.dma.outstanding=1..{depths}+1",
            "links.slot.width=x1,x2,x4,x8",
            "workloads.read.dma.transfers=1000,2000,3000,4000",
        ),
    )


def alone_s(of: Asked) -> tuple[int, float]:
    """Simulate every point as a run of its own; return how many, and the CPU time [s]."""
    points = of.design()
    begin = process_time()
    for point in range(len(points)):
        _core.run(of.path, json.dumps({"sets": points.sets(point), "threads": 1}), None)
    return len(points), process_time() - begin


def swept_s(of: Asked, folder: Path | None) -> float:
    """Run the sweep on one thread; with a folder, with cache, figures and files. Return the CPU time [s]."""
    begin = process_time()
    with Cache(Path("cache.sqlite3") if folder else None) as kept:
        swept = sweep(of, executor=Threads(1), cache=kept)
        table, percentiles = files.tabulate(swept)
        if folder:
            found = analyse(swept.design, table)
            page = report.render(swept, table, found)
            files.save(swept, folder, page=page, found=found, percentiles=percentiles, formats=[])
    assert swept.simulated == len(swept.design)
    return process_time() - begin


def main() -> None:
    """Measure, and print the figures."""
    depths = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        of = asked(depths)
        points, alone = alone_s(of)
        print(f"{points} points, each a run of its own: {alone:.1f} s of CPU time", flush=True)
        for what, to in (("as a sweep", None), ("with cache, figures and files", Path(folder) / "out")):
            taken = swept_s(of, to)
            print(f"{what}: {taken:.1f} s, {taken / alone - 1:+.1%}", flush=True)


if __name__ == "__main__":
    main()
