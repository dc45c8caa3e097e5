"""Selecting the rows for a study, in the requested units."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.fit import converted
from lanetwin.language import tr
from lanetwin.numbers import measured, share
from lanetwin.study.paper import Cite
from lanetwin.summary import unique

if TYPE_CHECKING:
    from pathlib import Path

    from lanetwin.engine import Outline
    from lanetwin.results import Results, Row, Verdict
    from lanetwin.study.document import Pick
    from lanetwin.study.evidence import Evidence

MOST_CASES = 40
"""Number of cases named if a selection matches none."""
MOST_NAMED = 6
"""Number of matching rows that are named."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A row in the requested unit."""

    row: Row
    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The value with its interval."""
        return measured(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the study, for error messages."""

    file: Path
    node: Outline
    path: str

    def error(self, message: str, remedy: str) -> LanetwinError:
        """Return a mistake at this place."""
        line, column = self.node["line"], self.node["column"]
        return LanetwinError(
            "", [Diagnostic("ST003", "error", message, remedy, str(self.file), line, column, self.path)]
        )


def rows_of(results: Results, pick: Pick) -> list[Row]:
    """Return all rows that match a selection."""
    return [
        row
        for row in [*results["rows"], *_of_iometer(results), *_speeds(results)]
        if _fits(pick, row) and fnmatchcase(row.get("device") or "", pick.device)
    ]


def _of_iometer(results: Results) -> list[Row]:
    """Return Iometer's own metrics as rows, which have no interval."""
    found: list[Row] = []
    for one in results.get("iometer", []):
        value = one["value"]
        if value is not None:
            row: Row = {
                "variant": one["variant"],
                "workload": one["workload"],
                "case": one["case"],
                "x": None,
                "metric": one["metric"],
                "unit": one["unit"],
                "better": "neither",
                "value": value,
                "low": value,
                "high": value,
                "n": 1,
                "percentiles": [],
            }
            found.append(row)
    return found


SPEED = "speed"
"""The metric of a case's speed relative to the first placement, or to the baseline; its unit is ×."""


def _speeds(results: Results) -> list[Row]:
    """Return the relative speeds of cases as rows."""
    return [
        {
            "variant": one["variant"],
            "workload": one["workload"],
            "case": one["case"],
            "x": None,
            "metric": SPEED,
            "unit": "×",
            "better": "higher",
            "value": one["value"],
            "low": one["value"] if one["low"] is None else one["low"],
            "high": one["value"] if one["high"] is None else one["high"],
            "n": 1,
            "percentiles": [],
        }
        for one in results.get("relative", [])
    ]


def _fits(pick: Pick, row: Row) -> bool:
    """Return whether a row matches, for any device."""
    return pick.fits(row["variant"], row["workload"], row["case"], row["metric"])


def verdicts_of(results: Results, pick: Pick) -> list[Verdict]:
    """Return all verdicts that match a selection."""
    return [
        one
        for one in results["verdicts"]
        if pick.fits(one["variant"], one["workload"], one["case"], one["metric"])
    ]


def reading_of(evidence: Evidence, pick: Pick, unit: str, place: Place) -> Reading | None:
    """Return the single row that matches a selection, in a unit; None if the run is missing.

    None also if an unfinished run has no such row yet.

    Raises `LanetwinError` if no row of a finished run matches, or several do, or the unit does not fit.
    """
    results = evidence.runs.get(pick.run)
    if results is None:
        return None
    found = rows_of(results, pick)
    if not found and not results["complete"]:
        return None
    if len(found) != 1:
        raise place.error(f"{pick}: {_count(found)} rows of the run fit", _remedy(results, pick, found))
    return _reading(found[0], pick, unit, place)


def _count(found: list[Row]) -> str:
    return str(len(found)) if found else "no"


def _remedy(results: Results, pick: Pick, found: list[Row]) -> str:
    if found:
        named = [f"{r['variant']}, {r['workload']}, {r['case']}, {r['metric']}" for r in found[:MOST_NAMED]]
        return "name one of: " + "; ".join(named)
    rows = [*results["rows"], *_of_iometer(results), *_speeds(results)]
    devices = unique(row.get("device") or "" for row in rows if _fits(pick, row))
    if devices:
        return f"it is told of the devices {', '.join(name or '(all together)' for name in devices)}"
    for kind, wider, names in (
        ("variant", replace(pick, variant="*"), [row["variant"] for row in rows]),
        ("workload", replace(pick, workload="*"), [row["workload"] for row in rows]),
        ("metric", replace(pick, metric="*"), [row["metric"] for row in rows]),
    ):
        if rows_of(results, wider):
            return f"there are the {kind}s {', '.join(unique(names))}"
    return f"there are the cases {', '.join(unique(row['case'] for row in rows)[:MOST_CASES])}"


def _reading(row: Row, pick: Pick, unit: str, place: Place) -> Reading:
    ends = [row["value"], row["low"], row["high"]]
    if pick.percentile is not None:
        known = dict(row.get("percentiles") or ())
        if pick.percentile not in known:
            have = ", ".join(f"{one:g}" for one in known) or "none"
            raise place.error(f"{pick} has no percentile {pick.percentile:g}", f"it has {have}")
        ends = [known[pick.percentile]] * 3
    shown = [converted(end, row["unit"], unit) for end in ends]
    if any(end is None for end in shown):
        raise place.error(
            f"{pick} is in {row['unit'] or 'no unit'}, not in {unit}", "ask for a unit of the same quantity"
        )
    value, low, high = (end for end in shown if end is not None)
    return Reading(row, value, low, high)


def is_simulated(results: Results) -> bool:
    """Whether a result was simulated; measurements of programs or machines are not predictions."""
    return results["kind"] == "simulated"


def nature(results: Results | None) -> tuple[str, ...]:
    """Describe the kind of results that were not simulated."""
    if results is None or is_simulated(results):
        return ()
    if results["kind"] == "emulated":
        doors: list[dict[str, Any]] = results["options"].get("doors", [])
        late = max((door["late_share"] for door in doors), default=0.0)
        text = tr(
            "Emulated, not predicted: programs ran on a drive that does not exist, in real time. "
            "At most {share} of the answers of one run were late.",
            share=share(late),
        )
        return (text,)
    return (tr("Measured, not predicted."),)


def cite_run(evidence: Evidence, name: str) -> Cite:
    """Return the citation of a run."""
    results = evidence.runs.get(name)
    digest = (results["digest"] or digest_of(results["rows"])) if results else ""
    return Cite(name, digest, evidence.commands.get(f"run {name}", ""))


def cite_link(evidence: Evidence, kind: str, name: str, document: dict[str, Any]) -> Cite:
    """Return the citation of a link."""
    return Cite(name, digest_of(document), evidence.commands.get(f"{kind} {name}", ""))


def digest_of(document: Any) -> str:
    """Return a digest of a document without one."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
