"""Relations that must hold between runs, whatever the model says: drawn machines and jobs beside themselves.

    make relations OPTIONS="--seed 1 --cases 20"

Nobody has measured most machines, but everybody knows that a wider link makes none slower, that a retimer
makes a read later by as many passes as it makes, that two ways to write down a job are one job. A case is a
shipped drive in a machine and a job; all is drawn from a seed. Of the relations that apply to it a few are
drawn, too: each runs the case, runs what it changes it to, and compares. Rates and means may be off by what
the intervals of both leave open, and by a hundredth; a machine that is in no way worse may be slower by three
hundredths, which the order of events can make: a drive of more dies, behind a link that is full, answers
more of its reads at once, and the link then has nothing to do for 2 % of the time. What is told as NOT STEADY
is compared with nothing but itself.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import first_answer
from drawn_cases import ENGINES, Case, drawn, told
from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lanetwin.results import Results, Row

RETIMERS = {"generic-retimer-gen4": 50, "low-latency-retimer": 10, "spec-limit-retimer": 64}
"""Retimers, each with its latency one way at Gen4 [ns]."""
CLOSE = 0.01
"""How far rates and means may be off beside what their intervals leave open."""
ORDER = 0.03
"""The same of a rate that should not fall, or not rise."""
FETCHES = 0.05
"""How far a job that is split among clones may be off: what lies in one queue is fetched together."""
NOISE = 0.001
"""How much sooner one I/O at a time may be where it should be later: which I/Os are measured is by time."""


@dataclass(frozen=True)
class Known:
    """A value, and how well it is known."""

    name: str
    value: float
    error: float
    """Its standard error."""

    @classmethod
    def of(cls, row: Row) -> Known:
        """Return that of a row, in units without a prefix, or nanoseconds."""
        scale = {"k/s": 1e3, "M/s": 1e6, "GB/s": 1e9, "MB/s": 1e6, "Gb/s": 1e9 / 8}.get(row["unit"], 1.0)
        return cls(row["metric"], row["value"] * scale, first_answer.standard_error(row) * scale)


@dataclass(frozen=True)
class Ran:
    """What a case has come to."""

    results: Results

    def rows(self, metric: str) -> list[Row]:
        """Return the rows of the job as a whole whose metric ends so."""
        rows = self.results["rows"]
        return [row for row in rows if row["metric"].endswith(metric) and row.get("device") is None]

    @property
    def rate(self) -> Known:
        """All I/Os a second."""
        parts = [Known.of(row) for row in self.rows("IOPS")]
        return Known("IOPS", sum(one.value for one in parts), sum(one.error**2 for one in parts) ** 0.5)

    @property
    def latency(self) -> Known:
        """The mean latency of all I/Os [ns]."""
        rates, means = ([Known.of(row) for row in self.rows(metric)] for metric in ("IOPS", "latency"))
        shares = [one.value / self.rate.value for one in rates]
        value = sum(share * one.value for share, one in zip(shares, means, strict=True))
        error = sum((share * one.error) ** 2 for share, one in zip(shares, means, strict=True)) ** 0.5
        return Known("latency", value, error)

    def without(self, stage: str) -> Known:
        """Return the mean latency [ns] without a stage of the drive."""
        [waterfall] = self.results["waterfalls"]
        left = sum(one["value"] for one in waterfall["stages"] if one["name"] != f"ssd: {stage}")
        return Known(f"latency without {stage}", left, 0.0)

    def known(self) -> dict[str, Known]:
        """Return all rates [1/s] and mean latencies [ns]."""
        rows = (*self.rows("IOPS"), *self.rows("latency"))
        return {row["metric"]: Known.of(row) for row in rows}

    @property
    def is_steady(self) -> bool:
        """Whether it is not told as NOT STEADY."""
        return not first_answer.unsteady(self.results["rows"])


@lru_cache(maxsize=64)
def ran(case: Case) -> Ran:
    """Run a case."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "relation.yaml"
        path.write_text(case.scenario())
        return Ran(engine.run(str(path)))


def error(*both: Known) -> float:
    """Return three combined standard errors, each relative to its value."""
    return 3 * math.hypot(*(one.error / one.value for one in both))


def said(a: Known, b: Known) -> str:
    """Say what both are."""
    return f"{a.name} {a.value:.6g}, then {b.value:.6g} ({b.value / a.value - 1:+.2%})"


def not_lower(before: Ran, after: Ran) -> str:
    """Say whether the rate falls."""
    a, b = before.rate, after.rate
    return said(a, b) if b.value < a.value * (1 - ORDER - error(a, b)) else ""


