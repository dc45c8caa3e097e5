"""Two results beside each other: predicted, emulated, measured, or files of other programs.

Results of different kinds get errors instead of verdicts: of the prediction relative to the measurement.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.language import tr
from lanetwin.measured import imported, is_measurement, is_no_document
from lanetwin.results import load
from lanetwin.sentences import told
from lanetwin.summary import unique, variants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lanetwin.results import Results, Row

MEASURED, PREDICTED, EMULATED = "measured", "predicted", "emulated"
NAMES = {"measured": MEASURED, "simulated": PREDICTED, "emulated": EMULATED}
"""Names of kinds of results beside those of another."""
MARGIN = 0.02
"""Default limit of a small error."""


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """One predicted and measured number."""

    workload: str
    case: str
    metric: str
    measured: Row
    predicted: Row

    @property
    def error(self) -> float | None:
        """The relative error: 0.1 is a tenth too much. None if the measured value is 0."""
        return self.predicted["value"] / self.measured["value"] - 1 if self.measured["value"] else None


def load_any(path: Path) -> Results:
    """Read results of lanetwin, or measurements of another program.

    Raises `LanetwinError` if it is neither.
    """
    if _is_of_others(path):
        return imported([path], version=engine.version())
    return engine.load_file(path)


def compare_files(a: Path, b: Path, *, margin: float | None = None) -> Results:
    """Compare two files or folders of runs; the first is the baseline.

    For different kinds, the measurement is the baseline, and there are `errors` instead of verdicts.
    """
    if not (_is_of_others(a) or _is_of_others(b)) and len({_kind(a), _kind(b)}) < 2:
        return engine.compare_files(a, b, margin=margin)
    return compare(load_any(a), load_any(b), margin=margin)


def _is_of_others(path: Path) -> bool:
    """Whether a file is not a result of lanetwin: of another program, empty, or not a document."""
    return is_measurement(path) or is_no_document(path)


def _kind(path: Path) -> str:
    """Return the kind of results; errors are reported when the document is read completely."""
    try:
        return str(load(path).get("kind"))
    except LanetwinError:
        return "simulated"


def compare(a: Results, b: Results, *, margin: float | None = None) -> Results:
    """Compare two results, as `compare_files` does."""
    if a["kind"] == b["kind"]:
        return engine.compare(a, b, margin=margin)
    order = ("measured", "emulated", "simulated")
    truth, other = sorted((a, b), key=lambda results: order.index(results["kind"]))
    truth, notes = aligned(truth, other)
    pair = [cast("Results", {**results, "name": NAMES[results["kind"]]}) for results in (truth, other)]
    found = engine.compare(pair[0], pair[1], margin=margin)
    found["about"] = f"How far is what was {NAMES[other['kind']]} from what was {NAMES[truth['kind']]}?"
    if other["about"]:
        found["about"] += f" ({other['about']})"
    found["name"] = f"{other['name']}-vs-{truth['name']}"
    found["verdicts"] = []
    found["options"] = {
        "error_of": NAMES[other["kind"]],
        "against": NAMES[truth["kind"]],
        "within": MARGIN if margin is None else margin,
        "taken_for": notes,
    }
    return found


def question(results: Results) -> str:
    """Return the question of results, in the current language; an author's own text is unchanged."""
    about, options = results["about"] or results["name"], results.get("options") or {}
    if "error_of" in options:
        one, other = told(options["error_of"]), told(options["against"])
        fixed = tr("How far is what was {one} from what was {other}?", one=one, other=other)
        return fixed + about[about.index("?") + 1 :] if "?" in about else about
    parts = results["name"].split("-vs-")
    for place in range(1, len(parts)):
        baseline, compared = "-vs-".join(parts[:place]), "-vs-".join(parts[place:])
        start = f"{compared} against {baseline}: "
        if about.startswith(start):
            fixed = tr("{compared} against {baseline}", compared=compared, baseline=baseline)
            return f"{fixed}: {about[len(start) :]}"
    return about


def aligned(truth: Results, other: Results) -> tuple[Results, list[str]]:
    """Return measurements with the names of the other document, and the matched names.

    If both have one workload, or a workload one case, these are matched; a measurement that names no variant
    of the prediction is matched with the first, the baseline.
    """
    rows = copy.deepcopy(truth["rows"])
    notes: list[str] = []
    own, theirs = unique(row["variant"] for row in rows), variants(other)
    if len(own) == 1 and theirs and own[0] not in theirs:
        _rename(rows, "variant", own[0], theirs[0], notes)
    _align(rows, other["rows"], "workload", lambda _: True, notes)
    for workload in unique(row["workload"] for row in rows):
        _align(rows, other["rows"], "case", lambda row, of=workload: row["workload"] == of, notes)  # type: ignore[misc]
    return cast("Results", {**truth, "rows": rows}), notes


def _align(
    rows: list[Row], theirs: Sequence[Row], key: str, counts: Callable[[Row], bool], notes: list[str]
) -> None:
    """Rename the single name of some rows to the single one of the others."""
    own_names = unique(str(row[key]) for row in rows if counts(row))  # type: ignore[literal-required]
    other_names = unique(str(row[key]) for row in theirs if counts(row))  # type: ignore[literal-required]
    if len(own_names) == 1 and len(other_names) == 1 and own_names != other_names:
        chosen = [row for row in rows if counts(row)]
        _rename(chosen, key, own_names[0], other_names[0], notes)


def _rename(rows: Sequence[Row], key: str, old: str, new: str, notes: list[str]) -> None:
    for row in rows:
        if row[key] == old:  # type: ignore[literal-required]
            row[key] = new  # type: ignore[literal-required]
    notes.append(f"{key} {old} is taken for {new}")


def errors(results: Results) -> list[ErrorLine]:
    """Return the errors of a comparison between kinds; an empty list for any other document."""
    options = results.get("options") or {}
    if "error_of" not in options:
        return []
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in results["rows"]:
        kind, _, variant = row["variant"].partition(": ")
        place = (row["workload"], row["case"], row.get("device") or "", row["metric"], variant)
        found.setdefault(place, {})[kind] = row
    several = len({place[4] for place in found}) > 1
    lines = []
    for (workload, case, device, metric, variant), pair in found.items():
        if options["against"] in pair and options["error_of"] in pair:
            told = ", ".join(word for word in (case, device, variant if several else "") if word)
            lines.append(
                ErrorLine(workload, told, metric, pair[options["against"]], pair[options["error_of"]])
            )
    return lines


def mean_error(lines: Sequence[ErrorLine]) -> float | None:
    """Return the mean of the absolute errors, or None if there is none."""
    known = [abs(line.error) for line in lines if line.error is not None]
    return sum(known) / len(known) if known else None
