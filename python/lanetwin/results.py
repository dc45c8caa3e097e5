"""The results document: what a run, a measurement or a comparison found, as the engine writes it.

The engine owns the document (schema ``lanetwin-results/1``); these are its types for Python's type checkers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from lanetwin.errors import LanetwinError

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "lanetwin-results/1"
"""The only schema this version reads."""

Outcome = Literal["better", "worse", "equivalent", "inconclusive"]


class Abscissa(TypedDict):
    """The value of the swept quantity of one case."""

    name: str
    value: float
    unit: str
    curve: NotRequired[str]
    """Which of several curves over the same axis it is on."""


class Row(TypedDict):
    """One metric of one case of one workload on one variant, with its 95 % confidence interval."""

    variant: str
    workload: str
    case: str
    device: NotRequired[str | None]
    """Of which of several devices it tells; absent in a row of all of them together."""
    x: Abscissa | None
    metric: str
    unit: str
    value: float
    low: float
    high: float
    n: int
    percentiles: NotRequired[list[tuple[float, float]]]


class Stage(TypedDict):
    """One hop's share of a latency."""

    name: str
    value: float


class Waterfall(TypedDict):
    """Where the time of one I/O goes; the stages sum to the total."""

    variant: str
    workload: str
    case: str
    device: NotRequired[str]
    """Of a load of memory: the node that served it."""
    unit: str
    total: float
    stages: list[Stage]


class Round(TypedDict):
    """What one round of a run has shown, reads and writes together."""

    iops: float
    bytes_per_second: float
    latency_ns: float | None
    p99_ns: float | None
    write_amplification: float | None


class SteadyState(TypedDict):
    """The rounds of one repeat of a case, and what a rule says of the last five of them."""

    variant: str
    workload: str
    case: str
    repeat: int
    rule: str
    of: Literal["iops", "throughput", "latency"]
    round_seconds: float
    rounds: list[Round]
    attained: bool
    range: float | None
    slope: float | None
    range_limit: float
    slope_limit: float


SwitchTransit = TypedDict(
    "SwitchTransit",
    {
        "variant": str,
        "workload": str,
        "case": str,
        "switch": str,
        "from": str,
        "to": str,
        "way": str,
        "widths": str,
        "tlp": str,
        "bytes": int,
        "packets": int,
        "latency": float,
        "latency_parameter": str,
        "latency_kind": str,
        "latency_source": NotRequired[str],
        "valid_for": NotRequired[str],
        "unit": str,
        "idle": float,
        "shortest": float,
        "median": float,
        "p99": float,
        "longest": float,
    },
)
"""How long packets were in a switch on their way from one of its links to another, beside its latency."""


class Utilisation(TypedDict):
    """What one direction of one link was busy with, as fractions of the time."""

    variant: str
    workload: str
    case: str
    link: str
    direction: str
    tlp: float
    dllp: float
    skp: float
    replay: float
    credit_stall: float
    down: NotRequired[float]
    """Down or in Recovery; not there if never."""
    idle: float
    mean_queue: float


class Relative(TypedDict):
    """How fast a case is beside the one that it is held against; 1 is as fast."""

    variant: str
    workload: str
    case: str
    metric: str
    baseline_variant: str
    baseline_case: str
    value: float
    low: float | None
    high: float | None


class Temperatures(TypedDict):
    """How many cached pages of a device have which temperature: 0, 1, 2 to 3, 4 to 7, …."""

    variant: str
    workload: str
    case: str
    device: str
    pages: list[int]


class CxlUse(TypedDict):
    """What one direction of one CXL link was busy with, as fractions of the time."""

    variant: str
    workload: str
    case: str
    link: str
    direction: str
    messages: float
    data: float
    empty: float
    credits: float
    retry: float
    io: float
    idle: float
    credit_stall: float
    """Messages waited for credits: a part of `idle`, summed over both classes."""
    mean_queue: float


class IometerMetric(TypedDict):
    """One of Iometer's metrics of one case, all repeats taken together."""

    variant: str
    workload: str
    case: str
    family: str
    metric: str
    unit: str
    value: float | None
    not_modelled: NotRequired[str]
    """Why there is no value."""


