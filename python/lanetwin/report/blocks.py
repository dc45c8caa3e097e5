"""The parts of a report between the document and the page: figures in their two widths, tables as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from markupsafe import Markup

from lanetwin import actions, outages
from lanetwin.components import component_tables
from lanetwin.numbers import (
    change,
    compact,
    fixed,
    headed,
    measured,
    percentile_name,
    share,
    significant,
)
from lanetwin.report import condensed
from lanetwin.report.figures import (
    loaded_latency,
    rounds,
    speed,
    sweep,
    transits,
    utilisation,
    verdicts,
    waterfall,
)
from lanetwin.report.figures.axes import BROAD, NARROW, WIDE
from lanetwin.steadiness import agreement, beside_limit, cases, verdict
from lanetwin.summary import device_tables, tables, unique
from lanetwin.transits import ordered, packet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lanetwin.components import ComponentTable
    from lanetwin.results import Relative, Results, Row

HEAT_EDGES = (1.02, 1.15, 1.4)
"""Ratios to the baseline, in either direction, from which a cell of a matrix has the next colour."""
MOST_NODES = 4
"""Maximum number of memories for which a load is drawn."""
MOST_ROWS = 400
"""Length above which a table of details is cut, with a note on the rest."""


class Captioned(Protocol):
    """Common properties of the data of figures."""

    @property
    def workload(self) -> str:
        """Its workload."""

    @property
    def title(self) -> str:
        """One line."""

    @property
    def description(self) -> str:
        """The figure in words."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, drawn for a desktop and for a phone; the page shows one of them."""

    workload: str
    title: str
    wide: Markup
    narrow: Markup
    is_broad: bool = False
    """Whether the drawing for a desktop has the width of a study's page."""


