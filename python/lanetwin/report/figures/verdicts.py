"""How far is each variant from the baseline, and is it significant? One interval per case, on the margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import NARROW_SPACE, change, share, signed
from lanetwin.report.scale import Scale, linear_ticks
from lanetwin.report.svg import SMALL, Drawing, shortened, text_width
from lanetwin.summary import verdict_words

if TYPE_CHECKING:
    from lanetwin.results import Results, Verdict

STEP = 21.0
"""Distance from one case to the next [px]."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The verdicts on one metric of one workload for one variant."""

    workload: str
    metric: str
    baseline: str
    variant: str
    verdicts: list[Verdict]

    @property
    def title(self) -> str:
        """The metric, the variant and the baseline."""
        return f"Change of {self.metric}, {self.variant} against {self.baseline}"

    @property
    def description(self) -> str:
        """The figure in words: every case's change and verdict."""
        said = [f"{v['case']}: {change(v['change'])}, {verdict_words(v)}" for v in self.verdicts]
        return f"{self.workload}. " + "; ".join(said) + "."


def changes(results: Results) -> list[Changes]:
    """Return the verdicts, grouped by comparison."""
    found: dict[tuple[str, str, str, str], list[Verdict]] = {}
    for verdict in results["verdicts"]:
        key = (verdict["workload"], verdict["metric"], verdict["baseline"], verdict["variant"])
        found.setdefault(key, []).append(verdict)
    return [Changes(*key, verdicts) for key, verdicts in found.items()]


def _ticks(low: float, high: float, scale: Scale) -> dict[float, str]:
    """Return about five ticks, or as many as fit, with their labels."""
    for about in (5, 4, 3):
        ticks = linear_ticks(low * 100, high * 100, about)
        names = {tick: f"{signed(tick, 0 if tick % 1 == 0 else 1)}{NARROW_SPACE}%" for tick in ticks}
        widest = max(text_width(name, SMALL) for name in names.values())
        if scale(ticks[1] / 100) - scale(ticks[0] / 100) >= widest + 6:
            break
    return names


def draw(compared: Changes, key: str, width: float) -> str:
    """Draw the changes."""
    verdicts = compared.verdicts
    label = min(max(text_width(v["case"], SMALL) for v in verdicts) + 10, width * 0.3)
    right = width - max(text_width(change(v["change"]), SMALL) for v in verdicts) - 16
    margin = max(v["margin"] for v in verdicts)
    low = min(-margin * 1.3, *(v["low"] for v in verdicts))
    high = max(margin * 1.3, *(v["high"] for v in verdicts))
    pad = (high - low) * 0.05
    low, high = low - pad, high + pad
    top, bottom = 24.0, 24.0 + len(verdicts) * STEP
    drawing = Drawing(width, bottom + 40, key=key, title=compared.title, description=compared.description)
    scale = Scale(low, high, label + 6, right - 6)
    drawing.box(scale(-margin), top, scale(margin) - scale(-margin), bottom - top, "margin")
    band = f"equivalent within ±{share(margin).replace('.0', '')}"
    half = text_width(band, SMALL) / 2
    drawing.text(min(max(scale(0), half), width - half), 14, band, "tick", "middle")
    for tick, name in _ticks(low, high, scale).items():
        place = scale(tick / 100)
        if label <= place <= right:
            drawing.line(place, top, place, bottom, "rule" if tick == 0 else "grid")
            drawing.text(place, bottom + 16, name, "tick", "middle")
    drawing.text(
        right, bottom + 34, f"change of {compared.metric} against {compared.baseline}", "axis", "end"
    )
    for row, verdict in enumerate(verdicts):
        y = top + (row + 0.5) * STEP
        css = f"v-{verdict['verdict']}"
        drawing.text(
            label - 6, y + 4, shortened(verdict["case"], label - 8, SMALL), "small", "end", verdict["case"]
        )
        drawing.line(scale(verdict["low"]), y, scale(verdict["high"]), y, f"whisker {css}")
        shape = {"equivalent": 0, "inconclusive": 1, "better": 2, "worse": 3}[verdict["verdict"]]
        hint = f"{verdict['case']}: {change(verdict['change'])}, {verdict_words(verdict)}"
        drawing.mark(scale(verdict["change"]), y, shape, f"dot {css}", hint)
        drawing.text(width, y + 4, change(verdict["change"]), f"value {css}", "end")
    return str(drawing)
