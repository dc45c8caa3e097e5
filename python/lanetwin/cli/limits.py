"""The bottlenecks in the short answer: what limits each workload or case, and what is closest behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from lanetwin.binding import named
from lanetwin.cli.console import printable
from lanetwin.cli.tables import fits, plain_table
from lanetwin.summary import case_range, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from lanetwin.binding import Binding
    from lanetwin.glance import Glance

MOST_TOGETHER = 24
"""Names of workloads with the same bottleneck share a line up to this length."""
MOST_MORE = 5
"""With more lines beyond one for each workload, only the bottlenecks of the shown cases are printed."""


def place(one: Glance, found: Sequence[Glance]) -> list[str]:
    """Return the workload's name; empty for a single one with a long name, which the table of numbers has."""
    return [] if len(found) == 1 and cell_len(one.workload) > MOST_TOGETHER else [one.workload]


def table(found: Sequence[Glance], console: Console, *, every_case: bool) -> Table:
    """Tabulate the bottlenecks; with ``every_case`` where they change from case to case, if there is room."""
    made = _limits(found, every_case=every_case)
    is_short = made.row_count <= len(found) + MOST_MORE and fits(made, console)
    return made if is_short else _limits(found, every_case=False)


def _limits(found: Sequence[Glance], *, every_case: bool) -> Table:
    """Tabulate the bottleneck of each workload, variants with the same one together, and the next supply.

    If the numbers of every case are shown, so is where the bottleneck changes from case to case.
    """
    several = any(len(one.binding) > 1 for one in found)
    is_named = any(place(one, found) for one in found)
    of = {one.workload: _by_cases(one, every_case=every_case) for one in found}
    in_cases = any(len(parts) > 1 for parts in of.values())
    names = ["workload"] if is_named else []
    names += [*(["case"] if in_cases else []), *(["variants"] if several else [])]
    made = plain_table("", [(name, False) for name in (*names, "limited by", "closest behind it")])
    alike: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for workload, parts in of.items():
        rows = [
            (*([""] if nth else [cases])[: int(in_cases)], *words)
            for cases, binding in parts
            for nth, words in enumerate(_limits_of(binding, several=several))
        ]
        alike.setdefault(tuple(rows), []).append(workload)
    for same, workloads in alike.items():
        for names_of in _together(workloads):
            for nth, words in enumerate(same):
                head = ["" if nth else names_of] if is_named else []
                made.add_row(*(Text(printable(word)) for word in (*head, *words)))
    return made


def _by_cases(one: Glance, *, every_case: bool) -> list[tuple[str, Mapping[str, Binding]]]:
    """Return the bottlenecks of neighbouring cases with the same ones, by variant, after their names.

    All of them are those of the shown case, unless every case is asked for and they differ.
    """
    groups: list[list[str]] = []
    for case, binding in one.bindings.items() if every_case else ():
        limits = {variant: bound.name for variant, bound in binding.items()}
        before = one.bindings[groups[-1][-1]] if groups else {}
        if groups and limits == {variant: bound.name for variant, bound in before.items()}:
            groups[-1].append(case)
        else:
            groups.append([case])
    if len(groups) < 2:
        return [("all", one.binding)]
    shown = [one.case if one.case in cases else cases[-1] for cases in groups]
    return [(case_range(cases), one.bindings[case]) for cases, case in zip(groups, shown, strict=True)]


def _limits_of(bindings: Mapping[str, Binding], *, several: bool) -> Iterator[tuple[str, ...]]:
    """Yield the bottlenecks of a case: variants if several, the bottleneck, the next supply."""
    for name in unique(binding.name for binding in bindings.values()):
        same = {variant: binding for variant, binding in bindings.items() if binding.name == name}
        words = [named(list(same), list(bindings)) or "all"] if several else []
        first = next(iter(same.values()))
        yield (*words, str(first), str(first.next) if first.next else "–")


def _together(workloads: Sequence[str]) -> list[str]:
    """Join names as long as they stay short.

    >>> _together(["read", "small-read", "a-name-that-is-rather-long"])
    ['read, small-read', 'a-name-that-is-rather-long']
    """
    found: list[str] = []
    for name in workloads:
        joined = f"{found[-1]}, {name}" if found else name
        if found and len(joined) <= MOST_TOGETHER:
            found[-1] = joined
        else:
            found.append(name)
    return found
