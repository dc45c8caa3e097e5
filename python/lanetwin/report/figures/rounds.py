"""Is it steady? The value of each round, with the window that was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import significant, with_unit
from lanetwin.report.figures.axes import Axis, draw_frame, label_ends, label_room, series_class
from lanetwin.report.svg import Drawing
from lanetwin.steadiness import TRACKED, WINDOW, cases, verdict
from lanetwin.summary import unique

if TYPE_CHECKING:
    from lanetwin.results import Results, SteadyState
    from lanetwin.steadiness import Tracked


@dataclass(frozen=True, slots=True)
class Course:
    """The rounds of one case, by variant."""

    workload: str
    case: str
    tracked: Tracked
    series: dict[str, SteadyState]

    @property
    def title(self) -> str:
        """What is drawn."""
        return f"{self.tracked.name} by round, {self.case}"

    @property
    def description(self) -> str:
        """The figure in words."""
        said = []
        for variant, steady in self.series.items():
            ends = [
                with_unit(significant(self.tracked.of(steady["rounds"][i])), self.tracked.unit)
                for i in (0, -1)
            ]
            said.append(f"{variant}: from {ends[0]} to {ends[1]}, steady {verdict(steady)}")
        return f"{self.workload}, {self.case}. " + "; ".join(said) + "."


def courses(results: Results) -> list[Course]:
    """Return the cases with rounds, the variants of each together."""
    found = cases(results)
    places = list(dict.fromkeys((steady["workload"], steady["case"]) for steady in found))
    return [
        Course(workload, case, TRACKED[same[0]["of"]], {steady["variant"]: steady for steady in same})
        for workload, case in places
        if (same := [s for s in found if (s["workload"], s["case"]) == (workload, case)])
    ]


def draw(course: Course, key: str, width: float) -> str:
    """Draw the rounds, with marks on those that were judged last."""
    longest = max(len(steady["rounds"]) for steady in course.series.values())
    values = [course.tracked.of(one) for steady in course.series.values() for one in steady["rounds"]]
    x = Axis("round", "", 1.0, float(longest))
    y = Axis(course.tracked.name, course.tracked.unit, 0.0, max(values) or 1.0)
    drawing = Drawing(width, round(width * 0.6), key=key, title=course.title, description=course.description)
    frame = draw_frame(drawing, x, y, label_room(unique(course.series), width))
    ends = []
    for index, (variant, steady) in enumerate(course.series.items()):
        of = [course.tracked.of(one) for one in steady["rounds"]]
        places = [(frame.x(float(nth)), frame.y(value)) for nth, value in enumerate(of, 1)]
        drawing.polyline(places, f"line{index and 2} {series_class(index)}")
        for nth in range(max(0, len(of) - WINDOW), len(of)):
            hint = f"{variant}, round {nth + 1}: {with_unit(significant(of[nth]), course.tracked.unit)}"
            drawing.mark(*places[nth], index, f"dot {series_class(index)}", hint)
        ends.append((variant, index, places[-1][1]))
    label_ends(drawing, frame, ends)
    return str(drawing)
