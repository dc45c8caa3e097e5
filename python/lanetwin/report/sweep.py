"""The report of a sweep: the answer first, then one table, figures, and the effects of the axes."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from lanetwin import engine
from lanetwin.language import HTML_NAMES, current, tr
from lanetwin.numbers import capital, change, share
from lanetwin.report import blocks, page
from lanetwin.report.figures import heat, points
from lanetwin.report.figures.heat import Field, Heat
from lanetwin.report.figures.points import Mark, Points
from lanetwin.report.figures.sweep import is_geometric
from lanetwin.sentences import naming, texts_under, word
from lanetwin.sweep import lines

if TYPE_CHECKING:
    from lanetwin.sweep.analysis import Analysis, Effect
    from lanetwin.sweep.design import Axis, Design
    from lanetwin.sweep.running import Asked, Swept
    from lanetwin.sweep.table import Column, Table

MOST_ROWS = 400
"""Maximum number of points on the page; further ones are only in the files."""
FEW_ROWS = 24
"""Number of points above which the Pareto front comes first, and all points after the figures."""
MOST_SERIES = 6
"""Maximum number of values of an axis for a family of curves."""
MOST_ACROSS = 14
"""Maximum number of values of a heat map in each direction."""
MOST_TICKS = 8
LEAST_GAP = 0.06
"""Maximum number of values used as ticks of an axis, and their minimum distance as a share of it."""
MOST_METRICS = 4
"""Maximum number of metrics that are drawn."""


@dataclass(frozen=True, slots=True)
class View:
    """A sweep with all data of its report."""

    plan: Design
    table: Table
    found: Analysis

    @property
    def names(self) -> list[str]:
        """The names of the axes."""
        return self.plan.names

    @property
    def drawn(self) -> list[Column]:
        """The metrics that are drawn: first those of the question."""
        some = dict.fromkeys([*self.found.required, *self.found.objectives])
        return [self.found.columns[n] for n in list(some)[:MOST_METRICS]]

    def at(self, point: int, group: int) -> int:
        """Return the index of a group's value at a point."""
        return self.plan.points[point][self.plan.groups[group][0]]

    def size(self, group: int) -> int:
        """Return the number of values of a group."""
        return len(self.plan.axes[self.plan.groups[group][0]]["values"])

    def name(self, group: int) -> str:
        """Return the name of a group."""
        return self.names[self.plan.groups[group][0]]

    def weights(self) -> list[float]:
        """Return the share of the drawn metrics that each group explains."""
        drawn = {id(column) for column in self.drawn}
        sums = {group[0]: 0.0 for group in self.plan.groups}
        for effect in self.found.effects:
            if id(self.found.columns[effect.column]) in drawn:
                sums[effect.axis] += effect.explained
        return [sums[group[0]] for group in self.plan.groups]


def render(swept: Swept, table: Table, found: Analysis) -> str:
    """Return the report as one self-contained HTML document."""
    view = View(swept.design, table, found)
    easel = blocks.Easel()
    worth = lines.worth_a_line(swept.design, found)
    told = [lines.line(swept.design, table, found, point) for point in worth[:MOST_ROWS]]
    marked = [lines.line(swept.design, table, found, point) for point in worth if found.front[point]]
    figures = _line_figures(view, easel) + _front_figures(view, easel)
    with naming(names_of(swept)):
        return page.in_language(
            page.environment()
            .get_template("sweep.html.j2")
            .render(
                html_language=HTML_NAMES[current()],
                swept=swept,
                version=engine.version(),
                style=page.style(),
                script=page.script(),
                policy=page.policy(),
                answers=lines.answer(swept.design, found),
                doubts=lines.doubts(swept.design, table),
                names=view.names,
                headings=lines.headings(found),
                rows=told,
                few=told if len(worth) <= FEW_ROWS else marked[:FEW_ROWS],
                cut=max(0, len(worth) - MOST_ROWS),
                has_shares=bool(swept.design.cheapest),
                figures=figures,
                heats=_heat_figures(view, easel),
                effects=effects(view),
                refused=_refused(swept),
                command=command(swept.asked),
            )
        )


def names_of(swept: Swept) -> set[str]:
    """Return the names given by the scenario's author, and those of the sweep."""
    found = texts_under(swept.design.axes, "name", "text", "paths") | {
        swept.name,
        swept.about,
        swept.asked.path,
    }
    for _, rows, _ in islice(swept.results(), 1):
        found |= {row[key] for row in rows for key in ("variant", "workload")}
    return found


