"""The types of the results document, generated from the engine's by `cargo xtask gen`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

AssumptionKind = Literal["assumed", "calibrated"]
"""How an unpublished number was come by."""

Better = Literal["higher", "lower", "neither"]
"""Which way of a quantity is the good one."""

Condition = Literal["steady", "not-steady", "whole"]
"""What can be said of the time that was measured."""

Kind = Literal["simulated", "emulated", "measured"]
"""Where the numbers of a document come from; they are never mixed in one."""

Spread = Literal["repeats", "batches", "none"]
"""What an interval of a change is of."""

Outcome = Literal["better", "worse", "equivalent", "inconclusive"]
"""What can be said of a variant."""


class ActionOutcome(TypedDict):
    """One command, in the first repeat of a case."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    host: str
    """The host that asked."""
    drive: str
    """The drive that was asked."""
    action: str
    """What was asked, as the scenario has it (`format`)."""
    at_seconds: float
    """When it was to be asked, from the start of the run [s]."""
    status: str
    """How it ended: the name of the status in the specification, or that it did not."""
    status_code: NotRequired[int]
    """Status Code Type and Status Code, if there was a completion."""
    success: bool
    """Whether it did what was asked, to the end."""
    latency_ns: NotRequired[float]
    """From submission to completion [ns], if there was one."""
    operation_ns: NotRequired[float]
    """From submission to the end of what the command only begins [ns]: of a sanitize."""
    during: str
    """Whether it was over before the measurement began (`warm-up`), within it (`measurement`) or behind it
    (`afterwards`).
    """
    values: NotRequired[list[LogValue]]
    """What a log says: SMART / Health Information, Sanitize Status."""
    errors: NotRequired[list[LoggedError]]
    """The entries of the Error Information log, the latest first."""


class Assumption(TypedDict):
    """A number the run rested on that nobody has published for this part."""

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
    """Its name, perhaps with folders: letters, digits, `-`, `_` and `.`, and `/` between them
    ("iometer-with.csv", "fio/gen4/rand/4k/randread-1-1.json").
    """
    text: str
    """Its text, whole."""


class Bottleneck(TypedDict):
    """What limited one case."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    name: str
    """What it is ("slot: card → host")."""
    why: str
    """The evidence, as a sentence."""


class ComponentMetric(TypedDict):
    """One metric of one component in one case: a counter, a gauge, or how much of a finite supply was in
    use.
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
    """What it counts ("row hits")."""
    unit: str
    """Its unit ("%"); empty for a number."""
    better: Better
    """Which way is the good one."""
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
    """The most memory that the process has held up to the end of the run [B]; none if the system does not
    tell.
    """


class Crossings(TypedDict):
    """How often an operation waited for something to cross a link."""

    link: str
    """The link's name."""
    times: float
    """How often, one way or the other."""


