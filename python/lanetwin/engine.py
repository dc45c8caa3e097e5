"""The engine's functions with Python's types: the only module that calls `lanetwin._core`.

Every function raises `LanetwinError` when the user's document or argument is at fault.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from lanetwin import _core
from lanetwin.errors import Diagnostic, LanetwinError, require_whole
from lanetwin.files import read_text
from lanetwin.places import told_apart
from lanetwin.results import parse, require_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from lanetwin.results import Results

Granularity = Literal["train", "tlp"]
Export = Literal["hdr", "timeline"]
"""Optional attachments of results."""
Progress = dict[str, Any]
"""One report of a running computation: `done` and `total` steps, and the names of the present step."""


class Outline(TypedDict):
    """A node of a YAML document: where it begins, and a text, a list or the entries of a mapping."""

    line: int
    column: int
    text: NotRequired[str]
    items: NotRequired[list[Outline]]
    entries: NotRequired[list[tuple[str, Outline]]]


class Checked(TypedDict):
    """The result of checking a scenario; it has a plan only if there was no error."""

    diagnostics: list[dict[str, Any]]
    plan: dict[str, Any] | None


class Hierarchy(TypedDict):
    """The hierarchy below one host: as `lspci -t` draws it, as `lspci -vv` lists it, and by name."""

    host: str
    drawing: str
    listing: str
    bridges: list[dict[str, Any]]
    functions: list[dict[str, Any]]


class SharedTree(TypedDict):
    """The hierarchies of equal variants."""

    variants: list[str]
    hosts: list[Hierarchy]


class Numbered(TypedDict):
    """The result of numbering a scenario's devices; it has trees only if there was no error."""

    diagnostics: list[dict[str, Any]]
    trees: list[SharedTree] | None


class IometerShown(TypedDict):
    """The contents of a configuration of Iometer, unless there was an error, and its diagnostics."""

    diagnostics: list[dict[str, Any]]
    config: dict[str, Any] | None


class ValidationRow(TypedDict):
    """One published cell beside its prediction."""

    claim: str
    case: str
    quantity: str
    unit: str
    published: float
    predicted: float
    low: float | None
    high: float | None
    error_pct: float
    role: Literal["input", "calibrated", "predicted"]
    free_parameters: int
    baseline_error_pct: float | None
    source: str
    run_digest: str


class FreeParameter(TypedDict):
    """A number of the model that is neither measured nor published."""

    part: str
    name: str
    value: str
    calibrated_to: str | None


class Effect(TypedDict):
    """The effect of moving one assumption to an end of its range on each predicted row."""

    mechanism: str
    end: str
    changes_pct: list[float | None]


class Claim(TypedDict):
    """One claim as a whole: its error, the error to beat, and whether the bar was met."""

    claim: str
    about: str
    bar: str
    met: bool
    mape_pct: float | None
    baseline_mape_pct: float | None
    free_parameters: int
    predicted_rows: int
    text: NotRequired[str]
    parameters: NotRequired[list[FreeParameter]]
    effects: NotRequired[list[Effect]]


class Declared(TypedDict):
    """The declaration of a claim."""

    claim: str
    about: str
    bar: str
    cpu_seconds: int


class Validation(TypedDict):
    """Predictions compared with published numbers, by cell and by claim; not complete if it was stopped."""

    complete: bool
    rows: list[ValidationRow]
    claims: list[Claim]


def version() -> str:
    """Return the engine's version."""
    return _core.version()


def _reports(progress: Callable[[Progress], object] | None) -> Callable[[str], object] | None:
    if progress is None:
        return None
    return lambda line: progress(json.loads(line))


def check(path: str, sets: Iterable[str] = (), *, outside: bool = False) -> Checked:
    """Check a scenario without running it; its mistakes are in the answer, not raised.

    With `outside`, files that it names may be outside its folder.
    """
    return cast("Checked", json.loads(_core.check(path, list(sets), outside)))


def document(path: str) -> Outline:
    """Parse a YAML document of any kind, every value with its place."""
    return cast("Outline", json.loads(_core.document(path)))


