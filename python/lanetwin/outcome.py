"""Results of a run and of a sweep, for notebooks and data frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanetwin import frames, report, store
from lanetwin.errors import LanetwinError
from lanetwin.fit import told
from lanetwin.formats.parquet import FIELDS, flat
from lanetwin.glance import all_lines
from lanetwin.report import sweep as sweep_report
from lanetwin.summary import answers, variants
from lanetwin.sweep import files, lines
from lanetwin.sweep.analysis import Analysis, analyse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results, Row
    from lanetwin.sweep.running import Swept
    from lanetwin.sweep.table import Table

MOST_LINES = 40
"""Maximum number of lines of a result shown in a notebook."""


class Tabular:
    """Results that can be converted to tables of other libraries."""

    def records(self) -> list[dict[str, Any]]:
        """Return the lines of the table."""
        raise NotImplementedError

    def columns(self) -> list[str]:
        """Return the names of its columns."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return it as a `pandas.DataFrame` (``pip install 'lanetwin[pandas]'``)."""
        return frames.to_pandas(self.records(), self.columns())

    def to_polars(self) -> Any:
        """Return it as a `polars.DataFrame` (``pip install 'lanetwin[polars]'``)."""
        return frames.to_polars(self.records(), self.columns())

    def to_arrow(self) -> Any:
        """Return it as a `pyarrow.Table` (``pip install 'lanetwin[parquet]'``)."""
        return frames.to_arrow(self.records(), self.columns())


@dataclass(frozen=True)
class Run(Tabular):
    """The results of one run; ``document`` is all of it, as `results.json` has it."""

    document: Results

    @property
    def rows(self) -> list[Row]:
        """Every metric of every case: a value, its interval, percentiles."""
        return self.document["rows"]

    @property
    def answers(self) -> list[str]:
        """Conclusions about the variants, in sentences."""
        return [str(answer) for answer in answers(self.document)]

    def value(
        self, metric: str, *, workload: str | None = None, case: str | None = None, variant: str | None = None
    ) -> float:
        """Return the value of the first row of this metric, of all devices together.

        Raises `KeyError` if there is none.
        """
        wanted = {"metric": metric, "workload": workload, "case": case, "variant": variant}
        for row in self.rows:
            is_it = all(of is None or row[key] == of for key, of in wanted.items())  # type: ignore[literal-required]
            if is_it and row.get("device") is None:
                return row["value"]
        raise KeyError(", ".join(f"{key} {of}" for key, of in wanted.items() if of is not None))

    def records(self) -> list[dict[str, Any]]:
        """Return the rows, each as one flat mapping; percentiles as columns."""
        percents = self._percents()
        found = []
        for row in self.rows:
            own = flat(row)
            known = dict(own.pop("percentiles"))
            tails = {f"p{p:g}": known.get(p) for p in percents}
            found.append({name: own.get(name) for name in FIELDS if name not in _LISTS} | tails)
        return found

    def columns(self) -> list[str]:
        """Return the columns of `records`."""
        return [*(name for name in FIELDS if name not in _LISTS), *(f"p{p:g}" for p in self._percents())]

    def _percents(self) -> list[float]:
        return sorted({p for row in self.rows for p, _ in row.get("percentiles", [])})

    def html(self) -> str:
        """Return the report as one self-contained page."""
        return report.render(self.document)

    def save(self, folder: Path | str, formats: Sequence[str] = ()) -> Path:
        """Write the folder of a run, as `lanetwin run` does.

        Raises `LanetwinError` if it cannot be written.
        """
        return store.save(self.document, Path(folder), formats)

    def plot(self, metric: str = "throughput") -> Any:
        """Draw a metric over the cases of each workload (``pip install 'lanetwin[plots]'``).

        Raises `LanetwinError` if no row has it.
        """
        altair = frames.library("altair")
        of = [row for row in self.records() if row["metric"] == metric and row["device"] is None]
        if not of:
            known = ", ".join(dict.fromkeys(row["metric"] for row in self.rows))
            raise LanetwinError(f"no row has the metric {metric!r}; there are {known}")
        unit = of[0]["unit"]
        has_axis = any(row["x_value"] is not None for row in of)
        x = altair.X("x_value:Q", title=of[0]["x_name"]) if has_axis else altair.X("case:N", sort=None)
        chart = altair.Chart(altair.Data(values=of))
        chart = chart.mark_line(point=True) if has_axis else chart.mark_bar()
        y = altair.Y("value:Q", title=f"{metric} [{unit}]")
        encoded = chart.encode(x=x, y=y, color=altair.Color("variant:N"), tooltip=["case:N", "value:Q"])
        return encoded.facet("workload:N")

    def _repr_html_(self) -> str:
        names = variants(self.document)
        head = ["workload", "case", "metric", *names]
        rows = []
        for line in all_lines(self.document)[:MOST_LINES]:
            values = [told(line.values[name]) if name in line.values else "–" for name in names]
            rows.append([line.workload, line.case, line.metric, *values])
        return _html(self.document["about"], self.answers[:MOST_LINES], head, rows)