class CxlUse(TypedDict):
    """What one direction of one CXL link was busy with; fractions of the time, 0 to 1, that sum to 1 but
    for the stall, which is a part of `idle`.
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
    """Slots of flits that carried something in others."""
    credits: float
    """Flits that returned credits, and nothing else."""
    retry: float
    """Flits of retries, and those that were sent again."""
    io: float
    """Flits of CXL.io."""
    idle: float
    """Nothing, or what the physical layer needs."""
    credit_stall: float
    """Messages waited for credits: the sum over both classes, which can wait at the same time."""
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
    """The manager, the worker (`HOST/Worker 1`) or its target (`HOST/Worker 1@ssd`) that it is of; empty
    if it is of all together.
    """
    family: str
    """The family that Iometer counts it to ("Megabytes per Second")."""
    metric: str
    """Its name in Iometer ("Total MBs per Second (Decimal)")."""
    unit: str
    """Its unit ("MB/s"); empty for a count."""
    value: float | None
    """Its value; none if it is not modelled."""
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
    """When it went down, from the start of the run [s]."""
    seconds: float
    """For how long [s]."""
    by: NotRequired[str]
    """What took it down (`hot-reset`); none if the scenario says how long it was."""
    generation: int
    """The generation and the lanes that it came back with."""
    lanes: int
    """The lanes."""
    whole: bool
    """Whether that is what the link was declared with."""
    before_bytes_per_second: float
    """What it carried before, since it was up last or since the start of the run, in its busier direction
    [B/s].
    """
    after_bytes_per_second: NotRequired[float]
    """What it carried from then on, until it went down again or the measurement ended [B/s]; none if it
    was not up again before that.
    """


class LogValue(TypedDict):
    """A field of a log."""

    name: str
    """Its name in the specification."""
    value: float
    """What it says."""
    unit: NotRequired[str]
    """Its unit there; empty for a number."""


class LoggedError(TypedDict):
    """An entry of the Error Information log."""

    count: int
    """Error Count: how many there were up to this one."""
    queue: NotRequired[int]
    """Submission Queue ID; none if no command is to blame."""
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
    """How fast a case is beside the one that it is held against: 1 is as fast."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    metric: str
    """What speed is: the metric ("throughput", "program time")."""
    baseline_variant: str
    """The variant of the other."""
    baseline_case: str
    """The case of the other: the same on the first placement, or the same of the first variant."""
    value: float
    """How fast: 1.1 moves a tenth more in the same time, or takes 1/1.1 of the time."""
    low: float | None
    """Lower end of its interval; none of a single repeat."""
    high: float | None
    """Upper end of its interval; none of a single repeat."""


class Results(TypedDict):
    """Everything one run has to say."""

    schema: str
    """Always `SCHEMA`."""
    kind: Kind
    """Where the numbers come from."""
    name: str
    """The scenario's name."""
    about: str
    """The scenario's sentence on why it exists."""
    version: str
    """The version of lanetwin that wrote this."""
    seed: int | None
    """The seed of all random streams; none for a measurement."""
    digest: str | None
    """The digest of everything that happened; none for a measurement."""
    complete: bool
    """Whether everything that was asked for has run."""
    stopped: str | None
    """Why it stopped early, if it did."""
    options: dict[str, Any]
    """How the run was asked for: what it takes to repeat it."""
    scenario: Scenario
    """The scenario as it was written."""
    plan: dict[str, Any]
    """The complete plan with every default filled in."""
    warnings: NotRequired[list[ScenarioWarning]]
    """What checking the scenario left to doubt."""
    rows: list[Row]
    """The metrics."""
    waterfalls: list[Waterfall]
    """Where the time of an I/O went."""
    iometer: NotRequired[list[IometerMetric]]
    """Iometer's own metrics, of workloads that run its access specifications."""
    steady: NotRequired[list[SteadyState]]
    """Whether and when cases that ask for it were steady."""
    actions: NotRequired[list[ActionOutcome]]
    """What became of commands that workloads ask for at given times."""
    outages: NotRequired[list[LinkOutage]]
    """How links came back that had been down."""
    switches: NotRequired[list[SwitchTransit]]
    """How long packets were in the switches."""
    utilisation: list[Utilisation]
    """What the links were busy with."""
    components: NotRequired[list[ComponentMetric]]
    """What the components say of themselves: what they counted, and what they used of what they have only
    so many of.
    """
    cxl: NotRequired[list[CxlUse]]
    """What the CXL links were busy with."""
    relative: NotRequired[list[Relative]]
    """How fast the placements of a load of memory are beside each other."""
    temperatures: NotRequired[list[Temperatures]]
    """How warm the cached pages of devices were in the end."""
    bottlenecks: list[Bottleneck]
    """What limited each case."""
    verdicts: list[Verdict]
    """What can be said of the variants."""
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
    """What one round has shown, reads and writes together."""

    iops: float
    """I/Os [1/s]."""
    bytes_per_second: float
    """What they moved [B/s]."""
    latency_ns: float | None
    """Their mean latency [ns]; none if there was none."""
    p99_ns: float | None
    """The 99th percentile of it [ns]."""
    write_amplification: float | None
    """Units programmed for each that the host wrote, in all drives together; none if it wrote nothing to a
    medium.
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
    """Of which of several devices it tells; none of all of them together."""
    x: Abscissa | None
    """Where the case lies on the axis of a sweep; none outside one."""
    metric: str
    """What was measured ("throughput")."""
    unit: str
    """Its unit ("Gb/s")."""
    better: Better
    """Which way is the good one; a metric that does not say is not judged."""
    restates: NotRequired[bool]
    """Whether it says again, in other units or of a part, what another row of the case says: it is then
    not judged beside that.
    """
    value: float
    """Its value, the mean over the repeats."""
    low: float
    """Lower end of the interval: over the repeats; of a single one, over batches of what it has measured.
    Of steady loads of no stated length the wider of both: repeats that begin alike may be off alike. None
    where a single repeat has no batches.
    """
    high: float
    """Upper end of the interval, likewise."""
    n: int
    """How many repeats."""
    seconds: NotRequired[float]
    """How long was measured, in simulated time, on average over the repeats [s]; none of a measurement."""
    operations: NotRequired[int]
    """How many operations were measured, in all repeats together: I/Os, transfers, lines of memory."""
    steady: NotRequired[Steadiness]
    """Whether what it tells was steady while it was measured, in every repeat; none of a measurement."""
    percentiles: list[tuple[float, float]]
    """Pairs of percent and value, in the row's unit; empty if the metric has no distribution."""
    percentile_intervals: NotRequired[list[tuple[float, float, float]]]
    """Percent, lower and upper end of the interval of each percentile that enough operations stand behind,
    in the row's unit; of the others there is none.
    """
    unsettled: NotRequired[list[float]]
    """The percentiles that are not settled: their intervals reach more than 10 % to a side, or there is
    none. None is told of a measurement.
    """
    samples: NotRequired[list[float]]
    """The value in each repeat, in the order of the repeats: what a paired comparison needs."""


