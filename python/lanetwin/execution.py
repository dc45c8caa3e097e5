"""Running a program on an emulated drive, on each variant in turn: its output, and the predictions.

Each run has its own drive, empty and served while the program runs. The order of two variants is A B B A, so
that a drift of this machine affects both equally.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

from lanetwin import emulation, engine, filesystem, store
from lanetwin.errors import COMMAND_LINE, Diagnostic, LanetwinError
from lanetwin.measure.repeats import row_of
from lanetwin.measured.document import VARIANT, document_of
from lanetwin.measured.formats import format_of
from lanetwin.measured.values import Source, Value, name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lanetwin.results import Results

PREFIX = "lanetwin-exec-"
"""Prefix of folders of sockets, followed by the process ID."""
GRACE = 5.0
"""Time after which a terminated program is killed [s]."""
OPENS_WITHIN = 60.0
"""Timeout for serving a drive [s]."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The program, the variants and options."""

    scenario: Path
    command: Sequence[str]
    variants: Sequence[str]
    """At least one; the first is the baseline."""
    repeats: int = 2
    entrance: emulation.Entrance = "nbd"
    is_mounted: bool = False
    """Whether the program runs in an ext4 file system on the drive; this requires the door `fuse`."""
    sets: Sequence[str] = ()
    drive: str | None = None
    outside: bool = False
    timeout: float | None = None
    margin: float | None = None
    awake: bool = True
    """Whether cores are kept awake."""
    core: int | None = None
    """The core that the door has for itself: the program runs on the others."""
    traces: Path | None = None
    """The folder for the recorded requests of each run, for replay; None if they are not recorded."""
    tell: Callable[[dict[str, Any]], object] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one run."""

    variant: str
    said: str
    lateness: emulation.Lateness


def refuse(code: str, message: str, help_: str) -> NoReturn:
    """Raise the error of a program that cannot be run.

    Raises `LanetwinError`, always.
    """
    raise LanetwinError("", [Diagnostic(code, "error", message, help_, COMMAND_LINE)])


def variants_of(scenario: Path, sets: Sequence[str], *, outside: bool = False) -> list[str]:
    """Return the variants of a scenario, the baseline first; `as-is` if it names none.

    Raises `LanetwinError` if it is refused.
    """
    checked = engine.check(str(scenario), sets, outside=outside)
    if checked["plan"] is None:
        raise LanetwinError("", [Diagnostic(**one) for one in checked["diagnostics"]])
    plan = checked["plan"]
    baseline = (plan.get("compare") or {}).get("baseline")
    return sorted(plan.get("variants") or {}, key=lambda variant: variant != baseline)


def order(variants: Sequence[str], repeats: int) -> Iterator[str]:
    """Yield the variants in turn, forwards and backwards.

    >>> list(order(["a", "b"], 2))
    ['a', 'b', 'b', 'a']
    """
    for repeat in range(repeats):
        yield from variants if repeat % 2 == 0 else reversed(variants)


def _place(entrance: emulation.Entrance, folder: Path) -> str:
    """Return the address of a served drive."""
    if entrance == "nvme-tcp":
        return "127.0.0.1:0"
    if entrance == "nbd":
        return str(folder / "drive.sock")
    place = folder / "drive.d"
    place.mkdir()
    return str(place)


class Served:
    """A drive that is served while the block runs; afterwards it has a `lateness`."""

    def __init__(self, asked: Asked, variant: str, folder: Path, record: Path | None = None) -> None:
        self._asked = asked
        self._record = record
        self._variant = variant
        self._place = _place(asked.entrance, folder)
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="lanetwin-exec", daemon=True)
        self.told: dict[str, Any] = {}
        self.lateness: emulation.Lateness | None = None

    def names(self) -> dict[str, str]:
        """Return the variables by which a program finds the drive."""
        place = str(self.told["place"])
        if self._asked.entrance == "nvme-tcp":
            return {"device": place, "nqn": str(self.told["nqn"])}
        if self._asked.entrance == "fuse":
            return {"device": str(self.told["file"])}
        return {"device": f"nbd+unix:///drive?socket={place}", "socket": place}

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(OPENS_WITHIN):
            refuse("EX002", "the drive is not served", "try again on a machine that has more to spare")
        if self._error:
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        if self.told:
            with contextlib.suppress(LanetwinError):
                emulation.control(self.told["place"], {"control": "end"})
        self._thread.join(OPENS_WITHIN)
        if self._error:
            raise self._error

    def _serve(self) -> None:
        asked = self._asked
        try:
            self.lateness = emulation.serve(
                asked.scenario,
                asked.entrance,
                self._place,
                ready=self._hear,
                sets=asked.sets,
                variant=self._variant,
                drive=asked.drive,
                record=self._record,
                outside=asked.outside,
                awake=asked.awake,
                core=asked.core,
            )
        except Exception as error:
            self._error = error
        finally:
            self._ready.set()

    def _hear(self, told: dict[str, Any]) -> None:
        self.told = told
        self._ready.set()


def execute(asked: Asked) -> tuple[Results, list[Run]]:
    """Run a program on each variant in turn; return its measurements as results, and each run's result.

    The drive always has two numbers: the predicted latency, and the latency with the lateness of this
    machine. Raises `LanetwinError`: EX001 if the program fails, EX002 if it cannot be started, EX003 if a
    file system is required but not possible.
    """
    if asked.is_mounted:
        filesystem.insist()
    sweep_left()
    names = list(asked.variants)
    runs: list[Run] = []
    turns = list(order(names, asked.repeats))
    for done, variant in enumerate(turns):
        if asked.tell:
            asked.tell({"done": done, "total": len(turns), "variant": variant, "workload": asked.command[0]})
        record = asked.traces / f"trace-{done + 1}-{store.slug(variant)}.csv" if asked.traces else None
        runs.append(_one(asked, variant, record))
    return _results(asked, names, runs), runs


def _one(asked: Asked, variant: str, record: Path | None) -> Run:
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    try:
        with Served(asked, variant, folder, record) as served, _within(asked, served, folder) as names:
            said = _said(asked, variant, names)
    finally:
        filesystem.removed(folder)
    if served.lateness is None:
        refuse("EX002", "the drive did not say how late it was", "try again")
    return Run(variant, said, served.lateness)


@contextlib.contextmanager
def _within(asked: Asked, served: Served, folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables by which a program finds the drive, and its file system if required."""
    names = served.names()
    if not asked.is_mounted:
        yield names
        return
    place = folder / "mount"
    place.mkdir()
    with filesystem.Ext4(Path(names["device"]), place.resolve()) as made:
        yield {"device": made.loop, "mount": str(made.folder)}


