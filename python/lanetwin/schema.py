"""The types of the results document, generated from the engine's by `cargo xtask gen`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

AssumptionKind = Literal["assumed", "calibrated"]
"""The origin of an unpublished number."""

Better = Literal["higher", "lower", "neither"]
"""The better direction of a quantity."""

Condition = Literal["steady", "not-steady", "whole"]
"""The condition of a measurement."""

Kind = Literal["simulated", "emulated", "measured"]
"""Where the numbers of a document come from. A document never mixes kinds."""

Spread = Literal["repeats", "batches", "none"]
"""The samples behind the interval of a change."""

Outcome = Literal["better", "worse", "equivalent", "inconclusive"]
"""The verdict on a variant."""


class ActionOutcome(TypedDict):
    """One command, in the first repeat of a case."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    host: str
    """The host that issued the command."""
    drive: str
    """The drive that received it."""
    action: str
    """The command, as the scenario names it (`format`)."""
    at_seconds: float
    """Time at which it was due, from the start of the run [s]."""
    status: str
    """Name of the completion's status in the specification, or a note that the command did not complete."""
    status_code: NotRequired[int]
    """Status Code Type and Status Code, if there was a completion."""
    success: bool
    """Whether the command succeeded, including the operation that it started."""
    latency_ns: NotRequired[float]
    """From submission to completion [ns], if there was one."""
    operation_ns: NotRequired[float]
    """From submission to the end of an operation that the command only starts, as Sanitize does [ns]."""
    during: str
    """Whether it completed before the measurement began (`warm-up`), within it (`measurement`) or after it
    (`afterwards`).
    """
    values: NotRequired[list[LogValue]]
    """Fields of the log page: SMART / Health Information, Sanitize Status."""
    errors: NotRequired[list[LoggedError]]
    """The entries of the Error Information log, the latest first."""


class Assumption(TypedDict):
    """A number behind the results that nobody has published for this part."""

    part: str
    """The part's name."""
    parameter: str
    """The parameter's name."""
    value: str
    """Its value with the unit ("80 ns")."""
    kind: AssumptionKind
    """Assumed or calibrated."""
    note: str
    """Why this value."""
    source: str
    """Where it comes from."""


class Attachment(TypedDict):
    """A file in the format of another program."""

    name: str
    """Its name, with or without folders: letters, digits, `-`, `_` and `.`, and `/` between them
    ("iometer-with.csv", "fio/gen4/rand/4k/randread-1-1.json").
    """
    text: str
    """Its text, whole."""


class Bottleneck(TypedDict):
    """The bottleneck of one case."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    name: str
    """The supply that limits ("slot: card → host")."""
    why: str
    """The evidence, as a sentence."""
    together: NotRequired[list[str]]
    """What several are called that are full together, each with its component ("driver/ssd1: cores");
    empty of one.
    """


class ComponentMetric(TypedDict):
    """One metric of one component in one case: a counter, a gauge, or the share of a finite supply that
    was in use.
    """

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    component: str
    """The component's name ("ssd")."""
    metric: str
    """The metric's name ("row hits")."""
    unit: str
    """Its unit ("%"); empty for a number."""
    better: Better
    """Which direction is better."""
    value: float
    """Its value, the mean over the repeats."""


class Cost(TypedDict):
    """What a run cost."""

    events: int
    """Events the kernel has delivered."""
    tlp_hops: int
    """Times a transaction-layer packet has crossed a link."""
    cpu_seconds: float
    """Processor time [s]."""
    peak_memory_bytes: NotRequired[int]
    """Peak memory of the process up to the end of the run [B]; `None` if the system does not report it."""


class Crossings(TypedDict):
    """How often an operation waited for a crossing of a link."""

    link: str
    """The link's name."""
    times: float
    """Mean number of crossings, in both directions together."""