class Scenario(TypedDict):
    """The scenario as it was written."""

    path: str
    """The file it was read from."""
    text: str
    """Its text, whole."""
    files: NotRequired[dict[str, str]]
    """The texts of the files that it names, by the names that it gives them; long ones are in the plan
    alone.
    """


class ScenarioWarning(TypedDict):
    """A doubt about the scenario: the run went on, and its numbers may not be what was meant."""

    code: str
    """Its code; `lanetwin explain` has the page."""
    file: str
    """The file it is about."""
    line: int
    """Line, from 1; 0 if it is about the file as a whole."""
    column: int
    """Column, from 1, in characters; 0 if it is about the file as a whole."""
    path: str
    """The place in the document: `links.slot.width`."""
    message: str
    """What is doubtful."""
    help: str
    """What to do."""


class Stage(TypedDict):
    """One stage of a waterfall."""

    name: str
    """Where, and what ("card: issue")."""
    value: float
    """How long in the mean, of operations that were not in it, too [ns]."""
    p50: NotRequired[float]
    """The median of a sample of the operations [ns]; medians of stages do not sum to anything."""
    p99: NotRequired[float]
    """The 99th percentile of the sample [ns]."""
    sums_ps: list[int]
    """How long all operations of each repeat were in it, together [ps]."""


class Steadiness(TypedDict):
    """Whether what was measured was steady, by the rule of the SNIA PTS over five windows of it: the
    largest less the least is at most 20 % of the mean, and the best line rises by at most 10 % of it. What
    fills up or runs empty changes by at most 2 % of what passes through it; what is used up lasts ten
    times as long as was measured.
    """

    condition: Condition
    """What can be said."""
    of: NotRequired[str]
    """What changed most beside what is allowed ("rate", "ssd: write buffer"), or what it was steady only
    as long as there is any ("ssd: free blocks"); empty if it was steady.
    """
    range: NotRequired[float]
    """The largest less the least of five windows, as a share of their mean; none of what is in balance or
    not.
    """
    slope: NotRequired[float]
    """What the best line through the windows rises by, as a share of their mean; of what fills up or runs
    empty, by which share of what passed through it.
    """
    of_run_time: NotRequired[float]
    """Which share of the run time that the job states was simulated, if it states one: the rest is like
    what was measured only where that is steady.
    """
    lasts_seconds: NotRequired[float]
    """How long it stays so [s]: what was measured uses something up that lasts so long at this rate, at
    least ten times as long as was measured. It is not steady if the job says that it goes on for longer.
    """
    begins_seconds: NotRequired[float]
    """How long it takes until it is so [s]: what was measured holds behind that, and a job that ends
    before, or not much later, comes to something else.
    """
    apart: NotRequired[float]
    """How much more is answered, as a share, if those that read the same in step begin at places of their
    own.
    """


