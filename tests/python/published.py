"""Tables of published values, and what the results of a scenario say of their rows."""

import csv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = ROOT / "validation" / "claims"


def rows(page: Path) -> list[dict[str, str]]:
    """Read a table."""
    with page.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_eyes(document: dict[str, Any], row: dict[str, str]) -> float:
    """Read off what a row says of the eyes of a channel."""
    if row["workload"] == "compliance":
        return float(document["stress"][0]["compliance_height_v"]) * 1e3
    (variant,) = [one for one in document["variants"] if one["name"] == row["variant"]]
    (eye,) = [one for one in variant["segments"] if f"segment {one['segment']}" == row["label"]]
    return 2.0 if eye["passes"] else 1.0


def of_cycles(document: dict[str, Any], row: dict[str, str]) -> float:
    """Read off what a row says of the cycles of the links of a channel."""
    (series,) = [one for one in document["series"] if one["name"] == row["variant"]]
    if row["label"] == "all":
        return 2.0 if all(test["verdict"] == "pass" for test in series["tests"]) else 1.0
    (test,) = [one for one in series["tests"] if one["title"] == row["label"]]
    return float(test["passed"])


def on_curve(document: dict[str, Any], row: dict[str, str]) -> float:
    """Read off the curve of a workload where it is at a value, or the most that it comes to."""

    def values(metric: str) -> list[float]:
        own = (row["variant"], row["workload"], metric, "")
        return [
            float(one["value"])
            for one in document["rows"]
            if (one["variant"], one["workload"], one["metric"], one.get("device") or "") == own
        ]

    if row["how"] == "peak":
        return max(values(row["metric"]))
    points = sorted(
        zip(values(row["against"]), values(row["metric"]), strict=True), key=lambda point: point[0]
    )
    at = float(row["at"])
    beyond = [place for place, point in enumerate(points) if point[0] >= at]
    if not beyond:
        return points[-1][1]
    (x0, low), (x1, high) = points[max(beyond[0] - 1, 0)], points[beyond[0]]
    share = min(max((at - x0) / (x1 - x0), 0.0), 1.0) if x1 > x0 else 0.0
    return low + (high - low) * share


def read(results: list[Any], row: dict[str, str], **other: str) -> float:
    """Read off the value of the case that a row means, with another variant, label or metric."""
    row = row | other
    values = {
        one["metric"]: one
        for one in results
        if (one["variant"], one["workload"], one.get("device") or "")
        == (row["variant"], row["workload"], row.get("device") or "")
        and row.get("label") in (None, "", one["case"])
    }
    value = values[row["metric"]]
    if row.get("percentile"):
        return float(dict(value["percentiles"])[float(row["percentile"])])
    return float(value["value"])


def made(results: list[Any], row: dict[str, str]) -> float:
    """Make the value that a row says from one value of the results, or from two."""
    own, against = read(results, row), row.get("against", "")
    match row.get("how"):
        case "sum":
            return own + read(results, row, metric=against)
        case "mean":
            return own + (read(results, row, metric=against) - own) * 0.5
        case "less":
            return own - read(results, row, variant=against)
        case "ratio":
            return own / read(results, row, variant=against)
        case "case-ratio":
            return own / read(results, row, label=against)
        case "inverse-case-ratio":
            return read(results, row, label=against) / own
        case None | "" | "value":
            return own
    raise AssertionError(row)


def found(document: dict[str, Any], row: dict[str, str]) -> float | None:
    """Read off what a row says of the results; None if it is not one of their values."""
    if document.get("kind") == "link-eye":
        return of_eyes(document, row)
    if "series" in document:
        return of_cycles(document, row)
    results: list[Any] = document["rows"]
    if row.get("how") == "iometer":
        named = (row["variant"], row["workload"], row["metric"], "")
        own = [
            one
            for one in document["iometer"]
            if (one["variant"], one["workload"], one["metric"], one.get("of", "")) == named
        ]
        return float(own[0]["value"])
    if row.get("how") == "verdict":
        judged = (row["variant"], row["workload"], row["label"], row["metric"])
        changes = [
            one["change"]
            for one in document["verdicts"]
            if (one["variant"], one["workload"], one["case"], one["metric"]) == judged
        ]
        return 1.0 + float(changes[0])
    if row.get("how") in ("curve", "peak"):
        return on_curve(document, row)
    if row.get("how") == "not-compared":
        return None
    return made(results, row)