def _said(asked: Asked, variant: str, names: dict[str, str]) -> str:
    """Run the program; return its standard output."""
    words = list(asked.command)
    around = dict(os.environ) | {"LANETWIN_VARIANT": variant}
    for key, value in names.items():
        words = [word.replace(f"{{{key}}}", value) for word in words]
        around[f"LANETWIN_{key.upper()}"] = value
    if asked.entrance == "nbd":
        around["LANETWIN_NBD_URI"] = names["device"]
    if "/" in words[0]:
        words[0] = str(Path(words[0]).absolute())
    begun = _begun(words, around, names.get("mount"), asked.core)
    try:
        child = begun.result()
        said, _ = child.communicate(timeout=asked.timeout)
    except OSError as error:
        refuse(
            "EX002", f"{words[0]} cannot be run: {error.strerror or error}", "give a program that is there"
        )
    except subprocess.TimeoutExpired:
        refuse("EX001", f"{words[0]} did not end within {asked.timeout:g} s", "give it more with --timeout")
    finally:
        if begun.exception() is None:
            _end(begun.result())
    if child.returncode != 0:
        refuse(
            "EX001",
            f"{words[0]} ended with status {child.returncode} on {variant}",
            "look at what it said above",
        )
    return said.decode("utf-8", errors="replace")