def not_higher(before: Ran, after: Ran) -> str:
    """Say whether the rate rises."""
    return not_lower(after, before)


def pairs(before: Ran, after: Ran) -> list[tuple[Known, Known]]:
    """Return the rates and mean latencies that both have."""
    a, b = before.known(), after.known()
    return [(a[name], b[name]) for name in a if name in b]


def alike_within(share: float) -> Callable[[Ran, Ran], str]:
    """Say which rates and mean latencies differ by more than this, beside what their intervals leave open."""

    def judge(before: Ran, after: Ran) -> str:
        both = pairs(before, after)
        return "; ".join(said(a, b) for a, b in both if abs(b.value / a.value - 1) > share + error(a, b))

    return judge


alike = alike_within(CLOSE)
"""Says which rates and mean latencies differ."""


def equal(before: Ran, after: Ran) -> str:
    """Say which rates and mean latencies are not the same to the last bit."""
    return "; ".join(said(a, b) for a, b in pairs(before, after) if a.value != b.value)


def later(before: Ran, after: Ran) -> str:
    """Say whether the mean latency falls."""
    a, b = before.latency, after.latency
    return said(a, b) if b.value < a.value * (1 - NOISE - error(a, b)) else ""


def doubled(before: Ran, after: Ran) -> str:
    """Say whether the rate is not twice as high."""
    a, b = before.rate, after.rate
    return said(a, b) if abs(b.value / a.value / 2 - 1) > CLOSE + error(a, b) else ""


def no_more_alone(kind: str) -> Callable[[Ran, Ran], str]:
    """Say whether a mix has more I/Os of a kind than there are of it alone."""

    def judge(mixed: Ran, alone: Ran) -> str:
        a, b = mixed.known()[f"{kind} IOPS"], alone.rate
        return said(a, b) if a.value > b.value * (1 + CLOSE + error(a, b)) else ""

    return judge


def passes(latency_ns: int, crossings: int) -> Callable[[Ran, Ran], str]:
    """Say whether the mean latency does not rise by so many passes."""

    def judge(before: Ran, after: Ran) -> str:
        # which of its pages flash reads is another thing
        a, b = before.without("medium"), after.without("medium")
        rise, asked = b.value - a.value, latency_ns * crossings
        return f"{said(a, b)}: {rise:.1f} ns for {asked}" if abs(rise - asked) > 2 + 0.02 * asked else ""

    return judge


def faster(case: Case, *names: str) -> Case:
    """Return it with a drive that takes half as long for this."""
    times = {name: number for name, number in numbers(case.drive).items() if name in names}
    return case.having(*((f"ssd.{name}", f"{value / 2:.0f}ns") for name, value in times.items()))


DEFAULTS = {"nand.read": 45e3, "nand.program": 1.5e6, "nand.erase": 5e6, "nand.chips": 2.0}
"""What parts leave out: times [ns], and counts."""
UNITS = {"us": 1e3, "ns": 1.0, "ms": 1e6, "GB": 1.0, "": 1.0}


@lru_cache
def numbers(part: str) -> dict[str, float]:
    """Return the times of a part [ns], its capacity [GB] and its counts."""
    text = (Path(__file__).parents[2] / "parts" / f"{part}.yaml").read_text()
    found = re.findall(r"^  ([a-z0-9.-]+):\n    value: ([0-9.]+)(us|ns|ms|GB|)$", text, re.MULTILINE)
    told: dict[str, float] = {name: float(number) * UNITS[unit] for name, number, unit in found}
    return DEFAULTS | told


@dataclass(frozen=True)
class Relation:
    """Something that must hold between two runs."""

    name: str
    change: Callable[[Case], Case]
    judge: Callable[[Ran, Ran], str]
    applies: Callable[[Case], bool] = lambda _: True
    first: Callable[[Case], Case] = lambda case: case
    """What is done to a drawn case before."""


def alone(case: Case) -> Case:
    """Return it with one in flight, deterministic but for the addresses."""
    return replace(case, depth=1, clones=1)


def reads_alone(case: Case) -> Case:
    """Return it with one read of 4 KiB in flight."""
    return replace(alone(case), rw="randread", mix=100, bs="4k", gen=4, width=4)


def writes_alone(case: Case) -> Case:
    """Return it with one write of 4 KiB in flight."""
    return replace(alone(case), rw="randwrite", mix=0, bs="4k", gen=4, width=4)


def to_gen4(case: Case) -> bool:
    """Whether its drive reaches Gen4."""
    return case.drive != "intel-900p"