def command(asked: Asked) -> str:
    """Return the command line that reproduces this sweep."""
    words = ["lanetwin", "sweep", asked.path]
    for option, texts in (("--set", asked.sets), ("--vary", asked.vary), ("--zip", asked.zipped)):
        for text in texts:
            words += [option, text]
    words += ["--sample", str(asked.sample)] if asked.sample is not None else []
    words += ["--seed", str(asked.seed)] if asked.seed is not None else []
    return shlex.join(words)


def effects(view: View) -> list[list[str]]:
    """Tabulate the effect of each axis on each drawn metric, the strongest first."""
    drawn = [n for n, column in enumerate(view.found.columns) if column in view.drawn]
    headings = lines.headings(view.found)
    shown: list[Effect] = [effect for effect in view.found.effects if effect.column in drawn]
    shown.sort(key=lambda effect: (drawn.index(effect.column), -effect.explained))
    names = dict(zip((group[0] for group in view.plan.groups), map(view.name, _groups(view)), strict=True))
    rows = []
    for effect in shown:
        column = view.found.columns[effect.column]
        ends = " … ".join(lines.told(column, value) for value in (effect.low, effect.high))
        by = change(effect.high / effect.low - 1) if effect.low > 0 else "–"
        rows.append([headings[effect.column], names[effect.axis], share(effect.explained), ends, by])
    return rows


def _groups(view: View) -> range:
    return range(len(view.plan.groups))


def _refused(swept: Swept) -> list[tuple[str, str]]:
    """Return points that could not be run, and why."""
    return [(swept.design.called(point), str(why[0])) for point, why in list(swept.refused.items())[:20]]


def _line_figures(view: View, easel: blocks.Easel) -> list[blocks.Figure]:
    """Draw each metric against the two groups of axes with the largest effects."""
    weights = view.weights()
    order = sorted(_groups(view), key=lambda group: -weights[group])
    wide = [group for group in order if view.size(group) > 1][:2]
    made = [_against(view, column, group) for column in view.drawn for group in wide]
    return [easel.figure(points.draw, one) for one in made if one is not None]


def _against(view: View, column: Column, group: int) -> Points | None:
    """Draw a metric against a group: a line for each value of another, with the others as in the answer."""
    axis = view.plan.axes[view.plan.groups[group][0]]
    family, fixed = (None, {}) if view.plan.sampled else _others(view, group)
    series: dict[str, list[Mark]] = {}
    for point in range(len(view.plan)):
        value = column.values[point]
        if value != value or any(view.at(point, other) != place for other, place in fixed.items()):
            continue
        at = view.at(point, group)
        level = axis["values"][at]
        x = float(at) if level["number"] is None else level["number"]
        name = "" if family is None else f"{view.name(family)} {_text(view, point, family)}"
        series.setdefault(name, []).append(Mark(x, value, view.plan.called(point)))
    if sum(map(len, series.values())) < 2:
        return None
    ticks = _ticks(axis)
    said = tr("{metric} against {axis}", metric=_metric(view, column), axis=view.name(group))
    title = f"{said}{_with(view, fixed)}"
    marks = {name: sorted(own, key=lambda mark: mark.x) for name, own in series.items()}
    place = column.place
    return Points(
        place.workload, title, view.name(group), axis["unit"], ticks, place.metric, column.unit, marks,
        joined=not view.plan.sampled,
    )  # fmt: skip


def _ticks(axis: Axis) -> dict[float, str]:
    """Label the values themselves, if they are words, or few enough and far enough apart."""
    values = axis["values"]
    if not axis["numeric"]:
        return {float(n): level["text"] for n, level in enumerate(values)}
    named = {level["number"]: level["text"] for level in values if level["number"] is not None}
    places = sorted(named)
    if len(places) > MOST_TICKS or len(places) < 2:
        return {}
    if is_geometric(places):
        places = [math.log(place) for place in places]
    least = min(high - low for low, high in pairwise(places))
    return named if least > (places[-1] - places[0]) * LEAST_GAP else {}


def _others(view: View, group: int, *more: int) -> tuple[int | None, dict[int, int]]:
    """Choose the family of curves among the other groups, and the values of the rest."""
    weights = view.weights()
    others = [other for other in _groups(view) if other not in (group, *more) and view.size(other) > 1]
    others.sort(key=lambda other: -weights[other])
    family = next((other for other in others if view.size(other) <= MOST_SERIES), None)
    if more:
        family = None
    answer = lines.answer_of(view.plan, view.found)
    fixed = {} if answer is None else {o: view.at(answer, o) for o in others if o != family}
    return family, fixed


