"""The jobs of a scenario, rewritten for fio with a list of harmless options.

fio never gets the user's job file: a job is parsed, and only options of `ALLOWED` are written, each with a
value that can only be a number or a word.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.measure.problem import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lanetwin.measure.target import Target

ALLOWED = frozenset(
    {
        "blockalign",
        "bs",
        "bs_is_seq_rand",
        "bs_unaligned",
        "bsrange",
        "bssplit",
        "group_reporting",
        "iodepth",
        "iodepth_batch",
        "iodepth_batch_complete_max",
        "iodepth_batch_complete_min",
        "norandommap",
        "numjobs",
        "offset_align",
        "percentage_random",
        "random_distribution",
        "random_generator",
        "rate",
        "rate_iops",
        "rate_process",
        "rw",
        "rw_sequencer",
        "rwmixread",
        "rwmixwrite",
        "thinktime",
        "thinktime_blocks",
        "thinktime_blocks_type",
    }
)
"""Options that determine the I/Os and their times, but no files, programs or other devices."""
OWN = frozenset(
    {
        "direct",
        "ioengine",
        "offset",
        "offset_increment",
        "ramp_time",
        "runtime",
        "size",
        "randseed",
        "stonewall",
        "time_based",
    }
)
"""Options that are written with values of lanetwin, or that determine the order of tests."""
WITHOUT_EFFECT = frozenset({"name", "new_group", "description"})
"""Options without effect here, which are not reported."""
ENGINES = ("io_uring", "libaio", "psync", "pvsync", "pvsync2", "sync")
"""Engines that use the block layer, which is measured."""
READS = frozenset({"read", "randread"})
WRITES = frozenset({"write", "randwrite", "rw", "readwrite", "randrw"})
"""Operations of jobs that write; never a trim."""
SMALLEST = 4096
"""Minimum size of a target behind the begin of a job [bytes]."""
_VALUE = re.compile(r"[A-Za-z0-9:.,/%_-]{1,200}")
_NOT_OPTIONS = ("file", "section", "capacity", "requests", "understood")
_GLOBAL = re.compile(r"^\s*\[\s*global", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Job:
    """One job of a test: a name and the options for fio."""

    name: str
    options: tuple[tuple[str, str], ...]
    offset: int
    """Offset of its begin [bytes]."""
    increment: int
    """Distance between the begins of clones [bytes]."""
    clones: int
    size: int
    """Bytes that it reads or writes; 0 for the whole target."""

    @property
    def rw(self) -> str:
        """Its operation, such as `randread`."""
        return dict(self.options)["rw"].partition(":")[0]

    def span(self, target: Target) -> tuple[int, int]:
        """Return the begin and end of its range [bytes].

        Raises `LanetwinError` (MR002) if a clone begins beyond the target's end.
        """
        last = self.offset + self.increment * (self.clones - 1)
        rest = target.size - last
        if rest < SMALLEST:
            help_ = "take a larger one, or smaller offsets"
            refuse(
                "MR002", f"job `{self.name}` begins at {last} B, behind its end", help_, file=str(target.path)
            )
        return self.offset, last + min(self.size or rest, rest)

    def lines(self, target: Target) -> list[str]:
        """Return its lines for a target."""
        _, end = self.span(target)
        lines = ["", f"[{self.name}]", *(f"{key}={value}" for key, value in self.options)]
        lines.append(f"size={end - self.offset - self.increment * (self.clones - 1)}")
        if self.offset or self.increment:
            lines += [f"offset={self.offset}", f"offset_increment={self.increment}"]
        return lines


@dataclass(frozen=True, slots=True)
class Test:
    """Jobs that run at once: a case of a workload."""

    workload: str
    case: str
    jobs: tuple[Job, ...]

    @property
    def writes(self) -> bool:
        """Whether a job of it writes."""
        return any(job.rw not in READS for job in self.jobs)

    def invalid(self, target: Target) -> str:
        """Return why it is not valid for a target; empty if it is valid.

        If jobs write, reads sooner or later return their data, so that the contents are not checked.
        """
        spans = [job.span(target) for job in self.jobs]
        if self.writes:
            return ""
        return next((why for start, end in spans if (why := target.invalid(start, end))), "")

    def text(self, target: Target, *, seconds: float, ramp: float, seed: int = 1) -> str:
        """Write the job file for a target; another `seed` draws other addresses."""
        lines = [
            "[global]",
            f"filename={target.path_for_fio}",
            "direct=1",
            "allow_file_create=0",
            f"randseed={seed}",
            "lat_percentiles=1",
            "time_based=1",
            f"runtime={round(seconds * 1000)}ms",
            f"ramp_time={round(ramp * 1000)}ms",
        ]
        for job in self.jobs:
            lines += job.lines(target)
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Left:
    """A part of the scenario that is not measured, or not as written."""

    what: str
    why: str
    """The reason, or the options that are left out."""
    in_part: bool = False
    """Whether it is measured, but not as written."""

    def told(self) -> str:
        """Say it in a sentence."""
        if self.in_part:
            return f"measured without {self.why}: {self.what}"
        return f"not measured: {self.what}: {self.why}"


def read_tests(
    scenario: Path, sets: Sequence[str], only: Sequence[str], *, writing: bool = False
) -> tuple[list[Test], list[Left]]:
    """Return the tests of a scenario for a real device, and the parts that are left out.

    These are jobs that write, unless `writing`, and always jobs that trim. Raises `LanetwinError` if the
    scenario is wrong, or contains nothing that can be measured.
    """
    checked = engine.check(str(scenario), sets)
    plan = checked["plan"]
    if plan is None:
        raise LanetwinError("", [Diagnostic.from_dict(found) for found in checked["diagnostics"]])
    workloads: Mapping[str, Any] = plan["workloads"]
    unknown = [name for name in only if name not in workloads]
    if unknown:
        refuse(
            "MR001",
            f"there is no workload `{unknown[0]}`",
            f"there are {', '.join(workloads)}",
            file=str(scenario),
        )
    tests: list[Test] = []
    left: list[Left] = []
    for name, workload in workloads.items():
        if only and name not in only:
            continue
        if "fio" not in workload:
            left.append(Left(name, "it is no job of fio"))
            continue
        host = plan["machine"].get(str(workload.get("on")), {})
        asked = _Asked(
            READS | WRITES if writing else READS, plan.get("files", {}), str(host.get("driver.engine", ""))
        )
        found, more = _of_workload(name, workload["fio"], asked)
        tests += found
        left += more
    if not tests:
        said = "; ".join(f"{one.what}: {one.why}" for one in left) or "it has no workloads"
        refuse(
            "MR001",
            f"nothing of this scenario can be measured{'' if writing else ' without writing'} ({said})",
            HELP,
            file=str(scenario),
        )
    return tests, left


HELP = "give it workloads of fio that read: `fio: {rw: randread, bs: 4k, iodepth: 1}`"


@dataclass(frozen=True, slots=True)
class _Asked:
    """The permissions of jobs, their files, and the engine of their host."""

    allowed: frozenset[str]
    files: Mapping[str, str]
    engine: str


def _of_workload(name: str, fio: Mapping[str, Any], asked: _Asked) -> tuple[list[Test], list[Left]]:
    shown, text = _shown(name, fio, asked.files)
    if len(_GLOBAL.findall(text)) > 1:
        return [], [Left(name, "its job file has several [global] sections: write one")]
    sections = fio.get("section")
    named = [sections] if isinstance(sections, str) else sections
    phases: dict[int, list[dict[str, Any]]] = {}
    for job in shown["jobs"]:
        if not named or job["section"] in named:
            phases.setdefault(job["phase"], []).append(job)
    tests: list[Test] = []
    left: list[Left] = []
    for jobs in phases.values():
        case = " + ".join(dict.fromkeys(str(job["name"]) for job in jobs))
        case += f" (phase {len(tests) + 1})" if any(test.case == case for test in tests) else ""
        writing = [job["name"] for job in jobs if job["rw"] not in asked.allowed]
        if writing:
            left.append(Left(f"{name}, {case}", f"{', '.join(writing)} would write"))
            continue
        written = [_job(job, shown["globals"], asked.engine) for job in jobs]
        tests.append(Test(name, case, tuple(job for job, _ in written)))
        dropped = sorted({option for _, options in written for option in options})
        if dropped:
            left.append(Left(f"{name}, {case}", ", ".join(dropped), in_part=True))
    return tests, left


def _shown(name: str, fio: Mapping[str, Any], files: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """Read the jobs of a workload as the engine does; returns them and their text."""
    with tempfile.TemporaryDirectory(prefix="lanetwin-") as folder:
        root = Path(folder).resolve()
        if "file" in fio:
            for path, text in files.items():
                place = (root / path).resolve()
                if place.is_relative_to(root):
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(text, encoding="utf-8")
            file = root / str(fio["file"])
            text = files.get(str(fio["file"]), "")
        else:
            file = root / "inline.fio"
            options = {key: value for key, value in fio.items() if key not in _NOT_OPTIONS}
            text = f"[{name}]\n" + "".join(f"{key}={_plain(value)}\n" for key, value in options.items())
            file.write_text(text, encoding="utf-8")
        shown = engine.fio_show(str(file))
    if not shown.get("file"):
        raise LanetwinError("", [Diagnostic.from_dict(found) for found in shown["diagnostics"]])
    return shown["file"], text


def _plain(value: Any) -> str:
    return ("1" if value else "0") if isinstance(value, bool) else str(value)


def _job(
    job: Mapping[str, Any], shared: Iterable[Mapping[str, Any]], engine_of_host: str
) -> tuple[Job, list[str]]:
    """Return a job for fio, and the options that were left out."""
    said = {option["name"]: option for option in [*shared, *job["options"]]}
    found = {"rw": str(job["rw"])}
    dropped = []
    for key, option in said.items():
        value = "1" if option["value"] is None else str(option["value"])
        if key in ALLOWED and _VALUE.fullmatch(value) and (key != "rw" or value.startswith(f"{job['rw']}:")):
            found[key] = value
        elif key not in OWN | WITHOUT_EFFECT and key != "rw":
            dropped.append(key)
    asked = said.get("ioengine", {}).get("value")
    wanted = asked or engine_of_host
    found["ioengine"] = wanted if wanted in ENGINES else "libaio"
    if asked and asked not in ENGINES:
        dropped.append("ioengine")
    name = _NAME.sub("-", str(job["name"]))[:80] or "job"
    places = (_bytes(said, "offset"), _bytes(said, "offset_increment"))
    return Job(
        name, tuple(found.items()), *places, max(int(job["numjobs"]), 1), _bytes(said, "size")
    ), dropped


def _bytes(said: Mapping[str, Mapping[str, Any]], key: str) -> int:
    numbers = said.get(key, {}).get("numbers") or [0]
    return int(numbers[0])
