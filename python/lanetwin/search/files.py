"""The folder of a search and its answer: the best point, the front, every point that was tried."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lanetwin import engine, store
from lanetwin.formats.csv import harmless
from lanetwin.numbers import fixed, significant
from lanetwin.report import sweep as report
from lanetwin.search.problem import refuse
from lanetwin.sentences import word
from lanetwin.sweep import files as sweep_files
from lanetwin.sweep.analysis import analyse

if TYPE_CHECKING:
    from pathlib import Path

    from lanetwin.search.running import Search, Searched, Trial

SCHEMA = "lanetwin-search/1"
MARKER = "search.json"
"""The file that identifies the folder of a search."""
STORAGE = "optuna.sqlite3"


def storage(folder: Path, asked: Search) -> Path:
    """Return the file in which Optuna keeps tried points, creating its folder.

    Raises `LanetwinError` (RS013) if the folder has another search, or cannot be created.
    """
    marker = folder / MARKER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = json.loads(marker.read_text(encoding="utf-8"))["name"] if marker.exists() else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        refuse("RS013", f"the folder cannot be used: {error}", "name another one with --out", str(folder))
    own = asked.folder_name()
    strange = known is None and any(folder.iterdir()) and not (folder / STORAGE).exists()
    if strange or known not in (None, own):
        refuse("RS013", "this folder is not of this search", "name another one with --out", str(folder))
    return folder / STORAGE


def save(found: Searched, folder: Path) -> None:
    """Write the report, the rows, the trials and the document, each completely or not at all."""
    if found.swept.done:
        table, percentiles = sweep_files.tabulate(found.swept)
        page = report.render(found.swept, table, analyse(found.swept.design, table))
        store.write_file(folder / "report.html", page)
        store.write_file(folder / "rows.csv", sweep_files.csv_text(found.swept, percentiles))
    store.write_file(folder / "trials.csv", trials_csv(found))
    store.write_file(folder / MARKER, json.dumps(document(found), ensure_ascii=False) + "\n")


def document(found: Searched) -> dict[str, Any]:
    """Return the options and results of the search."""
    search, best = found.search, found.best
    return {
        "schema": SCHEMA,
        "version": engine.version(),
        "name": search.folder_name(),
        "about": found.swept.about,
        "asked": asdict(search.asked),
        "objectives": [str(one) for one in search.objectives],
        "limits": [str(one) for one in search.limits],
        "seed": search.seed,
        "units": found.units,
        "prices": {part: asdict(price) for part, price in search.prices.parts.items()},
        "unpriced": found.unpriced,
        "complete": found.complete,
        "best": _told(found, best) if best else None,
        "front": [_told(found, trial) for trial in found.front()],
        "trials": [_told(found, trial) for trial in found.trials],
    }


def _told(found: Searched, trial: Trial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "point": dict(
            zip((axis["name"] for axis in found.swept.design.axes), levels(found, trial), strict=True)
        ),
        "set": sets(found, trial),
        "values": list(trial.values) if trial.values else None,
        "limits": list(trial.limits),
        "within": trial.within,
    }


def levels(found: Searched, trial: Trial) -> list[str]:
    """Return the displayed value of each axis at a trial."""
    axes = found.swept.design.axes
    return [axis["values"][at]["text"] for axis, at in zip(axes, trial.point, strict=True)]


def sets(found: Searched, trial: Trial) -> list[str]:
    """Return the changes of the scenario for a trial, each ``path=value``."""
    pairs = zip(found.swept.design.axes, trial.point, strict=True)
    return [f"{path}={axis['values'][at]['set']}" for axis, at in pairs for path in axis["paths"]]


def headings(found: Searched) -> list[tuple[str, str]]:
    """Return the quantities of the search, with their units."""
    every = [str(one) for one in found.search.quantities]
    return list(zip(every, found.units, strict=True))


def sentences(found: Searched) -> list[str]:
    """Return the answer."""
    best, tried = found.best, len(found.trials)
    within = sum(trial.within for trial in found.trials)
    said = [f"{fixed(tried, 0)} points were tried, {fixed(within, 0)} are within the limits."]
    if best is None:
        said.append("None is an answer: widen what is varied, or the limits.")
        near = found.nearest
        return said if near is None else [*said, f"Nearest: {_at(found, near)}.", _values(found, near)]
    first = "Best" if len(found.search.objectives) == 1 else f"Best to {found.search.objectives[0]}"
    return [f"{first}: {_at(found, best)}.", _values(found, best), *said]


def _at(found: Searched, trial: Trial) -> str:
    """Return where a trial is."""
    at = zip(found.swept.design.names, levels(found, trial), strict=True)
    return ", ".join(f"{name} {text}" for name, text in at)


def _values(found: Searched, trial: Trial) -> str:
    """Return what came of a trial, as a sentence."""
    pairs = zip(headings(found), (*(trial.values or ()), *trial.limits), strict=True)
    values = (f"{word(name)} {significant(value, 4)} {unit}".rstrip() for (name, unit), value in pairs)
    return f"There: {', '.join(values)}."


def trials_csv(found: Searched) -> str:
    """Return every trial as CSV, in the order in which they were proposed."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    names = [harmless(axis["name"]) for axis in found.swept.design.axes]
    goals = [harmless(f"{name} [{unit}]" if unit else name) for name, unit in headings(found)]
    writer.writerow(["trial", *names, *goals, "within"])
    for trial in found.trials:
        values = [*(trial.values or [""] * len(found.search.objectives)), *trial.limits]
        values += [""] * (len(goals) - len(values))
        row = [trial.number, *(harmless(level) for level in levels(found, trial)), *values]
        writer.writerow([*row, "yes" if trial.within else "no"])
    return text.getvalue()


__all__ = ["document", "headings", "levels", "save", "sentences", "sets", "storage", "trials_csv"]
