"""Is the first answer right? Drawn fio jobs of default length, each beside a run ten times as long.

    make first-answer OPTIONS="--seed 1 --jobs 120"

A drive, its state, the mix, block size, depth, clones and engine are drawn; everything else is as a
user finds it. `--of networks` draws storage networks instead, `--of memory` loads of memory. The first
answer is right if rates and mean latencies are within 3 % or three combined standard errors, and 99th
percentiles within 10 %, of the long run; or if it says NOT STEADY. A 99th percentile that is told as
NOT SETTLED may be off, and nothing else of that job. A job is marked if anything of it is. The mark is
confirmed if the long run is otherwise, or not steady itself; that of a percentile, too, if by the
interval that the long run has of it, which is its own, as few I/Os as the first answer had leave it
open by more than 10 % to a side.

A long run is one draw of the drive, and a rare tail differs from one draw to the next by 10 % (7 ms to 9 ms
of one job), which the first answer, a mean of five draws or more, does not. So where its 99th percentile is
between half and twice as far off as it may be, three runs as long, of other draws, are pooled, and they judge
all the 99th percentiles of the job in the place of that one. It goes both ways: such a run may find a miss
that the first long run did not see.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import first_answer_jobs
from first_answer_jobs import CLONES as FEW_CLONES
from first_answer_jobs import DEPTHS, MIXES, SIZES, Elsewhere
from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lanetwin.results import Row

DRIVES = {
    "generic-tlc-gen4": "generic-host-gen4",
    "generic-tlc-gen5": "generic-host-gen5",
    "samsung-pm9a3": "generic-host-gen4",
    "samsung-pm1743": "generic-host-gen5",
    "phison-e16": "generic-host-gen4",
    "intel-900p": "generic-host-gen3",
    "intel-p5800x": "generic-host-gen4",
}
"""The drives, each with a host."""

STATES = ("as shipped", "as shipped", "sequential")
CLONES = (*FEW_CLONES, 8)
ENGINES = ("libaio", "io_uring", "spdk")
CROSS_POINT = ("intel-900p", "intel-p5800x")
"""Drives whose medium has no blocks to be written before."""

TIMES = 10
"""How many times as long the long run is."""
LINES = 100_000
"""Lines of a run that tells how many of them a second is."""
CLOSE = 0.03
"""How far rates and means may be off, if three standard errors are less."""
CLOSE_P99 = 0.10
"""How far 99th percentiles may be off."""
NEAR = 2.0
"""Who is this many times nearer to that, or farther from it, at most, is judged by more draws, ..."""
DRAWS = 3
"""... so many."""
STUDENT = {2: 12.706, 3: 4.303, 5: 2.776, 10: 2.262, 20: 2.093}
"""Student's t for 95 %, by the number of samples: intervals in standard errors."""
TOLD = ", NOT SETTLED"
"""What is said of a percentile that is off and told as unsure."""
MOST_MISSES = 0.01
MOST_MARKS = 0.10
LEAST_CONFIRMED = 0.90


@dataclass(frozen=True)
class Job:
    """A job."""

    drive: str
    state: str
    rw: str
    rwmixread: int
    bs: str
    iodepth: int
    numjobs: int
    ioengine: str

    def scenario(self, run: str, requests: int | None = None) -> str:
        """Write it as a scenario, of default length or of that many I/Os."""
        initial = "" if self.state == "as shipped" else f", ftl.initial: {self.state}"
        told = {
            "rw": self.rw,
            "rwmixread": self.rwmixread,
            "bs": self.bs,
            "iodepth": self.iodepth,
            "numjobs": self.numjobs,
            "ioengine": self.ioengine,
            "group_reporting": 1,
        } | ({"requests": requests} if requests else {})
        options = ", ".join(f"{key}: {value}" for key, value in told.items())
        return (
            f"about: Is the first answer right?\n"
            f"machine:\n  host: {{part: {DRIVES[self.drive]}}}\n  ssd: {{part: {self.drive}{initial}}}\n"
            f"links:\n  bay: {{from: host, to: ssd}}\n"
            f"workloads:\n  job: {{fio: {{{options}}}, on: host, target: ssd}}\n"
            f"run: {run}\n"
        )

    def told(self) -> dict[str, Any]:
        """Tell what was drawn."""
        return asdict(self)


