"""The part that results from a calibration, as a file in the user's folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lanetwin import yaml_out
from lanetwin.calibration.outcome import Role, largest_error, median_error
from lanetwin.numbers import change

if TYPE_CHECKING:
    from lanetwin.calibration.outcome import Line, Outcome, Told

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
"""The form of a part's name, which is also the name of its file."""


def part_text(outcome: Outcome, name: str, origin: str) -> str:
    """Return the part `name`, calibrated to the measurements that `origin` names.

    Parameters that the rows do not determine keep their value, kind and source.
    """
    base = outcome.part
    calibrated = outcome.of(Role.CALIBRATED)
    own = {told.parameter.name: told for told in outcome.parameters if told.how != "not told"}
    to = f"{_count(len(calibrated), 'row')} of {origin}"
    numbers: dict[str, Any] = {}
    for number in base["parameters"]:
        key = number["parameter"]
        numbers[key] = _fitted(own.pop(key), to) if key in own else _kept(number)
    for key, told in own.items():
        numbers[key] = _fitted(told, to)
    part = {
        "name": name,
        "about": str(base["about"]).rstrip(".") + f", calibrated to {origin}.",
        "model": base["model"],
        "grade": "validated" if outcome.of(Role.PREDICTED) else "calibrated",
        "validated": judgement(outcome, origin),
        "pci": [{key: value for key, value in one.items() if value} for one in base.get("pci", ())],
        "parameters": numbers,
        "calibration": {
            "from": base["name"],
            "to": origin,
            "rows": [_line(line) for line in outcome.rows],
        },
    }
    return yaml_out.dump({key: value for key, value in part.items() if value})


def judgement(outcome: Outcome, origin: str) -> str:
    """Describe the errors of held-back rows; empty if there were none."""
    held, apart = outcome.of(Role.PREDICTED), outcome.of(Role.APART)
    if not held:
        return ""
    middle, largest = median_error(held) or 0.0, largest_error(held) or 0.0
    said = (
        f"{_count(len(held), 'row')} of {origin} that did not calibrate it: median error {_percent(middle)}"
    )
    said += f", largest {_percent(largest)}"
    return said + (f"; {len(apart)} more rest on what cannot be told" if apart else "")


def _fitted(told: Told, to: str) -> dict[str, Any]:
    note = f"± {_percent(told.deviation)}" if told.is_told else "only together with others"
    return {
        "value": told.text,
        "kind": "calibrated",
        "source": "lanetwin parts calibrate: bounded least squares",
        "to": to,
        "note": f"{note}; {told.parameter.text(told.parameter.place(told.parameter.start))} before",
    }


def _kept(number: dict[str, Any]) -> dict[str, Any]:
    found = {
        "value": str(number["value"]).strip().replace(" ", ""),
        "kind": number["kind"],
        "source": number["source"],
    }
    if number.get("calibrated to"):
        found["to"] = number["calibrated to"]
    if number.get("note"):
        found["note"] = number["note"]
    return found


def _line(line: Line) -> dict[str, Any]:
    variant, workload, case, metric = line.value.row.key
    found: dict[str, Any] = {
        "row": " · ".join(dict.fromkeys((variant, workload, case, metric))),
        "role": line.role.value,
        "measured": f"{line.value.row.measured:.5g} {line.value.row.unit}",
        "predicted": f"{line.value.after:.5g} {line.value.row.unit}",
        "error": change(line.error).replace("\u202f", " "),
    }
    if line.rests_on:
        found["rests on"] = list(line.rests_on)
    return found


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