def through(retimer: str, kind: str) -> Relation:
    """Return how much later one I/O at a time is through a retimer.

    A read crosses the link four times one after the other, a write six times.
    """
    make, crossings = (reads_alone, 4) if kind == "reads" else (writes_alone, 6)

    def first(case: Case) -> Case:
        return replace(make(case), requests=2000, once=True)

    def change(case: Case) -> Case:
        return replace(case, via=(retimer,))

    return Relation(f"{retimer}, {kind}", change, passes(RETIMERS[retimer], crossings), to_gen4, first)


def cheaper(case: Case) -> Case:
    """Return it with an engine that takes less of the host."""
    return replace(case, ioengine=ENGINES[ENGINES.index(case.ioengine) + 1])


def roomier(case: Case) -> Case:
    """Return it with a tenth less of its flash for data."""
    capacity = round(0.9 * numbers(case.drive)["capacity"] * 1e9)
    return case.having(("ssd.capacity", f"{capacity // 4096 * 4096}B"))


def more_dies(case: Case) -> Case:
    """Return it with the flash of its drive on twice as many dies."""
    counts = numbers(case.drive)
    blocks = counts["nand.blocks"] // 2 + 4
    return case.having(
        ("ssd.nand.chips", f"{2 * counts['nand.chips']:.0f}"), ("ssd.nand.blocks", f"{blocks:.0f}")
    )


def more_engines(case: Case) -> Case:
    """Return it with twice as many firmware engines."""
    return case.having(("ssd.firmware.engines", f"{2 * numbers(case.drive)['firmware.engines']:.0f}"))


def one_job(case: Case) -> Case:
    """Return it as a job that can be written down in every way."""
    return replace(case, clones=1, ioengine="libaio")


def writes_flash(case: Case) -> bool:
    """Whether it writes to flash."""
    return case.is_flash and not case.is_read