@dataclass
class Found:
    """What a job has shown."""

    job: Job | Elsewhere
    marked: str
    """Why it was not steady; empty if it was."""
    long_marked: str
    off: list[str] = field(default_factory=list)
    """What was off by more than it may be."""
    unsettled: list[str] = field(default_factory=list)
    """Latencies whose 99th percentiles are told as not settled."""
    doubtful: list[str] = field(default_factory=list)
    """Those of which the long run says the same."""
    before: list[str] = field(default_factory=list)
    """99th percentiles that one long run left near the bar: what it had, if more draws have judged."""

    @property
    def is_miss(self) -> bool:
        """Whether it is wrong and does not say so."""
        return not self.marked and any(TOLD not in text for text in self.off)

    @property
    def is_marked(self) -> bool:
        """Whether it says that something of it is unsure."""
        return bool(self.marked or self.unsettled)

    @property
    def is_confirmed(self) -> bool:
        """Whether it says so rightly."""
        steady = bool(self.marked) and bool(self.off or self.long_marked)
        tails = bool(self.doubtful or self.long_marked) or any(TOLD in text for text in self.off)
        return steady or (bool(self.unsettled) and tails)


def drawn(seed: int, count: int) -> Iterator[Job]:
    """Draw so many jobs."""
    chance = random.Random(f"first answer {seed}")  # noqa: S311
    for _ in range(count):
        drive, state = chance.choice(list(DRIVES)), chance.choice(STATES)
        (rw, mix), bs = chance.choice(MIXES), chance.choice(SIZES)
        depth, clones, how = chance.choice(DEPTHS), chance.choice(CLONES), chance.choice(ENGINES)
        state = "as shipped" if drive in CROSS_POINT else state
        yield Job(drive, state, rw, mix, bs, depth, clones, how)


KINDS: dict[str, Callable[[int, int], Iterator[Job | Elsewhere]]] = {
    "drives": drawn,
    "networks": first_answer_jobs.on_networks,
    "memory": first_answer_jobs.of_memory,
}
"""What jobs are drawn of."""


def rows(scenario: str) -> list[Row]:
    """Run a scenario; the rows of the job as a whole that are judged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first-answer.yaml"
        path.write_text(scenario)
        results = engine.run(str(path))
    whole = [row for row in results["rows"] if row.get("device") is None]
    has_iops = any(row["metric"].endswith("IOPS") for row in whole)
    judged = ("IOPS" if has_iops else "throughput", "latency")
    return [row for row in whole if row["metric"].endswith(judged)]


def long_length(job: Job | Elsewhere, first: Row, seed: int) -> int:
    """Return the length of a long run, by a row of the first answer."""
    if not isinstance(job, Elsewhere) or job.length != "lines":
        return first["operations"] // first["n"] * TIMES
    # a row counts what memory moves, and a length what is loaded: a run tells how much that is in a second
    short = rows(job.scenario(f"{{seed: {seed}, repeats: 1}}", LINES))[0]
    return round(LINES * TIMES * first["seconds"] / short["seconds"])


def standard_error(row: Row) -> float:
    """Return the standard error behind the interval of a row."""
    low, high = row.get("low"), row.get("high")
    if low is None or high is None:
        return 0.0
    return (high - low) / 2 / STUDENT[row["n"] if row["n"] > 1 else 10]


def off(first: Row, long: Row) -> Iterator[str]:
    """Tell what is off by more than it may be, but for percentiles."""
    a, b = first["value"], long["value"]
    errors = 3 * (standard_error(first) ** 2 + standard_error(long) ** 2) ** 0.5
    if abs(a - b) > max(CLOSE * b, errors):
        yield f"{first['metric']} {a:.6g} for {b:.6g} ({a / b - 1:+.1%})"


def off_in_tail(first: Row, long: Row) -> Iterator[str]:
    """Tell the 99th percentile if it is off by more than it may be."""
    tail, long_tail = (tail_of(row) for row in (first, long))
    if long_tail and abs(tail - long_tail) > CLOSE_P99 * long_tail:
        said = TOLD if is_unsettled(first) else ""
        yield f"{first['metric']} p99 {tail:.6g} for {long_tail:.6g} ({tail / long_tail - 1:+.1%}{said})"


def is_near(first: Row, long: Row) -> bool:
    """Whether its 99th percentile is so near to what it may be off that one draw does not say."""
    tail, long_tail = (tail_of(row) for row in (first, long))
    return bool(long_tail) and CLOSE_P99 / NEAR <= abs(tail / long_tail - 1) <= CLOSE_P99 * NEAR


def tail_of(row: Row) -> float:
    """Return the 99th percentile of a row; 0 if it has none."""
    return dict(row.get("percentiles", [])).get(99.0, 0.0)


def is_unsettled(row: Row) -> bool:
    """Whether it is told as not settled."""
    return 99.0 in row.get("unsettled", [])


def is_doubtful(first: Row, long: Row) -> bool:
    """Whether by the long run's own interval so few I/Os as the first answer had do not settle it."""
    ends = {percent: (low, high) for percent, low, high in long.get("percentile_intervals", [])}.get(99.0)
    if ends is None:
        return True
    tail = tail_of(long)
    side = max(ends[1] - tail, tail - ends[0])
    return bool(side * (long["operations"] / first["operations"]) ** 0.5 > CLOSE_P99 * tail)