class Attachment(TypedDict):
    """A file in the format of another program, which belongs beside the document."""

    name: str
    text: str


class Bottleneck(TypedDict):
    """What limited one case, by name, and how that shows."""

    variant: str
    workload: str
    case: str
    name: str
    why: str


class Verdict(TypedDict):
    """One comparison with the baseline: the relative change and what may be said about it."""

    workload: str
    case: str
    metric: str
    baseline: str
    variant: str
    change: float
    low: float
    high: float
    verdict: Outcome
    margin: float


class Assumption(TypedDict):
    """A number the run rested on that nobody measured or published for this very thing."""

    part: str
    parameter: str
    value: str
    kind: str
    note: str
    source: str


class Part(TypedDict):
    """A part that was used, and how far it can be trusted."""

    name: str
    grade: str
    validated: str


class Scenario(TypedDict):
    """The document the run was asked for, as it was written."""

    path: str
    text: str
    files: NotRequired[dict[str, str]]
    """The texts of the files that it names."""


class Cost(TypedDict):
    """What the run cost."""

    events: int
    tlp_hops: int
    cpu_seconds: float
    peak_memory_bytes: NotRequired[int]
    """Absent if the system does not tell."""


class LogValue(TypedDict):
    """A field of a log page."""

    name: str
    value: float
    unit: NotRequired[str]


class LoggedError(TypedDict):
    """An entry of the Error Information log."""

    count: int
    queue: NotRequired[int]
    opcode: int
    status: str
    namespace: int
    lba: int


class ActionOutcome(TypedDict):
    """What became of a command that a workload asks for at a time."""

    variant: str
    workload: str
    case: str
    host: str
    drive: str
    action: str
    at_seconds: float
    status: str
    status_code: NotRequired[int]
    success: bool
    latency_ns: NotRequired[float]
    operation_ns: NotRequired[float]
    during: str
    values: NotRequired[list[LogValue]]
    errors: NotRequired[list[LoggedError]]


class Results(TypedDict):
    """Everything one run found."""

    schema: str
    kind: str
    name: str
    about: str
    version: str
    seed: int
    digest: str
    complete: bool
    stopped: str | None
    scenario: Scenario
    plan: dict[str, Any]
    rows: list[Row]
    waterfalls: list[Waterfall]
    steady: NotRequired[list[SteadyState]]
    actions: NotRequired[list[ActionOutcome]]
    switches: NotRequired[list[SwitchTransit]]
    utilisation: list[Utilisation]
    cxl: NotRequired[list[CxlUse]]
    relative: NotRequired[list[Relative]]
    temperatures: NotRequired[list[Temperatures]]
    bottlenecks: list[Bottleneck]
    verdicts: list[Verdict]
    assumptions: list[Assumption]
    not_modelled: list[str]
    parts: list[Part]
    cost: Cost
    options: NotRequired[dict[str, Any]]
    iometer: NotRequired[list[IometerMetric]]
    attachments: NotRequired[list[Attachment]]


def parse(text: str, origin: str) -> Results:
    """Read a results document; `origin` names it in errors.

    Raises `LanetwinError` if the text is no results document of the schema this version reads.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise LanetwinError(f"{origin} is not JSON: {error}") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        found = f"its schema is {schema!r}" if schema else "it names no schema"
        raise LanetwinError(f"{origin} is not a results document this version reads: {found}, not {SCHEMA!r}")
    return _without_gaps(cast("Results", document))


def _without_gaps(results: Results) -> Results:
    """Let an interval that one repeat cannot have collapse onto its value."""
    for row in results.get("rows", []):
        if row.get("low") is None or row.get("high") is None:
            row["low"] = row["high"] = row["value"]
    for verdict in results.get("verdicts", []):
        if verdict.get("low") is None or verdict.get("high") is None:
            verdict["low"] = verdict["high"] = verdict["change"]
    return results


def load(path: Path) -> Results:
    """Read a results document from a file, or from the folder a run wrote.

    Raises `LanetwinError` if it cannot be read or is not a results document.
    """
    file = path / "results.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LanetwinError(f"cannot read the results {file}: {error}") from error
    return parse(text, str(file))
