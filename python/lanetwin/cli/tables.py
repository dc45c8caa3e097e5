"""Results as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from lanetwin import actions, outages, tails
from lanetwin.cli.console import in_language, out, printable
from lanetwin.components import component_tables
from lanetwin.iometer import iometer_tables
from lanetwin.numbers import change, headed, measured, percentile_name, significant
from lanetwin.sentences import told
from lanetwin.steadiness import (
    MEASUREMENT,
    NOT_STEADY,
    TRACKED,
    agreement,
    beside_limit,
    cases,
    measurements,
    verdict,
)
from lanetwin.summary import (
    device_tables,
    limits,
    spread,
    stopped,
    tables,
    verdict_words,
)
from lanetwin.transits import ends_of_sweeps, passages, varying

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from lanetwin.iometer import IometerTable
    from lanetwin.results import Results, Row, Verdict
    from lanetwin.summary import DeviceTable, ResultTable

MOST_DEVICE_LINES = 32
"""Above this length a table of devices shows only the first and the last case; the report has all."""
MOST_SWITCH_LINES = 24
"""The same for a table of switches, for the cases of each workload."""

IOMETER_COLUMNS = {
    "I/O/s": "Total I/Os per Second",
    "MB/s": "Total MBs per Second (Decimal)",
    "MiB/s": "Total MBs per Second (Binary)",
    "mean [ms]": "Average I/O Response Time",
    "max [ms]": "Maximum I/O Response Time",
    "CPU [%]": "% CPU Utilization (total)",
    "errors": "Total Error Count",
}
"""Iometer's metrics that fit on a terminal, by their headings."""

VERDICT_STYLES = {"better": "green", "worse": "red", "equivalent": "", "inconclusive": "yellow"}