@dataclass(frozen=True, slots=True)
class Details:
    """A plain table of text, numbers to the right of the first columns."""

    title: str
    names: list[str]
    values: list[str]
    rows: list[list[str]]
    cut: int = 0


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A value, its ratio to that of the first line, and the colour of that, from -3 to 3."""

    text: str
    note: str
    heat: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cases that vary in two ways: one way down, the other across."""

    title: str
    across: list[str]
    rows: list[tuple[str, list[MatrixCell]]]
    baseline: str
    """The line of the baseline; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Breakdowns:
    """The waterfalls of one workload: the first and last case as drawings, all cases as numbers."""

    workload: str
    figures: list[Figure]
    details: Details


D = TypeVar("D", bound=Captioned)


class Easel:
    """Draws figures and gives each a unique key on the page."""

    def __init__(self) -> None:
        self._count = 0

    def figure(self, draw: Callable[[D, str, float], str], data: D, *, is_broad: bool = False) -> Figure:
        """Draw one figure in both widths."""
        self._count += 1
        wide = draw(data, f"f{self._count}w", BROAD if is_broad else WIDE)
        narrow = draw(data, f"f{self._count}n", NARROW)
        # The drawings escape what they are given, so the page need not.
        return Figure(data.workload, data.title, Markup(wide), Markup(narrow), is_broad)  # noqa: S704


def drawings(easel: Easel, draw: Callable[[D, str, float], str], data: Sequence[D]) -> list[Figure]:
    """Draw figures of one kind."""
    return [easel.figure(draw, one) for one in data]


def devices(results: Results) -> list[Details]:
    """Tabulate the results of each of several devices."""
    found = []
    for table in device_tables(results):
        latencies = [line.latency for line in table.lines if line.latency]
        percents = sorted({p for latency in latencies for p, _ in latency.get("percentiles", [])})
        rows = []
        for line in table.lines:
            values = [_reading(line.throughput), *([_reading(line.latency)] if latencies else [])]
            values += [line.tail(percent) for percent in percents]
            rows.append([line.case, line.variant, line.device, *values])
        names = [headed("throughput", table.throughput_unit)]
        names += [headed("mean latency", table.latency_unit)] if latencies else []
        names += [headed(percentile_name(p), table.latency_unit) for p in percents]
        found.append(_details(table.title, ["case", "variant", "device"], names, rows))
    return found


def components(results: Results) -> list[Details]:
    """Tabulate the metrics of components, and further rows of theirs."""
    own = [_component_table(table) for table in component_tables(results)]
    return own + _component_rows(results)


def _component_table(table: ComponentTable) -> Details:
    names = [headed(metric["metric"], metric["unit"]) for metric in table.metrics]
    rows = [
        [*place, *(significant(value) for value in values.values())] for place, values in table.lines.items()
    ]
    return _details(table.title, ["case", "variant", "component"], names, rows)


def _component_rows(results: Results) -> list[Details]:
    """Tabulate rows of components that are not in the table of components."""
    told = {(metric["component"], metric["metric"]) for metric in results.get("components", [])}
    found: dict[str, dict[tuple[str, str, str], dict[str, Row]]] = {}
    for row in results["rows"]:
        component = row.get("device")
        if component is None or (component, row["metric"]) in told:
            continue
        if row["metric"].split(" ")[-1] not in ("throughput", "latency"):
            lines = found.setdefault(row["workload"], {})
            lines.setdefault((row["case"], row["variant"], component), {})[row["metric"]] = row
    tabulated = []
    for workload, lines in found.items():
        metrics = unique(metric for line in lines.values() for metric in line)
        units = {name: row["unit"] for line in lines.values() for name, row in line.items()}
        rows = [[*key, *(_reading(line.get(metric)) for metric in metrics)] for key, line in lines.items()]
        names = [headed(metric, units[metric]) for metric in metrics]
        tabulated.append(
            _details(f"{workload}: what components did", ["case", "variant", "component"], names, rows)
        )
    return tabulated


def matrices(results: Results) -> list[Matrix]:
    """Lay out cases that vary in two ways as a matrix: one way down, the other across."""
    found = []
    for table in tables(results):
        named = {line.case: line.case.split(", ") for line in table.lines}
        has_axis = any(row["x"] for line in table.lines for row in line.values.values())
        if has_axis or any(len(words) != 2 for words in named.values()):
            continue
        down, across = (unique(words[part] for words in named.values()) for part in (0, 1))
        if min(len(down), len(across)) < 2 or len(down) * len(across) != len(named):
            continue
        for variant in table.variants:
            own = {
                speed["case"]: speed
                for speed in results.get("relative", [])
                if (speed["variant"], speed["workload"], speed["metric"])
                == (variant, table.workload, table.metric)
            }
            cells = {
                line.case: _matrix_cell(line.values.get(variant), own.get(line.case)) for line in table.lines
            }
            rows = [(name, [cells[f"{name}, {other}"] for other in across]) for name in down]
            of_variant = f", {variant}" if len(table.variants) > 1 else ""
            title = f"{table.workload}: {headed(table.metric, table.unit)}{of_variant}"
            found.append(Matrix(title, across, rows, down[0] if own else ""))
    return found


def _matrix_cell(row: Row | None, speed: Relative | None) -> MatrixCell:
    if speed is None:
        return MatrixCell(_reading(row), "", 0)
    return MatrixCell(_reading(row), change(speed["value"] - 1), heat(speed["value"]))


def heat(speed: float) -> int:
    """Return the colour of a speed relative to the baseline: -3 to 3, where 0 is within 2 %.

    >>> heat(1.01), heat(1.1), heat(0.9), heat(2.0), heat(0.5)
    (0, 1, -1, 3, -3)
    """
    steps = sum(abs(math.log(max(speed, 1e-9))) >= math.log(edge) for edge in HEAT_EDGES)
    return steps if speed >= 1 else -steps


def temperatures(results: Results) -> Details | None:
    """Tabulate the temperatures of devices' cached pages at the end."""
    everything = results.get("temperatures", [])
    if not everything:
        return None
    most = max((place for t in everything for place, pages in enumerate(t["pages"]) if pages), default=0)
    bins = [_bin(place) for place in range(most + 1)]
    rows = [
        [t["workload"], t["case"], t["variant"], t["device"]]
        + [fixed(pages, 0) if pages else "–" for pages in t["pages"][: most + 1]]
        for t in everything
    ]
    return _details(
        "Temperatures of cached pages: pages by accesses that the device counts",
        ["workload", "case", "variant", "device"],
        bins,
        rows,
    )


def _bin(place: int) -> str:
    """Name the temperatures of a bin: the first holds 0, the others are as wide as all before them."""
    low, high = (1 << place) >> 1, (1 << place) - 1
    return str(low) if low >= high else f"{low} – {high}"