def _begun(
    words: Sequence[str], around: dict[str, str], folder: str | None, core: int | None
) -> Future[subprocess.Popen[bytes]]:
    """Start a program in a thread, so that Ctrl-C at that moment cannot leave an untracked process."""
    begun: Future[subprocess.Popen[bytes]] = Future()

    def begin() -> None:
        if core is not None:
            # of this thread, from which the program inherits it
            os.sched_setaffinity(0, os.sched_getaffinity(os.getpid()) - {core})
        try:
            begun.set_result(
                subprocess.Popen(  # noqa: S603 - the user's own command
                    words, stdout=subprocess.PIPE, env=around, start_new_session=True, cwd=folder
                )
            )
        except OSError as error:
            begun.set_exception(error)

    threading.Thread(target=begin, name="lanetwin-begin").start()
    return begun


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a program and its child processes."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
            if sign == signal.SIGTERM:
                continue
    if child.stdout:
        child.stdout.close()


def sweep_left() -> None:
    """Remove sockets and mounts of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdigit() and not Path(f"/proc/{number}").exists():
            filesystem.removed(folder)


def _values(asked: Asked, run: Run) -> list[tuple[str, Value]]:
    """Return the measurements of a run, each with its workload."""
    program = name(Path(asked.command[0]).name)
    source = Source(program, program)
    known = format_of(run.said, source) if run.said.strip() else None
    found = [(value.workload or program, value) for value in (known.read(run.said, source) if known else [])]
    late = run.lateness
    if late["answers"] > late["faulted"]:
        predicted = late["predicted_mean_us"] * 1e3
        seen = predicted + late["mean_us"] * 1e3
        tail = ((99.0, late["predicted_p99_us"] * 1e3),)
        found.append(("drive", Value("predicted", "latency", "ns", "lower", predicted, tail)))
        found.append(("drive", Value("seen", "latency", "ns", "lower", seen)))
    return found


def _results(asked: Asked, names: Sequence[str], runs: Sequence[Run]) -> Results:
    values: dict[tuple[str, str, str, str, str], list[Value]] = {}
    for run in runs:
        for workload, value in _values(asked, run):
            place = (run.variant, workload, value.case, value.device, value.metric)
            values.setdefault(place, []).append(value)
    rows = [row_of(place, found) for place, found in values.items()]
    options = {
        "command": list(asked.command),
        "entrance": asked.entrance,
        "mount": "ext4" if asked.is_mounted else None,
        "repeats": asked.repeats,
        "made": datetime.now(UTC).date().isoformat(),
        "doors": [{"variant": run.variant, **run.lateness} for run in runs],
        "is_prediction": all(run.lateness["is_prediction"] for run in runs),
    }
    document = document_of(rows, options, asked.scenario.stem, engine.version())
    text = asked.scenario.read_text(encoding="utf-8")
    program = Path(asked.command[0]).name
    document |= {
        "kind": "emulated",
        "about": f"What {program} sees of a drive that does not exist",
        "scenario": {"path": str(asked.scenario), "text": text},
    }
    document["verdicts"] = [
        verdict for other in names[1:] for verdict in _judged(document, names[0], other, asked.margin)
    ]
    return cast("Results", document)


def _judged(
    document: dict[str, Any], baseline: str, variant: str, margin: float | None
) -> list[dict[str, Any]]:
    """Return the verdicts on two variants from their repeats."""

    def only(chosen: str) -> Results:
        rows = [{**row, "variant": VARIANT} for row in document["rows"] if row["variant"] == chosen]
        return cast("Results", {**document, "name": chosen, "rows": rows, "verdicts": []})

    found = engine.compare(only(baseline), only(variant), margin=margin)
    return [{**verdict, "baseline": baseline, "variant": variant} for verdict in found["verdicts"]]
