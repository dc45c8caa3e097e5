"""Results as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from lanetwin.cli.console import out, printable
from lanetwin.numbers import change, change_interval, measured, significant
from lanetwin.summary import limits, stopped, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lanetwin.results import Results, Row, Verdict
    from lanetwin.summary import ResultTable

VERDICT_STYLES = {"better": "green", "worse": "red", "equivalent": "", "inconclusive": "yellow"}


def plain_table(title: str, columns: Iterable[tuple[str, bool]]) -> Table:
    """Start a table; every column is a name and whether it holds numbers."""
    heading = Text(printable(title), "bold") if title else None
    table = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, is_number in columns:
        justify: Any = "right" if is_number else "left"
        table.add_column(Text(printable(name)), justify=justify, no_wrap=is_number, overflow="fold")
    return table


def print_results(results: Results) -> None:
    """Print the tables, the bottlenecks, and whether the result is partial."""
    console = out()
    for table in tables(results):
        console.print(_table(table))
        console.print()
    _print_limits(results)
    partial = stopped(results)
    if partial:
        console.print(Text(partial, "bold yellow"))


def _table(data: ResultTable) -> Table:
    title = f"{data.workload}: {data.metric}" + (f" [{data.unit}]" if data.unit else "")
    percentiles = data.percentiles if len(data.variants) == 1 else []
    columns = [("case", False)] + [(name, True) for name in data.variants]
    columns += [(f"p{p:g}", True) for p in percentiles]
    for name in data.compared:
        columns += [
            ("change" if len(data.compared) == 1 else name, True),
            ("95 % interval", True),
            ("verdict", False),
        ]
    table = plain_table(title, columns)
    for line in data.lines:
        cells: list[Text] = [Text(printable(line.case))]
        cells += [_value(line.values.get(name)) for name in data.variants]
        if percentiles:
            known = dict(line.values[data.variants[0]].get("percentiles", []))
            cells += [Text(significant(known[p]) if p in known else "–") for p in percentiles]
        for name in data.compared:
            cells += _verdict(line.verdicts.get(name))
        table.add_row(*cells)
    return table


def _value(row: Row | None) -> Text:
    return Text(measured(row["value"], row["low"], row["high"]) if row else "–")


def _verdict(verdict: Verdict | None) -> Sequence[Text]:
    if verdict is None:
        return Text("–"), Text("–"), Text("")
    style = VERDICT_STYLES[verdict["verdict"]]
    interval = change_interval(verdict["low"], verdict["high"])
    return Text(change(verdict["change"]), style), Text(interval, "dim"), Text(verdict["verdict"], style)


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