class SteadyState(TypedDict):
    """The rounds of one repeat of a case, and what the rule says of the last five of them."""

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    repeat: int
    """Which repeat, from 1."""
    rule: str
    """Whose rule it is ("SNIA PTS 2.0.1")."""
    of: str
    """What has to be steady: `iops`, `throughput` or `latency`."""
    round_seconds: float
    """How long a round was, in virtual time [s]."""
    rounds: list[Round]
    """What each round has shown, the first first."""
    attained: bool
    """Whether the last five rounds are steady."""
    range: float | None
    """Largest less least of them, as a share of their mean; none if there is no mean."""
    slope: float | None
    """What the best line through them rises or falls by, as a share of their mean."""
    range_limit: float
    """The largest range that counts as steady."""
    slope_limit: float
    """The largest slope that does."""


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
"""How long packets of one kind and size were in a switch on their way from one of its links to another:
from the first bit coming in to the first bit going out. Of packets that were sent together, the last one
is counted.
"""


class Temperatures(TypedDict):
    """How many cached pages of a device have which temperature at the end of a case: the accesses that the
    device counts of a page, halved for each half-life since.
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
    """Pages of temperature 0, 1, 2 to 3, 4 to 7, …."""


class Utilisation(TypedDict):
    """What one direction of one link was busy with; fractions of the time, 0 to 1."""

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
    """Sending transaction-layer packets for the first time."""
    message: NotRequired[float]
    """Sending messages that ports send on their own account."""
    dllp: float
    """Sending data-link-layer packets."""
    skp: float
    """Sending skip ordered sets."""
    replay: float
    """Sending transaction-layer packets again."""
    idle: float
    """Sending nothing."""
    credit_stall: float
    """Sending nothing although something waits, for want of credits; a part of `idle`."""
    down: NotRequired[float]
    """Nothing, because the link is down or in Recovery."""
    mean_queue: float
    """Mean number of packets that wait."""


class Verdict(TypedDict):
    """What can be said of one metric of a variant against the baseline."""

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
    """Lower end of its interval; none of single samples."""
    high: float
    """Upper end of its interval; none of single samples."""
    verdict: Outcome
    """What that means."""
    margin: float
    """The relative change that does not matter: 0.02 is ±2 %."""
    not_steady: NotRequired[str]
    """Which of both was not steady, and why: the verdict is then on a time that a longer run would not
    bear out. Empty if both were.
    """
    spread: Spread
    """What the interval is of."""


class Waterfall(TypedDict):
    """The mean latency of operations by stage [ns], along what each waited for last. The sums behind the
    means are integers, of every operation that was measured unless there were very many
    (`Waterfall::followed`); in each repeat those of the stages sum exactly to the total.
    """

    variant: str
    """The variant's name."""
    workload: str
    """The workload's name."""
    case: str
    """The case's name."""
    device: NotRequired[str]
    """Which of several devices served them, or which node of memory."""
    operation: NotRequired[str]
    """`read` or `write`, where a case has both."""
    unit: str
    """Always `ns`."""
    total: float
    """The mean latency [ns]: of each repeat, and of those the mean."""
    stages: list[Stage]
    """Its parts in the order in which they happened."""
    operations: list[int]
    """How many operations the sums of each repeat are of."""
    followed: list[int]
    """How many of those were followed; of a long run some stand for others, and the shares of stages are
    an estimate.
    """
    totals_ps: list[int]
    """What they took in each repeat, together [ps]."""
    crossings: NotRequired[list[Crossings]]
    """How often an operation waited for something to cross each link, one way, in the mean: what an ns
    more of flight would add to it.
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
    """Which of several curves over the same axis it is on; empty if there is one."""