def _text(view: View, point: int, group: int) -> str:
    return view.plan.levels(point)[view.plan.groups[group][0]]["text"]


def _with(view: View, fixed: dict[int, int]) -> str:
    """Describe the values of the other groups in a figure."""
    said = [
        f"{view.name(group)} {view.plan.axes[view.plan.groups[group][0]]['values'][place]['text']}"
        for group, place in fixed.items()
    ]
    return f", {', '.join(said)}" if said else ""


def _metric(view: View, column: Column) -> str:
    """Name a metric, with workload and variant if there are several."""
    heading = lines.headings(view.found)[view.found.columns.index(column)]
    is_name = bool(lines.whose(view.found)[view.found.columns.index(column)])
    return heading if is_name else capital(heading)


def _front_figures(view: View, easel: blocks.Easel) -> list[blocks.Figure]:
    """Draw the main metric of points against their cost, or against latency, and the front."""
    made = []
    for n in view.found.required[:2]:
        column = view.found.columns[n]
        if view.plan.has_costs:
            unit = view.plan.cost_unit
            made.append(_front(view, column, view.found.costs, "cost", unit))
            continue
        other = next(
            (
                c
                for c in view.found.columns
                if c.place.metric == "latency"
                and (c.place.variant, c.place.workload) == (column.place.variant, column.place.workload)
            ),
            None,
        )
        if other is not None and other is not column:
            made.append(_front(view, column, other.optional(), "latency", other.unit))
    return [easel.figure(points.draw, one) for one in made if one is not None]


def _front(
    view: View, column: Column, against: list[float | None], x_name: str, x_unit: str
) -> Points | None:
    """Draw a metric against the cost or the latency of its points."""
    series: dict[str, list[Mark]] = {"nothing beats it": [], "others": [], "the answer": []}
    answer = lines.answer_of(view.plan, view.found)
    for point, x in enumerate(against):
        y = column.values[point]
        if x is not None and y == y:
            on_front = view.found.front[point]
            mark = Mark(x, y, view.plan.called(point))
            kind = "the answer" if point == answer else "nothing beats it" if on_front else "others"
            series[kind].append(mark)
    series = {name: sorted(marks, key=lambda mark: mark.x) for name, marks in series.items() if marks}
    if sum(map(len, series.values())) < 2:
        return None
    title = tr("{metric} against {axis}", metric=_metric(view, column), axis=word(x_name))
    place = column.place
    return Points(
        place.workload,
        title,
        x_name,
        x_unit,
        {},
        place.metric,
        column.unit,
        series,
        joined=False,
        from_zero=False,
    )


def _heat_figures(view: View, easel: blocks.Easel) -> list[blocks.Figure]:
    """Draw each metric over the two axes with the largest effects."""
    weights = view.weights()
    fit = [group for group in _groups(view) if 1 < view.size(group) <= MOST_ACROSS]
    fit.sort(key=lambda group: -weights[group])
    if len(fit) < 2 or view.plan.sampled:
        return []
    down, across = sorted(fit[:2], key=view.size)
    return [easel.figure(heat.draw, _heat(view, column, down, across)) for column in view.drawn]


def _heat(view: View, column: Column, down: int, across: int) -> Heat:
    _, fixed = _others(view, down, across)
    answer = lines.answer_of(view.plan, view.found)
    known = {
        (view.at(point, down), view.at(point, across)): point
        for point in range(len(view.plan))
        if all(view.at(point, other) == place for other, place in fixed.items())
    }
    values = [column.values[p] for p in known.values() if column.values[p] == column.values[p]]
    best = (min if column.better == "lower" else max)(values, default=0.0)
    rows = []
    for row in range(view.size(down)):
        fields = []
        for place in range(view.size(across)):
            point = known.get((row, place))
            value = column.values[point] if point is not None else float("nan")
            of_best = None
            if value == value and value > 0 and best > 0:
                of_best = best / value if column.better == "lower" else value / best
            text = lines.told(column, value) if value == value else "–"
            fields.append(Field(text, of_best, is_answer=point is not None and point == answer))
        rows.append((_level(view, down, row), fields))
    names = [_level(view, across, place) for place in range(view.size(across))]
    title = f"{_metric(view, column)}{_with(view, fixed)}"
    return Heat(column.place.workload, title, view.name(across), names, view.name(down), rows)


def _level(view: View, group: int, place: int) -> str:
    return view.plan.axes[view.plan.groups[group][0]]["values"][place]["text"]
