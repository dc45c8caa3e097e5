"""From the figures of a study to figures of a document."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup

from lanetwin import engine
from lanetwin.fit import converted
from lanetwin.glance import glances
from lanetwin.language import tr
from lanetwin.numbers import fixed
from lanetwin.report import condensed
from lanetwin.report.figures import (
    bars,
    channel,
    fields,
    levels,
    loaded_latency,
    percentiles,
    speed,
    sweep,
    topology,
    waterfall,
)
from lanetwin.report.figures.channel import Segments
from lanetwin.report.translation import translated
from lanetwin.sentences import names_of, naming
from lanetwin.sentences import told as told_text
from lanetwin.study.paper import Absent, Plot
from lanetwin.study.picking import Place, cite_link, cite_run, nature, reading_of
from lanetwin.study.reading import Words
from lanetwin.summary import unique

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lanetwin.report.blocks import Captioned, Easel, Figure
    from lanetwin.results import Results, Row
    from lanetwin.study.document import Drawn, Packet
    from lanetwin.study.tables import Desk

Data = tuple["Callable[[Any, str, float], str]", "Sequence[Captioned]"]
"""The drawing function of a kind of figure, and the possible data."""
BROAD = (topology.Topology, waterfall.Breakdown)
"""Kinds with long names, which are as wide as the page."""
EFFICIENCY = "efficiency"
"""The name of throughput as a share of its maximum."""


def plot(block: Drawn, desk: Desk, easel: Easel) -> Plot | Absent:
    """Return a figure, or a note if a quick study leaves it out.

    Raises `LanetwinError` if a finished run has no data for it.
    """
    told = desk.language
    if block.kind in ("loss", "eye"):
        return _of_channel(block, desk, easel)
    results = desk.evidence.runs.get(block.of)
    if results is None:
        return Absent(block.number, block.title.told(told), True, "", tr("left out of a quick study"))
    place = Place(desk.study.file, block.node, block.path)
    draw, data = _data(block, results, desk, place)
    if not data and not results["complete"]:
        return Absent(block.number, block.title.told(told), True, "", tr("stopped before it was computed"))
    if not data:
        raise place.error(f"there is nothing to draw of {block.pick}", "name what the run has")
    drawing, description = _told(easel, draw, data[0], names_of(results))
    title = block.title.told(told) or data[0].title
    notes = tuple(text for text in (*nature(results), block.note.told(told)) if text)
    return Plot(
        block.number,
        title,
        replace(drawing, title=title),
        description,
        notes,
        (cite_run(desk.evidence, block.of),),
    )


def packet(block: Packet, desk: Desk, easel: Easel) -> Plot:
    """Return the fields of a packet as a figure; they are given by the author, not by a run."""
    told = desk.language
    parts = tuple(fields.Field(name.told(told), size.told(told), data) for name, size, data in block.fields)
    title = block.title.told(told)
    said = ", ".join(f"{part.name}: {part.size}" for part in parts)
    names = {text for part in parts for text in (part.name, part.size)}
    drawing, description = _told(easel, fields.draw, fields.Fields("", title, f"{said}.", parts), names)
    return Plot(block.number, title, drawing, description, _note(block, told))


def _told(
    easel: Easel, draw: Callable[[Any, str, float], str], data: Captioned, names: set[str]
) -> tuple[Figure, str]:
    """Draw a figure in the current language; names of authors are kept."""
    with naming(names):
        drawing = easel.figure(draw, data, is_broad=isinstance(data, BROAD))
        # translated texts are escaped like the originals
        wide, narrow = (Markup(translated(one)) for one in (drawing.wide, drawing.narrow))  # noqa: S704
        return replace(drawing, wide=wide, narrow=narrow), told_text(data.description)


def _data(block: Drawn, results: Results, desk: Desk, place: Place) -> Data:
    pick = block.pick
    if block.kind == "bars":
        return bars.draw, [_bars(block, results, desk, place)]
    if block.kind == "topology":
        return topology.draw, _topologies(block, results, place)
    if block.kind == "sweep":
        found = [*sweep.sweeps(results), *sweep.component_sweeps(results)]
        chosen = [
            one for one in found if _fits(pick.workload, one.workload) and _fits(pick.metric, one.metric)
        ]
        return sweep.draw, [_shares(one, block, place) for one in chosen] if block.whole else chosen
    if block.kind == "curve":
        curves = loaded_latency.curves(results)
        return loaded_latency.draw, [one for one in curves if _fits(pick.workload, one.workload)]
    if block.kind == "speed":
        return speed.draw, speed.speeds(results)
    if block.kind == "waterfall":
        return waterfall.draw, _breakdowns(block, results)
    seen = [one for one in glances(results) if _fits(pick.workload, one.workload)]
    if block.kind == "levels":
        return levels.draw, levels.levels(results, seen)
    return percentiles.draw, percentiles.distributions(results, seen)


def _fits(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern)


def _topologies(block: Drawn, results: Results, place: Place) -> list[topology.Topology]:
    """Return the machines of the requested variants, with one component opened if requested.

    The caption describes the changes of variants.
    """
    found = [replace(one, machine=replace(one.machine, changes={})) for one in topology.topologies(results)]
    chosen = [one for one in found if any(_fits(block.pick.variant, name) for name in one.machine.variants)]
    if not block.inside or not chosen:
        return chosen
    part = next((node.part for node in chosen[0].machine.nodes if node.name == block.inside), "")
    if not part:
        names = ", ".join(node.name for node in chosen[0].machine.nodes)
        raise place.error(f"the machine has no `{block.inside}`", f"name one of {names}")
    about = engine.part(part)
    if not about.get("components"):
        raise place.error(f"`{part}` is not made of other parts", "leave `inside` out")
    return [topology.inside(one, block.inside, about, results) for one in chosen]


def _breakdowns(block: Drawn, results: Results) -> list[waterfall.Breakdown]:
    found = []
    names = condensed.names_together(results)
    for one in waterfall.breakdowns(results):
        kept = {
            name: own
            for name, own in one.by_variant.items()
            if block.pick.fits(name, one.workload, one.case, "latency")
        }
        if kept and (not block.pick.device or _fits(block.pick.device, one.device or "")):
            found.append(condensed.few_hops(replace(one, by_variant=kept), names))
    return found


def _shares(drawn: sweep.Sweep, block: Drawn, place: Place) -> sweep.Sweep:
    """Return a sweep in percent of the whole of each variant; variants without one are left out."""
    series = {}
    for variant, whole in block.whole:
        own = converted(whole, block.unit, drawn.unit)
        if own is None or variant not in drawn.series:
            known = ", ".join(drawn.series)
            raise place.error(
                f"`{variant}: {whole:g}` of {block.unit} is no whole of {drawn.metric} in {drawn.unit}",
                f"name variants ({known}) and a unit of the metric",
            )
        part = {"unit": "%"}
        series[variant] = [
            cast("Row", row | part | {key: row[key] / own * 100 for key in ("value", "low", "high")})
            for row in drawn.series[variant]
        ]
    name = EFFICIENCY if drawn.metric.endswith("throughput") else drawn.metric
    return replace(drawn, metric=name, unit="%", series=series)


def _bars(block: Drawn, results: Results, desk: Desk, place: Place) -> bars.Bars:
    told = desk.language
    series = block.series or tuple(
        (name, Words.of(name)) for name in unique(row["variant"] for row in results["rows"])
    )
    groups = []
    for name, pick in block.groups:
        heights = []
        for variant, _ in series:
            reading = reading_of(desk.evidence, replace(pick, variant=variant), block.unit, place)
            heights.append(bars.height(reading.value, reading.low, reading.high) if reading else None)
        groups.append((name.told(told), heights))
    names = [title.told(told) for _, title in series]
    metric = block.groups[0][1].metric if block.groups else ""
    return bars.Bars(block.title.told(told), metric_word(metric), block.unit, names, groups)


def metric_word(metric: str) -> str:
    """Return the name of a metric in the current language."""
    return tr(metric) if metric and metric != "*" else ""


def _of_channel(block: Drawn, desk: Desk, easel: Easel) -> Plot | Absent:
    told = desk.language
    budget = desk.evidence.budgets.get(block.of)
    found = desk.evidence.eyes.get(block.of) if block.kind == "eye" else budget
    title = block.title.told(told)
    if found is None or budget is None:
        return Absent(block.number, title, True, "", tr("not computed"))
    named = [
        (_segment_name(one, segment), {**segment, "nyquist_hz": one.get("nyquist_hz")})
        for one in found["variants"]
        for segment in one["segments"]
        if _fits(block.pick.variant, one["name"])
    ]
    if block.kind == "loss":
        said = "; ".join(
            f"{n}: {fixed(s['loss_db'], 1)} dB of {fixed(s['budget_db'], 1)} dB" for n, s in named
        )
        data, draw = Segments("", title, f"{said}.", named), channel.draw_loss
    else:
        said = "; ".join(
            f"{n}: {fixed(s['height_v'] * 1e3, 1)} mV, {fixed(s['width_ui'], 3)} UI" for n, s in named
        )
        data, draw = Segments("", title, f"{said}.", named[:1]), channel.draw_eye
    drawing, description = _told(easel, draw, data, {name for name, _ in named})
    cite = cite_link(desk.evidence, "budget" if block.kind == "loss" else "eye", block.of, found)
    return Plot(block.number, title, drawing, description, _note(block, told), (cite,))


def _note(block: Drawn | Packet, language: str) -> tuple[str, ...]:
    return tuple(text for text in (block.note.told(language),) if text)


def _segment_name(variant: dict[str, Any], segment: dict[str, Any]) -> str:
    several = len(variant["segments"]) > 1
    return f"{variant['name']} {segment['segment'] + 1}" if several else str(variant["name"])
