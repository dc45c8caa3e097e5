"""What databases saw of each variant: throughput, average, 99th percentile, and what may be said of them.

    summary.py FOLDER…

Each folder is one that `lanetwin exec` has left, named as the database. A difference is the machine's, and
not the drive's, if answers were later by more on one of two variants than their drives differ by. Ends with
status 3 if the slow control came out equivalent: then nothing that was measured says anything.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lanetwin import engine
from lanetwin.measure.repeats import row_of
from lanetwin.measured.document import VARIANT, document_of
from lanetwin.measured.formats import format_of
from lanetwin.measured.values import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.measured.values import Value
    from lanetwin.results import Results, Row

CONTROL = "slow"
"""The variant that has to come out different."""
KEPT = ("operations", "transactions", "latency")
"""What is shown of what programs print."""
MACHINES = {"worse": "worse by the machine", "better": "better by the machine"}
"""What a difference is called that the machine has made."""
PAPER = (
    "A paper on this retimer reports 1.5 % for MySQL, and 9 % of throughput and 7 % of latency for RocksDB, "
    "from one run each and without intervals."
)

Place = tuple[str, str]
"""A case of what a program printed, and a metric of it."""


def values_of(text: str, database: str) -> dict[Place, Value]:
    """Return what a run printed; the 99th percentile is a metric of its own."""
    source = Source(database, database)
    known = format_of(text, source)
    found: dict[Place, Value] = {}
    for value in known.read(text, source) if known else []:
        if value.metric not in KEPT or value.case == "cleanup":
            continue
        found[value.case, value.metric] = replace(value, percentiles=())
        tail = dict(value.percentiles).get(99.0)
        if tail is not None:
            found[value.case, "99 %"] = replace(value, metric="99 %", value=tail, percentiles=())
    return found


def rows_of(folder: Path, variants: Sequence[str]) -> dict[str, dict[Place, Row]]:
    """Return, of each variant, each metric with the interval of its repeats."""
    texts = {
        variant: [
            file.read_text(encoding="utf-8")
            for file in sorted(folder.glob("said-*.txt"))
            if file.stem.split("-", 2)[2] == variant
        ]
        for variant in variants
    }
    found: dict[str, dict[Place, Row]] = {}
    for variant, said in texts.items():
        runs = [values_of(text, folder.name) for text in said]
        found[variant] = {
            place: row_of((VARIANT, folder.name, place[0], "", place[1]), [run[place] for run in runs])
            for place in runs[0]
            if all(place in run for run in runs)
        }
    return found


def verdicts(baseline: dict[Place, Row], other: dict[Place, Row]) -> dict[Place, dict[str, Any]]:
    """Return what the repeats of two variants say of their difference."""
    one, two = (
        cast("Results", document_of(list(rows.values()), {}, "databases", engine.version()))
        for rows in (baseline, other)
    )
    judged = cast("list[dict[str, Any]]", engine.compare(one, two)["verdicts"])
    return {(verdict["case"], verdict["metric"]): verdict for verdict in judged}


def shown(row: Row) -> str:
    """Return a value with its interval, in ms or per second."""
    scale, unit = (1e-6, "ms") if row["unit"] == "ns" else (1e3, "/s")
    value, low, high = (row[key] * scale for key in ("value", "low", "high"))  # type: ignore[literal-required]
    return f"{value:,.3g} {unit} [{low:,.3g}, {high:,.3g}]"


def spread(row: Row) -> float:
    """Return how far the repeats of one variant lie apart, of their mean."""
    samples = cast("dict[str, Any]", row)["samples"]
    return (max(samples) - min(samples)) / row["value"] if row["value"] else 0.0


def is_of_the_machine(baseline: str, other: str, doors: Sequence[dict[str, Any]]) -> bool:
    """Whether answers were later by more on one of two variants than their drives differ by."""

    def apart(key: str) -> float:
        means = [[door[key] for door in doors if door["variant"] == variant] for variant in (baseline, other)]
        return abs(sum(means[0]) / len(means[0]) - sum(means[1]) / len(means[1]))

    return apart("mean_us") > apart("predicted_mean_us")


def judged(verdict: dict[str, Any] | None) -> str:
    """Return a difference with its interval and what may be said of it."""
    if verdict is None:
        return "—"
    low, high = verdict["low"], verdict["high"]
    return f"{verdict['change']:+.1%} [{low:+.1%}, {high:+.1%}] {verdict['verdict']}"


def table(folder: Path) -> tuple[list[str], set[str]]:
    """Return the lines of one database, and what may be said of its control."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    doors = cast("list[dict[str, Any]]", results["options"]["doors"])
    variants = list(dict.fromkeys(door["variant"] for door in doors))
    rows, baseline = rows_of(folder, variants), variants[0]
    places = sorted(rows[baseline], key=lambda place: (place[0], place[1] == "99 %"))
    repeats = len(doors) // len(variants)
    lines = [
        f"\n{folder.name}, {repeats} runs of each variant, in turn forth and back\n",
        "| Metric | Variant | Mean [95 %] | Against " + baseline + " | Runs of one variant apart by |",
        "|---|---|---|---|---|",
    ]
    # nobody knows the spread of one run
    others = variants[1:] if repeats > 1 else []
    against = {variant: verdicts(rows[baseline], rows[variant]) for variant in others}
    for variant, found in against.items():
        if is_of_the_machine(baseline, variant, doors):
            for verdict in found.values():
                verdict["verdict"] = MACHINES.get(verdict["verdict"], verdict["verdict"])
    for place in places:
        name = " ".join(word for word in place if word not in ("all", "test"))
        for variant in variants:
            row, verdict = rows[variant][place], against.get(variant, {}).get(place)
            lines.append(f"| {name} | {variant} | {shown(row)} | {judged(verdict)} | {spread(row):.1%} |")
    control = {verdict["verdict"] for verdict in against.get(CONTROL, {}).values()}
    return [*lines, "", *(late(variant, doors) for variant in variants)], control


def late(variant: str, doors: Sequence[dict[str, Any]]) -> str:
    """Return what the door of a variant says of its lateness."""
    own = [door for door in doors if door["variant"] == variant]
    predicted, mean = (sum(door[key] for door in own) / len(own) for key in ("predicted_mean_us", "mean_us"))
    share = max(door["late_share"] for door in own)
    kept_up = all(door["is_prediction"] for door in own)
    said = "kept up" if kept_up else "machine too slow: what the database saw is no prediction"
    drive = f"drive predicted {predicted:.0f} µs, answered {mean:.0f} µs later, late {share:.0%} at most"
    return f"{variant}: {drive}; {said}"


def main(folders: Sequence[str]) -> int:
    """Print a table for each database; the status to end with."""
    status = 0
    for folder in folders:
        lines, control = table(Path(folder))
        print("\n".join(lines))
        if "equivalent" in control:
            print(f"The control `{CONTROL}` came out equivalent: no verdict above says anything.")
            status = 3
        elif control and "worse" not in control:
            print(f"Not even the control `{CONTROL}` can be told apart: too few runs for so busy a machine.")
    print(f"\n{PAPER}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