class CxlUse(TypedDict):
    """Utilisation of one direction of one CXL link: fractions of the time, 0 to 1. They sum to 1, except
    that `credit_stall` is a part of `idle`.
    """

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    link: str
    """The link's name."""
    direction: str
    """From where to where ("host → exp")."""
    messages: float
    """Slots with messages: requests, or responses."""
    data: float
    """Slots of data."""
    empty: float
    """Slots that stayed empty in flits that carried something in other slots."""
    credits: float
    """Flits that only returned credits."""
    retry: float
    """Flits of the retry protocol, and flits that were sent again."""
    io: float
    """Flits of CXL.io."""
    idle: float
    """No flits, or overhead of the physical layer."""
    credit_stall: float
    """Messages waited for credits: the sum over both classes, which may wait at the same time."""
    mean_queue: float
    """Mean number of messages that wait for a flit."""


class IometerMetric(TypedDict):
    """One of Iometer's metrics of one case: all repeats taken together, as one test."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    of: NotRequired[str]
    """The manager, the worker (`HOST/Worker 1`) or its target (`HOST/Worker 1@ssd`) to which the metric
    belongs; empty for the total over all.
    """
    family: str
    """The family to which Iometer assigns it ("Megabytes per Second")."""
    metric: str
    """Its name in Iometer ("Total MBs per Second (Decimal)")."""
    unit: str
    """Its unit ("MB/s"); empty for a count."""
    value: float | None
    """Its value; `None` if it is not modelled."""
    not_modelled: NotRequired[str]
    """Why there is no value, in a sentence; empty if there is one."""


class LinkOutage(TypedDict):
    """An outage of a link, in the first repeat of a case."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    link: str
    """The link's name."""
    at_seconds: float
    """Time at which it went down, from the start of the run [s]."""
    seconds: float
    """Duration of the outage [s]."""
    by: NotRequired[str]
    """Cause of the outage (`hot-reset`); `None` if the scenario gives its duration."""
    generation: int
    """Generation of the link after the outage."""
    lanes: int
    """Lanes of the link after the outage."""
    whole: bool
    """Whether the link came back with the generation and lanes that the scenario declares."""
    before_bytes_per_second: float
    """Traffic before the outage, since the last one or since the start of the run, in the busier direction
    [B/s].
    """
    after_bytes_per_second: NotRequired[float]
    """Traffic after the outage, until the next one or the end of the measurement [B/s]; `None` if the link
    did not come back before that.
    """


class LogValue(TypedDict):
    """A field of a log page."""

    name: str
    """Its name in the specification."""
    value: float
    """Its value."""
    unit: NotRequired[str]
    """Its unit in the specification; empty for a number."""


class LoggedError(TypedDict):
    """An entry of the Error Information log."""

    count: int
    """Error Count: the number of errors up to this one."""
    queue: NotRequired[int]
    """Submission Queue ID; `None` if the error belongs to no command."""
    opcode: int
    """The opcode."""
    status: str
    """The name of its status in the specification."""
    namespace: int
    """The namespace."""
    lba: int
    """The first logical block that failed."""


class Part(TypedDict):
    """A part of the catalogue that was used."""

    name: str
    """Its name."""
    grade: str
    """Its grade of fidelity."""
    validated: str
    """What it was validated against, with the error."""