def unsteady(rows: list[Row]) -> str:
    """Say what was not steady; nothing if all was."""
    found = [steady for row in rows if (steady := row.get("steady"))]
    return next((one.get("of", "") for one in found if one["condition"] == "not-steady"), "")


def examine(job: Job | Elsewhere, seed: int) -> Found:
    """Run a job of default length, and ten times as long with other random numbers."""
    first = rows(job.scenario(f"{{seed: {seed}}}"))
    length = long_length(job, first[0], seed)

    def run(seed: int, repeats: int) -> dict[str, Row]:
        told = rows(job.scenario(f"{{seed: {seed}, repeats: {repeats}}}", length))
        return {row["metric"]: row for row in told}

    long = run(seed + 1000, 1)
    near = [row for row in first if is_near(row, long[row["metric"]])]
    tails = run(seed + 2000, DRAWS) if near else long
    faults = [text for row in first for text in off(row, long[row["metric"]])]
    faults += [text for row in first for text in off_in_tail(row, tails[row["metric"]])]
    unsettled = [row for row in first if is_unsettled(row)]
    doubtful = [row["metric"] for row in unsettled if is_doubtful(row, tails[row["metric"]])]
    names = [row["metric"] for row in unsettled]
    before = [
        f"{row['metric']} p99 {tail_of(row):.6g}: {tail_of(long[row['metric']]):.6g} in one long run, "
        f"{tail_of(tails[row['metric']]):.6g} in {DRAWS} others"
        for row in near
    ]
    return Found(job, unsteady(first), unsteady(list(long.values())), faults, names, doubtful, before)


def main() -> int:
    """Examine jobs, and say whether the bars are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--of", choices=list(KINDS), default="drives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=120)
    parser.add_argument("--start", type=int, default=0, help="leave out so many of them")
    options = parser.parse_args()
    found: list[Found] = []
    for job in list(KINDS[options.of](options.seed, options.jobs))[options.start :]:
        one = examine(job, options.seed)
        found.append(one)
        word = "MISS" if one.is_miss else "marked" if one.is_marked else "right"
        said = [*one.off, *([f"NOT STEADY: {one.marked}"] if one.marked else [])]
        said += [f"NOT SETTLED: {', '.join(one.unsettled)}"] if one.unsettled else []
        if one.is_marked:
            said.append("confirmed" if one.is_confirmed else "NOT confirmed")
        said += one.before
        told = "; ".join(said)
        sys.stdout.write(f"{word:7} {json.dumps(job.told())} {told}\n")
        sys.stdout.flush()
    misses, marks = sum(one.is_miss for one in found), [one for one in found if one.is_marked]
    confirmed = sum(one.is_confirmed for one in marks)
    in_tails = sum(one.is_miss and all(" p99 " in text for text in one.off) for one in found)
    unsteady_ones = sum(bool(one.marked) for one in found)
    sys.stdout.write(
        f"{len(found)} jobs: {misses} wrong and not marked, {in_tails} of them in tails alone; "
        f"{len(marks)} marked, {unsteady_ones} as not steady, {confirmed} rightly\n"
    )
    met = misses <= MOST_MISSES * len(found) and len(marks) <= MOST_MARKS * len(found)
    return 0 if met and confirmed >= LEAST_CONFIRMED * len(marks) else 3


if __name__ == "__main__":
    sys.exit(main())