class TitledTable(Table):
    """A table whose title is not folded to the width of the columns."""

    def __init__(self, heading: Text | None) -> None:
        super().__init__(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        self._heading = heading

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the title, then the table."""
        if self._heading:
            yield self._heading
        yield from super().__rich_console__(console, options)

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row, its words in the current language."""
        shown = (in_language(cell) if isinstance(cell, Text) else cell for cell in cells)
        super().add_row(*shown, **options)


def plain_table(title: str, columns: Iterable[tuple[str, bool]]) -> Table:
    """Start a table; every column has a name and a flag for numbers. No name is cut."""
    table = TitledTable(Text(printable(told(title)), "bold") if title else None)
    for name, is_number in columns:
        justify: Any = "right" if is_number else "left"
        heading = Text(printable(told(name)))
        table.add_column(
            heading, justify=justify, no_wrap=is_number, overflow="fold", min_width=heading.cell_len
        )
    return table


def print_results(results: Results) -> None:
    """Print the tables, the devices, the bottlenecks, and whether the result is partial."""
    console = out()
    for table in tables(results):
        console.print(_table(table, console))
        console.print()
    for devices in device_tables(results):
        console.print(by_device(devices))
        console.print()
    _print_components(results)
    found = iometer_tables(results)
    if found:
        console.print(_iometer(found))
        console.print()
    _print_measurements(results)
    _print_steady(results)
    _print_actions(results)
    _print_outages(results)
    _print_switches(results)
    _print_limits(results)
    partial = stopped(results)
    if partial:
        console.print(Text(partial, "bold yellow"))


def _table(data: ResultTable, console: Console) -> Table:
    """Make the widest of four layouts that fits the console."""
    if not data.compared:
        return _side_by_side(data, intervals=False)
    layouts = [make(data, intervals=shown) for make in (_side_by_side, _stacked) for shown in (True, False)]
    return next((table for table in layouts[:-1] if fits(table, console)), layouts[-1])


def fits(table: Table, console: Console) -> bool:
    """Whether a console has room for a table without folding a cell."""
    return width_of(table) <= console.width


def width_of(table: Table) -> int:
    """Return the width of a table without folded cells [characters]."""
    console = out()
    return console.measure(table, options=console.options.update(width=10_000)).maximum


def _title(data: ResultTable) -> str:
    return headed(f"{data.workload}: {data.metric}", data.unit)


def _side_by_side(data: ResultTable, *, intervals: bool) -> Table:
    """Give each case a row, and each variant its value and its comparison with the baseline."""
    percentiles = data.percentiles if len(data.variants) == 1 else []
    columns = [("case", False)]
    for name in data.variants:
        columns.append((name, True))
        if name in data.compared:
            columns += _verdict_columns(intervals=intervals)
    columns += [(percentile_name(p), True) for p in percentiles]
    table = plain_table(_title(data), columns)
    for line in data.lines:
        cells: list[Text] = [Text(printable(line.case))]
        for name in data.variants:
            cells.append(_value(line.values.get(name)))
            if name in data.compared:
                cells += _verdict(line.verdicts.get(name), intervals=intervals)
        if percentiles:
            row = line.values[data.variants[0]]
            known = dict(row.get("percentiles", []))
            cells += [Text(tails.told(row, p, known[p]) if p in known else "–") for p in percentiles]
        table.add_row(*cells)
    return table


def _stacked(data: ResultTable, *, intervals: bool) -> Table:
    """Give each variant of each case a row."""
    columns = [("case", False), ("variant", False), ("value", True), *_verdict_columns(intervals=intervals)]
    table = plain_table(_title(data), columns)
    for line in data.lines:
        for nth, name in enumerate(data.variants):
            cells = [Text(printable("" if nth else line.case)), Text(printable(name))]
            cells.append(_value(line.values.get(name)))
            if name in data.compared:
                cells += _verdict(line.verdicts.get(name), intervals=intervals)
            table.add_row(*cells)
    return table


def by_device(data: DeviceTable) -> Table:
    """Give each device of each case and variant a row."""
    cases, several = data.cases, len(data.variants) > 1
    is_cut = len(data.lines) > MOST_DEVICE_LINES and len(cases) > 2
    title = data.title + (" (first and last case; the report has all)" if is_cut else "")
    columns = [("case", False), *([("variant", False)] if several else []), ("device", False)]
    columns.append((headed("throughput", data.throughput_unit), True))
    has_mean = any(line.latency for line in data.lines)
    # separate reads and writes, and memory loads, have fewer values
    percents = [p for p in (99.0, 100.0) if any(line.percentile(p) is not None for line in data.lines)]
    latencies = [*(["mean"] if has_mean else []), *(percentile_name(p) for p in percents)]
    columns += [(headed(name, data.latency_unit), True) for name in latencies]
    table = plain_table(title, columns)
    shown = [line for line in data.lines if not is_cut or line.case in (cases[0], cases[-1])]
    before = ("", "")
    for line in shown:
        case = "" if line.case == before[0] else line.case
        variant = "" if (line.case, line.variant) == before else line.variant
        before = (line.case, line.variant)
        words = [case, *([variant] if several else []), line.device]
        numbers = [_value(line.throughput), *([_value(line.latency)] if has_mean else [])]
        numbers += [Text(line.tail(percent)) for percent in percents]
        table.add_row(*(Text(printable(word)) for word in words), *numbers)
    return table


def _print_components(results: Results) -> None:
    """Print the components' metrics that have a better direction, for the last case; the report has all."""
    for data in component_tables(results):
        metrics = [metric for metric in data.metrics if metric["better"] != "neither"]
        last = next(reversed(data.lines))[0]
        lines = {place: values for place, values in data.lines.items() if place[0] == last}
        if not metrics or len(lines) > MOST_DEVICE_LINES:
            continue
        several = len({case for case, _, _ in data.lines}) > 1
        title = data.title + (f" ({last}; the report has all)" if several else "")
        places = [f"{component}, {variant}" for _, variant, component in lines]
        table = plain_table(title, [("metric", False), *((place, True) for place in places)])
        for metric in metrics:
            values = [Text(significant(line[metric["metric"]])) for line in lines.values()]
            table.add_row(Text(printable(headed(metric["metric"], metric["unit"]))), *values)
        out().print(table)
        out().print()


def _iometer(tables: Sequence[IometerTable]) -> Table:
    """Give each variant of each case a row with Iometer's main metrics; the report has all."""
    several = any(len(data.variants) > 1 for data in tables)
    columns = [("workload", False), ("case", False), *([("variant", False)] if several else [])]
    columns += [(head, True) for head in IOMETER_COLUMNS]
    table = plain_table("Iometer's metrics (the report has all)", columns)
    for data in tables:
        for nth, variant in enumerate(data.variants):
            words = ["", ""] if nth else [data.workload, data.case]
            words += [variant] if several else []
            values = [data.value(name, variant) for name in IOMETER_COLUMNS.values()]
            numbers = [Text("–" if value is None else significant(value)) for value in values]
            table.add_row(*(Text(printable(word)) for word in words), *numbers)
    return table


def _print_measurements(results: Results) -> None:
    """Print the measured time and operations of each case, and whether it was steady."""
    found = measurements(results)
    if not found:
        return
    table = plain_table("How long it was measured", [(name, False) for name in MEASUREMENT])
    for one in found:
        style = "bold yellow" if one.steady.startswith(NOT_STEADY) else ""
        words = [one.workload, one.variants, one.cases, one.time, one.operations]
        table.add_row(*(Text(printable(word)) for word in words), Text(printable(one.steady), style))
    console = out()
    console.print(table)
    console.print()


def _print_steady(results: Results) -> None:
    """Print for each case with rounds whether and when it was steady, and the results of the rounds."""
    found = cases(results)
    if not found:
        return
    several = len({steady["variant"] for steady in found}) > 1
    names = [
        "workload",
        "case",
        *(["variant"] if several else []),
        "steady",
        "repeats",
        "range",
        "slope",
        "rounds",
    ]
    table = plain_table(f"Steady state, {found[0]['rule']}", [(name, False) for name in names])
    for steady in found:
        tracked = TRACKED[steady["of"]]
        rounds = " ".join(significant(tracked.of(one)) for one in steady["rounds"])
        words = [steady["workload"], steady["case"], *([steady["variant"]] if several else [])]
        words += [verdict(steady), agreement(results, steady)]
        words += [
            beside_limit(steady["range"], steady["range_limit"]),
            beside_limit(steady["slope"], steady["slope_limit"]),
        ]
        words.append(f"{tracked.name} [{tracked.unit}]: {rounds}")
        table.add_row(*(Text(printable(word)) for word in words))
    console = out()
    console.print(table)
    console.print()


def _print_outages(results: Results) -> None:
    """Print how each link that was down came back."""
    found = outages.found(results)
    if not found:
        return
    several = len({(one["workload"], one["case"]) for one in found}) > 1
    place = [*(["workload", "case"] if several else []), "variant"]
    table = plain_table("Links that came back", [(name, False) for name in (*place, *outages.COLUMNS)])
    for one in found:
        at = [*([one["workload"], one["case"]] if several else []), one["variant"]]
        table.add_row(*(Text(printable(word)) for word in (*at, *outages.told(one))))
    console = out()
    console.print(table)
    console.print()


def _print_actions(results: Results) -> None:
    """Print the result of each command that a workload sends, and the contents of its log."""
    found = actions.found(results)
    if not found:
        return
    several = len({one["variant"] for one in found}) > 1
    place = ["workload", "case", *(["variant"] if several else [])]
    done = plain_table("Commands at given times", [(name, False) for name in (*place, *actions.COLUMNS)])
    logs = plain_table("What logs say", [(name, False) for name in (*place, *actions.LOGS)])
    for one in found:
        at = [one["workload"], one["case"], *([one["variant"]] if several else [])]
        done.add_row(*(Text(printable(word)) for word in (*at, *actions.told(one))))
        for line in actions.fields(one):
            logs.add_row(*(Text(printable(word)) for word in (*at, *line)))
    console = out()
    for table in (done, logs):
        if table.row_count:
            console.print(table)
            console.print()


def _print_switches(results: Results) -> None:
    """Give the slowest of equal paths a row."""
    found = passages(results)
    if not found:
        return
    shown = ends_of_sweeps(found, MOST_SWITCH_LINES)
    parts, places = varying(shown)
    columns = [(part, False) for part in (*parts, "way", "packets", "widths")]
    columns += [(name, True) for name in ("idle", "median", "p99", "last")]
    title = headed("In the switches", found[0].transit["unit"])
    is_cut = len(shown) < len(found)
    table = plain_table(title + (" (first and last case; the report has all)" if is_cut else ""), columns)
    before: list[str] = []
    for passage, place in zip(shown, places, strict=True):
        same = 0
        while same < len(before) and place[same] == before[same]:
            same += 1
        before = place
        one = passage.transit
        words = [*("" for _ in place[:same]), *place[same:], passage.way, passage.tlp, one["widths"]]
        numbers = [one["idle"], one["median"], one["p99"], one["longest"]]
        table.add_row(*(Text(printable(word)) for word in words), *(Text(significant(n)) for n in numbers))
    console = out()
    console.print(table)
    console.print()


def _verdict_columns(*, intervals: bool) -> list[tuple[str, bool]]:
    return [("change", True), *([("95 % interval", True)] if intervals else []), ("verdict", False)]


def _value(row: Row | None) -> Text:
    return Text(measured(row["value"], row["low"], row["high"]) if row else "–")


def _verdict(verdict: Verdict | None, *, intervals: bool) -> Sequence[Text]:
    if verdict is None:
        return (Text("–"), *([Text("–")] if intervals else []), Text(""))
    style = VERDICT_STYLES[verdict["verdict"]]
    interval = Text(spread(verdict), "dim")
    cells = [Text(change(verdict["change"]), style), interval, Text(verdict_words(verdict), style)]
    return cells if intervals else [cells[0], cells[2]]


def _print_limits(results: Results) -> None:
    found = limits(results)
    if not found:
        return
    several = len({limit.variant for limit in found}) > 1
    names = ["workload", *(["variant"] if several else []), "cases", "limited by", "because"]
    table = plain_table("What limits it", [(name, False) for name in names])
    for limit in found:
        words = [limit.workload, *([limit.variant] if several else []), limit.cases, limit.name, limit.why]
        table.add_row(*(Text(printable(word)) for word in words))
    console = out()
    console.print(table)
    console.print()