class Relative(TypedDict):
    """The speed of a case relative to a baseline: 1 is as fast."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    metric: str
    """The metric by which speed is compared ("throughput", "program time")."""
    baseline_variant: str
    """The variant of the baseline."""
    baseline_case: str
    """The case of the baseline: the same case on the first placement, or of the first variant."""
    value: float
    """The relative speed: 1.1 moves a tenth more in the same time, or takes 1/1.1 of the time."""
    low: float | None
    """Lower end of its interval; `None` for a single repeat."""
    high: float | None
    """Upper end of its interval; `None` for a single repeat."""


class Results(TypedDict):
    """The results of one run."""

    schema: str
    """Always `SCHEMA`."""
    kind: Kind
    """Where the numbers come from."""
    name: str
    """The scenario's name."""
    about: str
    """The scenario's own sentence on its purpose."""
    version: str
    """The version of lanetwin that wrote this."""
    seed: int | None
    """The seed of all random streams; `None` for a measurement."""
    digest: str | None
    """The digest of all events; `None` for a measurement."""
    complete: bool
    """Whether the run was completed."""
    stopped: str | None
    """Why the run stopped early; `None` if it did not."""
    options: dict[str, Any]
    """The options of the run, from which it can be repeated."""
    scenario: Scenario
    """The scenario as it was written."""
    plan: dict[str, Any]
    """The complete plan with every default filled in."""
    warnings: NotRequired[list[ScenarioWarning]]
    """Warnings from checking the scenario."""
    rows: list[Row]
    """The metrics."""
    waterfalls: list[Waterfall]
    """Mean latency of operations by stage."""
    iometer: NotRequired[list[IometerMetric]]
    """Iometer's own metrics, for workloads that run its access specifications."""
    steady: NotRequired[list[SteadyState]]
    """Whether cases with a steady-state rule became steady, and when."""
    actions: NotRequired[list[ActionOutcome]]
    """Results of commands that workloads issue at given times."""
    outages: NotRequired[list[LinkOutage]]
    """Links that went down, and how they came back."""
    switches: NotRequired[list[SwitchTransit]]
    """Time that packets spent in the switches."""
    utilisation: list[Utilisation]
    """Utilisation of the links."""
    components: NotRequired[list[ComponentMetric]]
    """Metrics of the components: their counters, and the use of their finite supplies."""
    cxl: NotRequired[list[CxlUse]]
    """Utilisation of the CXL links."""
    relative: NotRequired[list[Relative]]
    """Speed of the placements of a memory load relative to each other."""
    temperatures: NotRequired[list[Temperatures]]
    """Temperatures of the cached pages of devices at the end."""
    bottlenecks: list[Bottleneck]
    """The bottleneck of each case."""
    verdicts: list[Verdict]
    """Verdicts on the variants."""
    assumptions: list[Assumption]
    """The assumed and calibrated numbers the run rested on."""
    not_modelled: list[str]
    """What the models leave out, in sentences."""
    parts: list[Part]
    """The parts that were used."""
    attachments: NotRequired[list[Attachment]]
    """Files in the formats of other programs, which belong beside the document."""
    cost: Cost
    """What the run cost."""


class Round(TypedDict):
    """Results of one round, reads and writes together."""

    iops: float
    """I/Os [1/s]."""
    bytes_per_second: float
    """Bytes that they moved [B/s]."""
    latency_ns: float | None
    """Their mean latency [ns]; `None` if there were none."""
    p99_ns: float | None
    """The 99th percentile of their latency [ns]."""
    write_amplification: float | None
    """Units programmed per unit that the host wrote, in all drives together; `None` if nothing was written
    to a medium.
    """


class Row(TypedDict):
    """One metric of one case."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name within the workload ("64 B")."""
    device: NotRequired[str]
    """The one of several devices to which it belongs; `None` for all devices together."""
    x: Abscissa | None
    """Position of the case on the axis of a sweep; `None` outside a sweep."""
    metric: str
    """What was measured ("throughput")."""
    unit: str
    """Its unit ("Gb/s")."""
    better: Better
    """Which direction is better; a metric without one is not judged."""
    restates: NotRequired[bool]
    """Whether it restates another row of the case, in other units or for a part of it. It is then not
    judged beside that row.
    """
    value: float
    """Its value, the mean over the repeats."""
    low: float
    """Lower end of the interval: over the repeats or, for a single repeat, over batches of its
    measurement. For steady loads without a stated length it is the wider of both, since repeats that begin
    alike may share an error. `None` for a single repeat without batches.
    """
    high: float
    """Upper end of the interval, likewise."""
    n: int
    """Number of repeats."""
    seconds: NotRequired[float]
    """Simulated length of the measurement, averaged over the repeats [s]; `None` for measured hardware."""
    operations: NotRequired[int]
    """Number of operations measured, in all repeats together: I/Os, transfers, lines of memory."""
    steady: NotRequired[Steadiness]
    """Whether the metric was steady during the measurement, in every repeat; `None` for measured hardware."""
    percentiles: list[tuple[float, float]]
    """Pairs of percent and value, in the row's unit; empty if the metric has no distribution."""
    percentile_intervals: NotRequired[list[tuple[float, float, float]]]
    """Percent, lower and upper end of the interval of each percentile, in the row's unit. Percentiles with
    too few operations are left out.
    """
    unsettled: NotRequired[list[float]]
    """Percentiles that are not settled: the interval reaches more than 10 % to one side, or there is none.
    Empty for measured hardware.
    """
    samples: NotRequired[list[float]]
    """The value in each repeat, in the order of the repeats; a paired comparison needs them."""