def cxl_use(results: Results) -> Details | None:
    """Tabulate the use of CXL links."""
    everything = results.get("cxl", [])
    if not everything:
        return None
    parts = ("messages", "data", "empty", "credits", "retry", "io", "idle", "credit_stall")
    rows = [
        [u["workload"], u["case"], u["variant"], u["link"], u["direction"]]
        + [share(float(u[part])) for part in parts]  # type: ignore[literal-required]
        + [compact(u["mean_queue"], 3)]
        for u in everything
    ]
    names = ["messages", "data", "empty slots", "credits", "retry", "CXL.io", "idle", "waiting for credits"]
    return _details(
        "Every case", ["workload", "case", "variant", "link", "direction"], [*names, "mean queue"], rows
    )


def steady(results: Results, easel: Easel) -> tuple[list[Figure], list[Details]]:
    """Draw and tabulate the rounds of cases with rounds, and whether they became steady."""
    found = cases(results)
    if not found:
        return [], []
    where = ["workload", "case", "variant"]
    place = [[s["workload"], s["case"], s["variant"]] for s in found]
    judged = [
        [
            *at,
            verdict(s),
            agreement(results, s),
            beside_limit(s["range"], s["range_limit"]),
            beside_limit(s["slope"], s["slope_limit"]),
        ]
        for at, s in zip(place, found, strict=True)
    ]
    values = ["IOPS [k/s]", "throughput [MB/s]", "mean latency [µs]", "p99 [µs]", "write amplification"]
    keys = (
        ("iops", 1e3),
        ("bytes_per_second", 1e6),
        ("latency_ns", 1e3),
        ("p99_ns", 1e3),
        ("write_amplification", 1.0),
    )
    rows = [
        [*at, str(nth)]
        + [
            "–" if one[key] is None else significant(one[key] / scale)  # type: ignore[literal-required]
            for key, scale in keys
        ]
        for at, s in zip(place, found, strict=True)
        for nth, one in enumerate(s["rounds"], 1)
    ]
    figures = [easel.figure(rounds.draw, course) for course in rounds.courses(results)]
    names = ["steady", "in repeats", "range", "slope"]
    return figures, [
        _details("Whether it is steady", [*where, *names], [], judged),
        _details("Every round", [*where, "round"], values, rows),
    ]


def commands(results: Results) -> list[Details]:
    """Tabulate the results of commands that workloads send at given times, and the contents of their logs."""
    found = actions.found(results)
    if not found:
        return []
    where = ["workload", "case", "variant"]
    rows, logs = [], []
    for one in found:
        at = [one["workload"], one["case"], one["variant"]]
        rows.append([*at, *actions.told(one)])
        logs += [[*at, *line] for line in actions.fields(one)]
    tables = [_details("What became of each", [*where, *actions.COLUMNS], [], rows)]
    return tables + ([_details("What logs say", [*where, *actions.LOGS], [], logs)] if logs else [])


def comebacks(results: Results) -> list[Details]:
    """Tabulate the links that were down, and how they came back."""
    found = outages.found(results)
    rows = [[one["workload"], one["case"], one["variant"], *outages.told(one)] for one in found]
    where = ["workload", "case", "variant"]
    return [_details("Every time", [*where, *outages.COLUMNS], [], rows)] if rows else []


def _reading(row: Row | None) -> str:
    return measured(row["value"], row["low"], row["high"]) if row else "–"


def plots(results: Results, easel: Easel) -> list[tuple[str, list[Figure]]]:
    """Draw sweeps, loaded-latency curves and verdicts, by workload."""
    figures = [easel.figure(sweep.draw, data) for data in sweep.sweeps(results)]
    figures += [easel.figure(loaded_latency.draw, data) for data in loaded_latency.curves(results)]
    figures += [easel.figure(sweep.draw, data) for data in sweep.component_sweeps(results)]
    figures += [easel.figure(verdicts.draw, data) for data in verdicts.changes(results)]
    workloads = unique(row["workload"] for row in results["rows"])
    grouped = [(name, [figure for figure in figures if figure.workload == name]) for name in workloads]
    return [(name, some) for name, some in grouped if some]


def told_in_words(results: Results) -> set[str]:
    """Return workloads whose plots show one change each, which are in text and tables: omitted on paper."""
    many = {one.workload for one in sweep.sweeps(results)}
    many |= {one.workload for one in loaded_latency.curves(results)}
    many |= {one.workload for one in sweep.component_sweeps(results)}
    changes = verdicts.changes(results)
    many |= {one.workload for one in changes if len(one.verdicts) > 1}
    return {one.workload for one in changes} - many


