"""Progress on standard error if it is a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lanetwin.cli.console import err, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lanetwin.engine import Progress as Report


@contextmanager
def shown(title: str, *, quiet: bool = False) -> Iterator[Callable[[Report], object] | None]:
    """Yield a function that shows reports, or None if `quiet` or without a terminal."""
    console = err()
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", style="dim"),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(title, total=None, what="")

        def report(line: Report) -> None:
            total = line.get("total")
            bars.update(
                task,
                completed=float(line.get("done") or 0),
                total=None if total is None else float(total),
                what=describe(line),
            )

        yield report


def describe(line: Report) -> str:
    """Name the present step: variant, workload and case, or the claim."""
    names = [line.get(key) for key in ("claim", "variant", "workload", "case")]
    return printable(" · ".join(str(name) for name in names if name))