class Scenario(TypedDict):
    """The scenario as it was written."""

    path: str
    """The file it was read from."""
    text: str
    """Its text, whole."""
    files: NotRequired[dict[str, str]]
    """The texts of the files that it names, by those names; long ones are in the plan only."""


class ScenarioWarning(TypedDict):
    """A warning about the scenario: it ran, but its numbers may not be what its author meant."""

    code: str
    """Its code, which `lanetwin explain` explains."""
    file: str
    """The file it is about."""
    line: int
    """Line, from 1; 0 if it is about the file as a whole."""
    column: int
    """Column, from 1, in characters; 0 if it is about the file as a whole."""
    path: str
    """The place in the document: `links.slot.width`."""
    message: str
    """What is doubtful about it."""
    help: str
    """What to do."""


class Stage(TypedDict):
    """One stage of a waterfall."""

    name: str
    """Component and stage ("card: issue")."""
    value: float
    """Mean time in the stage, counting operations that skipped it as 0 [ns]."""
    p50: NotRequired[float]
    """The median of a sample of the operations [ns]; medians of stages do not sum to anything."""
    p99: NotRequired[float]
    """The 99th percentile of the sample [ns]."""
    sums_ps: list[int]
    """Total time of the operations of each repeat in this stage [ps]."""


class Steadiness(TypedDict):
    """Whether a measurement was steady, by the rule of the SNIA PTS over five windows of it: the range is
    at most 20 % of the mean, and the best line rises by at most 10 % of it. In addition, a level (a
    buffer's, for example) may change by at most 2 % of what passes through it, and a reserve has to last
    ten times as long as the measurement.
    """

    condition: Condition
    """The condition."""
    of: NotRequired[str]
    """The quantity that changed most relative to its limit ("rate", "ssd: write buffer"), or the reserve
    that limits how long it stays steady ("ssd: free blocks"); empty if it was steady.
    """
    range: NotRequired[float]
    """Largest less least of five windows, as a share of their mean; `None` for levels."""
    slope: NotRequired[float]
    """Rise of the best line through the windows, as a share of their mean; for a level, its change as a
    share of what passed through it.
    """
    of_run_time: NotRequired[float]
    """Share of the job's stated run time that was simulated, if it states one. The rest equals the
    measurement only if that was steady.
    """
    lasts_seconds: NotRequired[float]
    """How long it stays steady [s]: the time for which a reserve lasts at this rate, at least ten times
    the length of the measurement. If the job goes on for longer, it is not steady.
    """
    begins_seconds: NotRequired[float]
    """The time until it becomes steady [s]. The measurement holds after that; a job that ends before, or
    not much later, has another result.
    """
    apart: NotRequired[float]
    """Relative gain in throughput if clients that read the same data in step began at different places."""


class SteadyState(TypedDict):
    """The rounds of one repeat of a case, and the result of the rule for the last five of them."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    repeat: int
    """Number of the repeat, from 1."""
    rule: str
    """The rule's source ("SNIA PTS 2.0.1")."""
    of: str
    """The quantity that has to be steady: `iops`, `throughput` or `latency`."""
    round_seconds: float
    """Length of a round, in virtual time [s]."""
    rounds: list[Round]
    """The rounds, in order."""
    attained: bool
    """Whether the last five rounds are steady."""
    range: float | None
    """Largest less least of them, as a share of their mean; `None` if there is no mean."""
    slope: float | None
    """Rise or fall of the best line through them, as a share of their mean."""
    range_limit: float
    """The largest range that counts as steady."""
    slope_limit: float
    """The largest slope that counts as steady."""


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
        "latency_source": str,
        "valid_for": str,
        "unit": str,
        "idle": float,
        "shortest": float,
        "median": float,
        "p99": float,
        "longest": float,
    },
)
"""Time that packets of one kind and size spent in a switch on the way between two of its links: from the
first bit in to the first bit out. Of packets that were sent together, the last one is counted.
"""