def tree(path: str, sets: Iterable[str] = (), *, outside: bool = False) -> Numbered:
    """Assign bus numbers and addresses to the devices below a scenario's hosts, variant by variant."""
    return cast("Numbered", json.loads(_core.tree(path, list(sets), outside)))


def run(
    path: str,
    *,
    sets: Iterable[str] = (),
    seed: int | None = None,
    granularity: Granularity = "train",
    threads: int | None = None,
    outside: bool = False,
    exports: Iterable[Export] = (),
    tlps: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Results:
    """Simulate every variant and workload of a scenario.

    `sets` are changes of the scenario, each ``path=value``. Without `seed` the scenario's own is taken;
    without `threads`, one per core (the results do not depend on it). Ctrl-C makes the answer partial
    (``complete`` is false), a second one raises `KeyboardInterrupt`. With `outside`, files that the scenario
    names may be outside its folder. `exports` are additional attachments of the results: ``hdr`` is a log of
    HdrHistogram, ``timeline`` has operations stage by stage. With `tlps`, at most this many TLPs on the links
    are attached, as a capture file.
    """
    require_whole("seed", seed, 0, 2**64 - 1)
    require_whole("threads", threads, 1, 2**32 - 1)
    attached: dict[str, bool | int] = dict.fromkeys(exports, True)
    if tlps is not None:
        attached["tlps"] = tlps
    options = {
        "sets": list(sets),
        "seed": seed,
        "granularity": granularity,
        "threads": threads,
        "outside": outside,
        "exports": attached,
    }
    return parse(_core.run(path, json.dumps(options), _reports(progress)), f"the engine's answer on {path}")


def library() -> str:
    """Return the engine's library file, which identifies this build."""
    return str(_core.__file__)


def planned(path: str, sets: Iterable[str] = (), *, outside: bool = False) -> str:
    """Check a scenario and return its complete plan, as text: results depend on it, the seed and the build.

    Raises `LanetwinError` if the scenario is refused.
    """
    return _core.planned(path, list(sets), outside)


def sweep_design(path: str, asked: dict[str, Any]) -> Any:
    """Return the axes and points of a scenario's sweep.

    `asked` has ``sets``, ``vary`` and ``zip``, each a list of texts, ``sample``, a number or none,
    and ``search``, whether it is for a search.
    """
    return json.loads(_core.sweep_design(path, json.dumps(asked)))


def search_goals(path: str, asked: dict[str, Any]) -> Any:
    """Return the goals of a scenario's search: objectives, limits, trials, seed and prices.

    `asked` has ``sets``, ``maximize``, ``minimize`` and ``require``, each a list of texts, ``trials`` and
    ``seed``, each a number or none.
    """
    return json.loads(_core.search_goals(path, json.dumps(asked)))


def sweep_analysis(points: dict[str, Any]) -> Any:
    """Return the analysis of a sweep's points: Pareto front, least cost, effects of the axes."""
    return json.loads(_core.sweep_analysis(json.dumps(points)))


def compare(
    a: Results, b: Results, *, margin: float | None = None, names: tuple[str, str] | None = None
) -> Results:
    """Compare two results, the first being the baseline.

    `margin` is the relative difference below which two values count as equivalent.
    `names` tell results of the same name apart, which are A and B otherwise.
    """
    answer = _core.compare(json.dumps(a), json.dumps(b), json.dumps({"margin": margin, "names": names}))
    return parse(answer, "the engine's comparison")


def compare_files(a: Path, b: Path, *, margin: float | None = None) -> Results:
    """Compare two results in files or folders of runs, whose names tell results of one name apart."""
    files = {"A": _results_file(a), "B": _results_file(b)}
    first, second = (_read(file) for file in files.values())
    try:
        answer = _core.compare(first, second, json.dumps({"margin": margin, "names": told_apart(a, b)}))
    except LanetwinError as error:
        told = [replace(found, file=str(files.get(found.file, found.file))) for found in error.diagnostics]
        raise LanetwinError("" if told else str(error), told) from error
    return parse(answer, "the engine's comparison")


def load_file(path: Path) -> Results:
    """Read a result from a file, or from the folder of a run.

    The engine checks the document, so that an error is reported with its place and its remedy.
    """
    file = _results_file(path)
    text = _read(file)
    try:
        # the comparison with itself only checks that the document can be compared
        _core.compare(text, text, json.dumps({"margin": None}))
    except LanetwinError as error:
        told = [replace(found, file=str(file)) for found in error.diagnostics]
        is_empty = all(found.code == "RS017" for found in told) and not parse(text, str(file)).get("rows")
        if not is_empty:  # a run that was stopped before its first case was finished also has a report
            raise LanetwinError("" if told else str(error), told) from error
    results = parse(text, str(file))
    require_all(results, str(file))
    return results


def _results_file(path: Path) -> Path:
    return path / "results.json" if path.is_dir() else path


def _read(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        unreadable = Diagnostic(
            code="RS001",
            severity="error",
            message=f"the file cannot be read: {why}",
            help="give the folder of a run, or its results.json",
            file=str(file),
        )
        raise LanetwinError("", [unreadable]) from error


def validate(claims: Iterable[str] = (), progress: Callable[[Progress], object] | None = None) -> Validation:
    """Compare the model's predictions with published numbers, for the named claims or for all."""
    return cast("Validation", json.loads(_core.validate(list(claims), _reports(progress))))


def claims() -> list[Declared]:
    """Return the claims: name, subject, bar, computing time."""
    return cast("list[Declared]", json.loads(_core.claims_list()))


def parts(beside: str | None = None) -> list[dict[str, Any]]:
    """Return the catalogue of parts: the program's, those of `LANETWIN_PARTS` and those beside a scenario."""
    return cast("list[dict[str, Any]]", json.loads(_core.parts_list(beside)))


def part(name: str, beside: str | None = None) -> dict[str, Any]:
    """Return one part with every number's source; also of those beside a scenario, if one is given."""
    return cast("dict[str, Any]", json.loads(_core.parts_show(name, beside)))


class Discovered(TypedDict):
    """The functions of a machine, its other components, unreadable sources, and findings."""

    devices: list[dict[str, Any]]
    nodes: list[dict[str, Any]]
    memories: list[dict[str, Any]]
    drives: list[dict[str, Any]]
    notes: list[str]
    findings: list[dict[str, Any]]
    record: str | None
    """The sources in a form that `discover` reads, without serial numbers; None unless requested."""


def discover(sources: Sequence[str] = (), *, with_record: bool = False) -> Discovered:
    """Read the PCIe functions of this machine, or of the one that files and folders describe together.

    Raises `LanetwinError` if one of them cannot be read, or contains no data of a machine.
    """
    return cast("Discovered", json.loads(_core.discover(json.dumps(list(sources)), with_record)))


def mean_of(samples: Iterable[float]) -> tuple[float, float, float]:
    """Return the mean of repeated measurements and the ends of its 95 % interval; without width for one."""
    found = json.loads(_core.mean_of(json.dumps(list(samples))))
    return float(found["value"]), float(found["low"]), float(found["high"])


def closed_forms() -> list[dict[str, Any]]:
    """Return the closed forms and their parameters."""
    return cast("list[dict[str, Any]]", json.loads(_core.calc_list()))


def calculate(name: str, arguments: dict[str, str]) -> dict[str, Any]:
    """Evaluate one closed form; arguments are text with units, as in a scenario."""
    return cast("dict[str, Any]", json.loads(_core.calc(name, json.dumps(arguments))))


def explain(code: str) -> str:
    """Return the page of a diagnostic code, as Markdown."""
    return _core.explain(code)


def codes() -> list[dict[str, Any]]:
    """Return every diagnostic code with its title."""
    return cast("list[dict[str, Any]]", json.loads(_core.explain_list()))


def fio_show(path: str) -> dict[str, Any]:
    """Read a job file of fio; its mistakes are in the answer, not raised."""
    return cast("dict[str, Any]", json.loads(_core.fio_show(path)))


def iometer_show(path: str) -> IometerShown:
    """Read a configuration of Iometer; its mistakes are in the answer, not raised."""
    return cast("IometerShown", json.loads(_core.iometer_show(path)))


def templates() -> list[dict[str, Any]]:
    """Return the templates for scenarios."""
    return cast("list[dict[str, Any]]", json.loads(_core.templates()))


def template(name: str) -> str:
    """Return the text of a template."""
    return _core.template(name)


def schema() -> str:
    """Return the JSON Schema of scenarios, as text."""
    return _core.schema()


def replay(capsule: str) -> dict[str, Any]:
    """Replay the capsule of a run that stopped on a bug, up to one event before it."""
    return cast("dict[str, Any]", json.loads(_core.replay(capsule)))


def link_budget(path: str, sets: Iterable[str] = (), variants: Iterable[str] = ()) -> dict[str, Any]:
    """Compare a channel's loss with its budget; for all variants if none is named."""
    return cast("dict[str, Any]", json.loads(_core.link_budget(path, list(sets), list(variants))))


def link_elements(rate: str = "5", library: str | None = None) -> dict[str, Any]:
    """List the elements of channels, with their loss at half the symbol rate."""
    return cast("dict[str, Any]", json.loads(_core.link_elements(rate, library)))


def link_eye(
    path: str,
    sets: Iterable[str] = (),
    progress: Callable[[Progress], object] | None = None,
    *,
    variants: Iterable[str] = (),
) -> dict[str, Any]:
    """Compute the eye at every receiver of a channel; Ctrl-C makes the answer partial."""
    found = _core.link_eye(path, list(sets), list(variants), _reports(progress))
    return cast("dict[str, Any]", json.loads(found))


def link_place(
    path: str,
    *,
    sets: Iterable[str] = (),
    variants: Iterable[str] = (),
    retimers: int = 1,
    part: str = "generic-gen5",
    after: Iterable[str] = (),
) -> dict[str, Any]:
    """Find the places of one or two retimers with the largest margin; only behind `after`, if given."""
    options = {"sets": list(sets), "variants": list(variants), "retimers": retimers, "part": part}
    options["after"] = list(after)
    return cast("dict[str, Any]", json.loads(_core.link_place(path, json.dumps(options))))


def link_rewritten(path: str) -> str:
    """Return a Touchstone file in a form that every tool reads: Hz, real and imaginary parts."""
    return _core.link_rewritten(path)


def link_touchstone(path: str, rate: str = "5", ports: Iterable[int] = ()) -> dict[str, Any]:
    """Examine a Touchstone file: its lanes, the quality of its data, its loss."""
    return cast("dict[str, Any]", json.loads(_core.link_touchstone(path, rate, list(ports))))


def link_schema() -> str:
    """Return the JSON Schema of the description of a channel, as text."""
    return _core.link_schema()


def link_templates() -> list[dict[str, str]]:
    """Return the templates for descriptions of channels."""
    return cast("list[dict[str, str]]", json.loads(_core.link_templates()))


def link_train(path: str, sets: Iterable[str] = (), **options: Any) -> dict[str, Any]:
    """Power the links of a channel on, in simulation: states with their times, rate, width, equalisation.

    `options` are ``variants``, ``width``, ``utilisation`` and ``seed``.
    """
    return cast("dict[str, Any]", json.loads(_core.link_train(path, list(sets), json.dumps(options))))


def link_cycle(
    source: dict[str, Any],
    *,
    request: dict[str, Any],
    options: dict[str, Any] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> dict[str, Any]:
    """Cycle a link and count the results; Ctrl-C makes the answer partial and restores every register.

    `source` is ``{"device": address}`` on this machine, ``{"channel": path, "sets": [...]}`` in simulation,
    or ``{"fake": path, "device": address | None, "behaviour": "inert" | "obliging" | "simulated"}``.
    """
    asked = {"source": source, "request": request, "options": options or {}}
    return cast("dict[str, Any]", json.loads(_core.link_cycle(json.dumps(asked), _reports(progress))))


def link_restore(journal: str) -> dict[str, Any]:
    """Restore the registers after a killed run of cycles."""
    return cast("dict[str, Any]", json.loads(_core.link_restore(journal)))


def link_tests() -> list[dict[str, str]]:
    """Return the stability tests: name, title, description."""
    return cast("list[dict[str, str]]", json.loads(_core.link_tests()))