RELATIONS = (
    Relation("a wider link", lambda c: replace(c, width=2 * c.width), not_lower, lambda c: c.width < 4),
    Relation("a narrower link", lambda c: replace(c, width=c.width // 2), not_higher, lambda c: c.width > 1),
    Relation(
        "a faster link", lambda c: replace(c, gen=c.gen + 1), not_lower, lambda c: c.gen < 4 and to_gen4(c)
    ),
    Relation("more in flight", lambda c: replace(c, depth=2 * c.depth), not_lower),
    Relation("more clones", lambda c: replace(c, clones=2 * c.clones), not_lower, lambda c: c.is_random),
    Relation("larger blocks", lambda c: replace(c, bs=f"{c.bytes // 512}k"), not_higher),
    Relation("faster reads of flash", lambda c: faster(c, "nand.read"), not_lower, lambda c: c.is_flash),
    Relation("faster programs", lambda c: faster(c, "nand.program"), not_lower, writes_flash),
    Relation("faster erases", lambda c: faster(c, "nand.erase"), not_lower, writes_flash),
    Relation(
        "a faster array",
        lambda c: faster(c, "cross-point.read", "cross-point.write"),
        not_lower,
        lambda c: not c.is_flash,
    ),
    Relation("faster firmware", lambda c: faster(c, "firmware.read", "firmware.write"), not_lower),
    Relation("more engines", more_engines, not_lower),
    Relation("more over-provisioning", roomier, not_lower, writes_flash),
    Relation("more dies", more_dies, not_lower, lambda c: c.is_flash),
    Relation(
        "a larger buffer", lambda c: c.having(("ssd.buffer", "512MiB")), not_lower, lambda c: c.is_flash
    ),
    Relation("smaller payloads", lambda c: c.having(("ssd.port.mps", "128B")), not_higher),
    Relation("fewer tags", lambda c: c.having(("ssd.port.tags", "16")), not_higher),
    Relation("larger read requests", lambda c: c.having(("ssd.port.mrrs", "4096B")), not_lower),
    Relation("a cheaper engine", cheaper, not_lower, lambda c: c.ioengine != "spdk"),
    Relation("as many cores as clones", lambda c: c.having(("host.cores", "8")), alike),
    Relation("one core for all", lambda c: c.having(("host.cores", "1")), not_higher),
    Relation("an IOMMU", lambda c: c.having(("host.iommu", "true")), later, first=alone),
    Relation("a switch", lambda c: replace(c, switch="generic-switch-gen4"), later, first=alone),
    Relation("a switch, under load", lambda c: replace(c, switch="generic-switch-gen4"), not_higher),
    *(through(retimer, kind) for retimer in RETIMERS for kind in ("reads", "writes")),
    Relation(
        "the programs of readers",
        lambda c: faster(c, "nand.program", "nand.erase", "firmware.write"),
        equal,
        lambda c: c.is_read,
    ),
    Relation(
        "the firmware's reads of writers", lambda c: faster(c, "firmware.read"), equal, lambda c: c.is_write
    ),
    Relation(
        "reads without writes",
        lambda c: replace(c, rw="randread", mix=100),
        no_more_alone("read"),
        lambda c: c.rw == "randrw",
    ),
    Relation(
        "writes without reads",
        lambda c: replace(c, rw="randwrite", mix=0),
        no_more_alone("write"),
        lambda c: c.rw == "randrw",
    ),
    Relation("two drives", lambda c: replace(c, drives=2, requests=2 * c.requests), doubled),
    Relation(
        "split among clones",
        lambda c: replace(c, depth=c.depth // 2, clones=2 * c.clones),
        alike_within(FETCHES),
        lambda c: c.is_random and c.depth > 1 and c.ioengine == "spdk",
    ),
    Relation("as a job file", lambda c: replace(c, spelling="file"), equal),
    Relation("as blocks", lambda c: replace(c, spelling="block"), alike, first=one_job),
    Relation("as Iometer's", lambda c: replace(c, spelling="iometer"), alike, first=one_job),
    Relation("another seed", lambda c: replace(c, seed=c.seed + 1), alike),
    Relation(
        "four times as long",
        lambda c: replace(c, requests=4 * c.requests, seed=c.seed + 1),
        alike,
        lambda c: bool(c.requests),
    ),
)


def told_of_itself(case: Case) -> Iterator[str]:
    """Say what of a case contradicts itself: Little's law, bytes of I/Os, the order of percentiles."""
    one = ran(case)
    rate, latency = one.rate, one.latency
    inside, asked = rate.value * latency.value * 1e-9, case.depth * case.clones * case.drives
    if abs(inside / asked - 1) > CLOSE:
        yield f"Little's law: {inside:.4g} in flight for {asked}"
    carried = sum(Known.of(row).value for row in one.rows("throughput")) / rate.value
    if abs(carried / case.bytes - 1) > 1e-6:
        yield f"{carried:.6g} B an I/O of {case.bytes}"
    for row in one.rows("latency"):
        values = [value for _, value in row["percentiles"]]
        if values != sorted(values):
            yield f"{row['metric']}: percentiles {values}"
        if values and not values[0] * 0.1 <= row["value"] <= values[-1]:
            yield f"{row['metric']}: mean {row['value']} beside {values}"
        # repeats that are equal have a mean that is theirs but for the last bit
        if not row["low"] * (1 - 1e-12) <= row["value"] <= row["high"] * (1 + 1e-12):
            yield f"{row['metric']}: {row['value']} outside its interval"


OPEN = "not steady"
"""What is said where nothing is compared."""


def examined(case: Case, relations: Iterable[Relation]) -> Iterator[tuple[str, str]]:
    """Examine a case: what was looked at, and what is wrong about it, or nothing."""
    yield "itself", "; ".join(told_of_itself(case))
    for relation in relations:
        before, after = (ran(one) for one in (relation.first(case), relation.change(relation.first(case))))
        steady = relation.judge is equal or (before.is_steady and after.is_steady)
        yield relation.name, relation.judge(before, after) if steady else OPEN


def applying(case: Case, chance: random.Random, most: int) -> list[Relation]:
    """Draw so many relations of those that apply to a case."""
    all_of_them = [relation for relation in RELATIONS if relation.applies(case)]
    return chance.sample(all_of_them, min(most, len(all_of_them)))


def main() -> int:
    """Examine cases, and say which relations do not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--start", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--each", type=int, default=6, help="how many relations of each")
    parser.add_argument(
        "--requests", type=int, default=0, help="I/Os that are measured; 0: until it is steady"
    )
    parser.add_argument("--relation", default="", help="only those whose name has this in it")
    options = parser.parse_args()
    chance = random.Random(f"which relations {options.seed}")  # noqa: S311
    found: Counter[str] = Counter()
    for number, case in enumerate(drawn(options.seed, options.cases, options.requests)):
        relations = applying(case, chance, options.each if not options.relation else len(RELATIONS))
        relations = [one for one in relations if options.relation in one.name]
        if number < options.start:
            continue
        for name, fault in examined(case, relations):
            word = "open" if fault == OPEN else "WRONG" if fault else "holds"
            found[word] += 1
            sys.stdout.write(f"{word:5} {number} {name}: {told(case)} {fault}\n")
            sys.stdout.flush()
    sys.stdout.write(", ".join(f"{count} {word}" for word, count in sorted(found.items())) + "\n")
    return 3 if found["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