class Temperatures(TypedDict):
    """Number of a device's cached pages by temperature at the end of a case. The temperature of a page is
    the number of accesses to it that the device has counted, halved for each half-life since.
    """

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    device: str
    """The device."""
    pages: list[int]
    """Number of pages of temperature 0, 1, 2 to 3, 4 to 7, …."""


class Utilisation(TypedDict):
    """Utilisation of one direction of one link: fractions of the time, 0 to 1."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    link: str
    """The link's name."""
    direction: str
    """From where to where ("card → host")."""
    tlp: float
    """First transmission of TLPs."""
    message: NotRequired[float]
    """Transmission of messages that ports send of their own accord."""
    dllp: float
    """Transmission of DLLPs."""
    skp: float
    """Transmission of SKP ordered sets."""
    replay: float
    """Replays of TLPs."""
    idle: float
    """Nothing is sent."""
    credit_stall: float
    """Nothing is sent although a TLP waits, for want of credits; a part of `idle`."""
    down: NotRequired[float]
    """Nothing is sent because the link is down or in Recovery."""
    mean_queue: float
    """Mean number of packets that wait."""


class Verdict(TypedDict):
    """The verdict on one metric of a variant against the baseline."""

    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    metric: str
    """The metric's name."""
    baseline: str
    """The variant it is compared with."""
    variant: str
    """The variant that is judged."""
    change: float
    """The relative change: 0.021 is 2.1 % more."""
    low: float
    """Lower end of its interval; `None` for single samples."""
    high: float
    """Upper end of its interval; `None` for single samples."""
    verdict: Outcome
    """The verdict."""
    margin: float
    """The relative change that is negligible: 0.02 is ±2 %."""
    not_steady: NotRequired[str]
    """Which of both was not steady, and why: a longer run may then give another verdict. Empty if both
    were steady.
    """
    spread: Spread
    """The samples behind the interval."""
    judged_together: NotRequired[int]
    """How many metrics were judged together, where that is why the verdict is none: the interval, which is
    of this one alone, leaves zero out. 0 elsewhere.
    """


class Waterfall(TypedDict):
    """The mean latency of operations by stage [ns], along the critical path. The means come from integer
    sums over every operation measured, unless there were very many (`Waterfall::followed`). In each repeat
    the sums of the stages equal the total exactly.
    """

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    device: NotRequired[str]
    """The one of several devices, or the memory node, that served the operations."""
    operation: NotRequired[str]
    """`read` or `write`, where a case has both."""
    unit: str
    """Always `ns`."""
    total: float
    """The mean latency [ns]: the mean over the repeats of each repeat's mean."""
    stages: list[Stage]
    """Its parts in the order in which they happened."""
    operations: list[int]
    """Number of operations in the sums of each repeat."""
    followed: list[int]
    """Number of operations that were followed. In a long run each stands for several, and the shares of
    stages are an estimate.
    """
    totals_ps: list[int]
    """Total latency of the operations of each repeat [ps]."""
    crossings: NotRequired[list[Crossings]]
    """Mean number of times that an operation waited for a crossing of each link, one way: a nanosecond
    more of flight time adds that many nanoseconds.
    """


class Abscissa(TypedDict):
    """A point on the axis of a sweep."""

    name: str
    """What is swept ("size")."""
    value: float
    """Its value."""
    unit: str
    """Its unit ("B")."""
    curve: NotRequired[str]
    """The curve to which it belongs, if several share the axis; otherwise empty."""
