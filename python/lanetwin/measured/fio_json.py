"""Results of fio as JSON and JSON+, versions 2 and 3; several documents and words between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lanetwin.measured.values import USUAL, Format, Value, name, number, objects, percentiles_of, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.measured.values import Source

KINDS = {"read": "read ", "write": "write ", "trim": "trim ", "mixed": ""}
"""Directions of a job in fio, and the prefixes of their metrics if a job has several."""
KIB = 1024.0
MEGA = 1e6


class Job:
    """One entry of `jobs`."""

    def __init__(self, fields: dict[str, Any], path: str, source: Source) -> None:
        self.fields, self.path, self.source = fields, path, source
        self.name = name(fields.get("jobname", "unnamed"))
        self.group = int(self.of(fields, "groupid"))

    def of(self, fields: dict[str, Any], key: str, way: str = "") -> float:
        """Return a number, 0 if it is missing."""
        return number(fields.get(key, 0), self.source, path=f"{self.path}{way}.{key}")

    def direction(self, key: str) -> dict[str, Any]:
        """Return the entry of a direction; empty if it had no I/O."""
        fields = self.fields.get(key)
        if fields is None:
            return {}
        if not isinstance(fields, dict):
            refuse("ME004", self.source, f"`{key}` is not an object", path=f"{self.path}.{key}")
        return fields if self.total(fields, key) > 0 else {}

    def total(self, fields: dict[str, Any], key: str) -> float:
        """Return the number of I/Os; for fio 2 it is the product of rate and time."""
        if "total_ios" in fields:
            return self.of(fields, "total_ios", f".{key}")
        return self.of(fields, "iops", f".{key}") * self.of(fields, "runtime", f".{key}") / 1e3

    @property
    def ways(self) -> list[str]:
        """The directions with I/O."""
        return [key for key in KINDS if self.direction(key)]


def recognises(text: str, _source: Source) -> bool:
    """Whether it is of fio."""
    return '"fio version"' in text[:200_000] or ('"jobs"' in text[:200_000] and '"jobname"' in text[:200_000])


def read(text: str, source: Source) -> list[Value]:
    """Read it."""
    found: list[Value] = []
    documents = [(one, line) for one, line in objects(text, source) if "jobs" in one or "fio version" in one]
    runs: list[list[Job]] = []
    starts: list[float] = []
    for document, line in documents:
        entries = document.get("jobs", [])
        if not isinstance(entries, list):
            refuse("ME004", source, "`jobs` is not a list", line=line, path="jobs")
        jobs = [_job(one, f"jobs[{at}]", source) for at, one in enumerate(entries)]
        start = _start(document, jobs, source)
        if runs and _same_run(runs[-1], starts[-1], jobs, start):
            runs[-1] = jobs
        else:
            runs.append(jobs)
            starts.append(start)
    for jobs in runs:
        found += groups(jobs)
    return found


def _start(document: dict[str, Any], jobs: Sequence[Job], source: Source) -> float:
    """Return the time at which the jobs of a document began [s], as far as it is known."""
    end = number(document.get("timestamp", 0), source, path="timestamp")
    return end - max((job.of(job.fields, "elapsed") for job in jobs), default=0.0)


def _same_run(before: Sequence[Job], start: float, jobs: Sequence[Job], other: float) -> bool:
    """Whether a document is a later state of the same run, as with `--status-interval`."""
    names = [(job.name, job.group) for job in before]
    if names != [(job.name, job.group) for job in jobs] or abs(start - other) > 1 or not start:
        return False
    done = [sum(job.total(job.direction(way), way) for job in of for way in KINDS) for of in (before, jobs)]
    return done[0] <= done[1]


def _job(one: Any, path: str, source: Source) -> Job:
    if not isinstance(one, dict):
        refuse("ME004", source, "a job is an object", path=path)
    return Job(one, path, source)


def groups(jobs: Sequence[Job]) -> list[Value]:
    """Return the values of every group of jobs that ran at once, and of each job of a group of several."""
    groups: dict[int, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.group, []).append(job)
    found: list[Value] = []
    for group in groups.values():
        names = list(dict.fromkeys(job.name for job in group))
        case = " + ".join(names)
        ways = [key for key in KINDS if any(key in job.ways for job in group)]
        found += _values(group, case, ways, "")
        if len(group) > 1:
            for nth, job in enumerate(group):
                same = [other for other in group if other.name == job.name]
                device = job.name if len(same) == 1 else f"{job.name}.{same.index(job)}"
                found += _values([group[nth]], case, ways, device)
    return found


def _values(jobs: Sequence[Job], case: str, ways: Sequence[str], device: str) -> list[Value]:
    """Return throughput, rate and latencies of jobs together, by direction if there are several."""
    found = []
    for key in ways:
        head = KINDS[key] if len(ways) > 1 else ""
        own = [(job, fields) for job in jobs if (fields := job.direction(key))]
        if not own:
            continue
        rate = math.fsum(_bandwidth(job, fields, key) for job, fields in own)
        iops = math.fsum(job.of(fields, "iops", f".{key}") for job, fields in own)
        found.append(Value(case, f"{head}throughput", "MB/s", "higher", rate / MEGA, device=device))
        found.append(Value(case, f"{head}IOPS", "k/s", "higher", iops / 1e3, device=device, restates=True))
        for short, said in (
            ("lat", "latency"),
            ("clat", "completion latency"),
            ("slat", "submission latency"),
        ):
            value = _latency(own, key, short, case, f"{head}{said}", device)
            if value:
                found.append(value)
    return found


def _bandwidth(job: Job, fields: dict[str, Any], key: str) -> float:
    """Return bytes per second; fio 2 has KiB."""
    if "bw_bytes" in fields:
        return job.of(fields, "bw_bytes", f".{key}")
    return job.of(fields, "bw", f".{key}") * KIB


def _latency(
    own: Sequence[tuple[Job, dict[str, Any]]], key: str, short: str, case: str, metric: str, device: str
) -> Value | None:
    """Return one latency [ns]: for several jobs the mean of all I/Os, percentiles only from joint bins."""
    told = []
    for job, fields in own:
        of, scale = _times(fields, short)
        count = job.of(of, "N", f".{key}.{short}") or job.total(fields, key)
        if of and "mean" in of and (job.of(of, "mean") or short == "lat"):
            told.append((job, of, scale, count))
    weight = math.fsum(count for *_, count in told)
    if not told or weight <= 0:
        return None
    mean = math.fsum(job.of(of, "mean") * scale * count for job, of, scale, count in told) / weight
    if len(told) == 1:
        job, of, scale, _ = told[0]
        mean, tails = job.of(of, "mean") * scale, _percentiles(job, of, scale)
    else:
        tails = _merged(told)
    # the parts of a latency add nothing to the whole
    return Value(case, metric, "ns", "lower", mean, tails, device, short != "lat")


def _times(fields: dict[str, Any], short: str) -> tuple[dict[str, Any], float]:
    """Return a latency and the size of its unit in ns: fio 3 counts ns, fio 2 µs."""
    for key, scale in ((f"{short}_ns", 1.0), (short, 1e3)):
        of = fields.get(key)
        if isinstance(of, dict):
            return of, scale
    return {}, 1.0


def _percentiles(job: Job, of: dict[str, Any], scale: float) -> tuple[tuple[float, float], ...]:
    known = of.get("percentile")
    if not isinstance(known, dict):
        return ()
    pairs = [
        (number(p, job.source, path=f"{job.path}.percentile"), job.of(known, p) * scale)
        for p in known
        if _is_percent(p)
    ]
    return tuple(sorted((p, v) for p, v in pairs if 0 <= p <= 100))


def _is_percent(text: str) -> bool:
    """Whether a key is a percentile; fio 2 writes 0.00 for percentiles that were not requested."""
    try:
        return 0 < float(text) <= 100
    except ValueError:
        return False


def _merged(told: Sequence[tuple[Job, dict[str, Any], float, float]]) -> tuple[tuple[float, float], ...]:
    """Return percentiles of several jobs from the bins of JSON+, if all have them."""
    bins: list[tuple[float, float]] = []
    for job, of, scale, _ in told:
        own = of.get("bins")
        if not isinstance(own, dict) or not own:
            return ()
        bins += [(number(at, job.source, path=f"{job.path}.bins") * scale, job.of(own, at)) for at in own]
    return percentiles_of(bins, USUAL)


FORMAT = Format("fio-json", "fio --output-format=json or json+, versions 2 and 3", recognises, read)