_LISTS = ("percentiles", "percentile_intervals", "samples")


@dataclass(frozen=True)
class Points(Tabular):
    """The results of a sweep: a line for each point. `rows` has every row of every point."""

    swept: Swept

    @cached_property
    def _tabulated(self) -> tuple[Table, list[float]]:
        return files.tabulate(self.swept)

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the points: front, cheapest, effects."""
        return analyse(self.swept.design, self._tabulated[0])

    @property
    def complete(self) -> bool:
        """Whether every point was run, or refused."""
        return self.swept.complete

    @property
    def answer(self) -> str:
        """The answer, in sentences."""
        return " ".join(lines.answer(self.swept.design, self.analysis))

    @property
    def best(self) -> dict[str, Any] | None:
        """The point of the answer: the cheapest that is good enough, or the best."""
        point = lines.answer_of(self.swept.design, self.analysis)
        return next((one for one in self.records() if one["point"] == point), None)

    def front(self) -> list[dict[str, Any]]:
        """Return the points of the Pareto front."""
        return [one for one in self.records() if one["front"]]

    def records(self) -> list[dict[str, Any]]:
        """Return a mapping for each point with results: its values, its cost, and the main metrics."""
        plan, found = self.swept.design, self.analysis
        names = lines.headings(found)
        records = []
        for point in range(len(plan)):
            values = [column.optional()[point] for column in found.columns]
            if all(value is None for value in values):
                continue
            at = zip(plan.axes, plan.levels(point), files.plain_axes(plan), strict=True)
            levels = {axis["name"]: level["number"] if plain else level["text"] for axis, level, plain in at}
            own = {"point": point, **levels, "cost": found.costs[point], "of_best": found.shares[point]}
            records.append(own | {"front": found.front[point]} | dict(zip(names, values, strict=True)))
        return records

    def columns(self) -> list[str]:
        """Return the columns of `records`."""
        names = [axis["name"] for axis in self.swept.design.axes]
        return [
            "point",
            *names,
            "cost",
            "of_best",
            "front",
            *lines.headings(self.analysis),
        ]

    def units(self) -> dict[str, str]:
        """Return the unit of each metric in `records`."""
        names = lines.headings(self.analysis)
        return {name: c.unit for name, c in zip(names, self.analysis.columns, strict=True)}

    def rows(self) -> list[dict[str, Any]]:
        """Return every row of every point, with the values of the point; large sweeps have many."""
        return list(files.records(self.swept))

    def html(self) -> str:
        """Return the report as one self-contained page."""
        return sweep_report.render(self.swept, self._tabulated[0], self.analysis)

    def save(self, folder: Path | str, formats: Sequence[str] = ()) -> Path:
        """Write the folder of a sweep, as `lanetwin sweep` does.

        Raises `LanetwinError` if it cannot be written.
        """
        _, percentiles = self._tabulated
        return files.save(
            self.swept,
            Path(folder),
            page=self.html(),
            found=self.analysis,
            percentiles=percentiles,
            formats=formats,
        )

    def plot(self, x: str | None = None, y: str | None = None, color: str | None = None) -> Any:
        """Draw one column of `records` against another (``pip install 'lanetwin[plots]'``).

        Without names: the first metric against the first axis, in the colours of the second.
        """
        altair = frames.library("altair")
        axes = [axis["name"] for axis in self.swept.design.axes]
        metrics = lines.headings(self.analysis)
        x, y = x or axes[0], y or metrics[0]
        color = color or (axes[1] if len(axes) > 1 else None)
        # names with points would be interpreted as paths inside values
        safe = {name: f"c{n}" for n, name in enumerate(self.columns())}
        values = [{safe[name]: of for name, of in one.items()} for one in self.records()]
        is_number = {name: all(not isinstance(one[safe[name]], str) for one in values) for name in safe}
        kind = {name: "Q" if number else "N" for name, number in is_number.items()}
        unit = self.units().get(y)
        encoding = {
            "x": altair.X(f"{safe[x]}:{kind[x]}", title=x, sort=None),
            "y": altair.Y(f"{safe[y]}:Q", title=f"{y} [{unit}]" if unit else y),
        }
        if color:
            encoding["color"] = altair.Color(f"{safe[color]}:N", title=color, sort=None)
        return altair.Chart(altair.Data(values=values)).mark_line(point=True).encode(**encoding)

    def _repr_html_(self) -> str:
        plan, found = self.swept.design, self.analysis
        worth = lines.worth_a_line(plan, found)
        shown = [lines.line(plan, self._tabulated[0], found, point) for point in worth[:MOST_LINES]]
        head = ["", *plan.names, *(["cost"] if plan.has_costs else []), *lines.headings(found)]
        rows = [[o.mark, *o.levels, *([o.cost] if plan.has_costs else []), *o.values] for o in shown]
        return _html(self.swept.about, lines.answer(plan, found), head, rows)


def _html(about: str, said: Sequence[str], head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a small table for a notebook; everything is escaped."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in said)
    title = f"<p><strong>{escape(about)}</strong></p>" if about else ""
    return f"{title}{paragraphs}<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