def speeds(results: Results, easel: Easel) -> list[Figure]:
    """Draw the speed of programs relative to the first placement, or to the baseline."""
    return [easel.figure(speed.draw, data) for data in speed.speeds(results)]


def waterfalls(results: Results, easel: Easel) -> list[Breakdowns]:
    """Draw the first and the last case of every workload, and tabulate all."""
    everything = waterfall.breakdowns(results)
    names = condensed.names_together(results)
    found = []
    for workload in unique(breakdown.workload for breakdown in everything):
        own = [breakdown for breakdown in everything if breakdown.workload == workload]
        shown = own if len(own) < 3 else [own[0], own[-1]]
        nodes = unique(breakdown.device for breakdown in own)
        if len(nodes) > 1:
            # the first case of each memory
            shown = [next(b for b in own if b.device == node) for node in nodes[:MOST_NODES]]
        figures = [easel.figure(waterfall.draw, condensed.few_hops(one, names)) for one in shown]
        found.append(Breakdowns(workload, figures, _stages(own)))
    return found


def _stages(breakdowns: list[waterfall.Breakdown]) -> Details:
    hops = unique(hop for breakdown in breakdowns for hop in breakdown.hops)
    has_nodes = any(breakdown.device for breakdown in breakdowns)
    rows = []
    for breakdown in breakdowns:
        for variant, whole in breakdown.by_variant.items():
            values = [(breakdown.value(variant, hop), breakdown.spread(variant, hop)) for hop in hops]
            stages = [
                "–" if value is None else significant(value) + (f" ({spread})" if spread else "")
                for value, spread in values
            ]
            case = f"{breakdown.case}, {breakdown.operation}" if breakdown.operation else breakdown.case
            place = [case, breakdown.device] if has_nodes else [case]
            rows.append([*place, variant, *stages, significant(whole["total"])])
    names = ["case", "device", "variant"] if has_nodes else ["case", "variant"]
    return _details(f"Every case in {breakdowns[0].unit}", names, [*hops, "total"], rows)


def in_switches(results: Results, easel: Easel) -> tuple[list[Figure], Details | None]:
    """Draw the slowest of equal paths, and tabulate all."""
    found = ordered(results)
    if not found:
        return [], None
    alone = len({t["workload"] for t in found}) == 1
    rows = [
        [
            *([] if alone else [t["workload"]]),
            t["case"],
            t["variant"],
            t["switch"],
            f"{t['from']} → {t['to']}",
            t["way"],
            t["widths"],
        ]
        + [packet(t), str(t["packets"])]
        + [significant(value) for value in (t["latency"], t["idle"], t["shortest"])]
        + [significant(value) for value in (t["median"], t["p99"], t["longest"])]
        for t in found
    ]
    names = [
        *([] if alone else ["workload"]),
        "case",
        "variant",
        "switch",
        "links",
        "way",
        "widths",
        "packets",
    ]
    times = ("latency", "idle", "shortest", "median", "p99", "last")
    values = ["count", *(headed(name, found[0]["unit"]) for name in times)]
    details = _details("Every way through every switch", names, values, rows)
    return [easel.figure(transits.draw, data) for data in transits.transits(results)], details


def link_use(results: Results, easel: Easel) -> tuple[list[Figure], Details | None]:
    """Draw the busiest case of every workload, and tabulate all."""
    everything = utilisation.uses(results)
    busiest = []
    for workload in unique(use.workload for use in everything):
        own = [use for use in everything if use.workload == workload]
        busiest.append(max(own, key=lambda use: max(d["tlp"] for d in use.directions)))
    if not everything:
        return [], None
    rows = [
        [u["workload"], u["case"], u["variant"], u["link"], u["direction"]]
        + [share(part) for part in utilisation.shares(u).values()]
        + [compact(u["mean_queue"], 3)]
        for u in results["utilisation"]
    ]
    values = [name for _, name in utilisation.KINDS] + ["mean queue"]
    details = _details("Every case", ["workload", "case", "variant", "link", "direction"], values, rows)
    names = condensed.names_together(results)
    return [easel.figure(utilisation.draw, condensed.few_links(use, names)) for use in busiest], details


def _details(title: str, names: list[str], values: list[str], rows: list[list[str]]) -> Details:
    return Details(title, names, values, rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS))
