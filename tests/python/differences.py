"""What differs between two documents of results, record by record.

A document is what the engine answers: results of a run, of a validation, of the eyes of a channel. In a list
of records, such as rows, a record is found again by the fields that name it, so that one more row moves no
other. Everything else is compared as it stands, and numbers exactly: builds that compute the same give the
same bits.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterator

Records = list[dict[str, Any]]

# fmt: off
NAMES = (
    "variant", "workload", "case", "device", "host", "drive", "component", "link", "direction", "switch",
    "from", "to", "way", "widths", "tlp", "action", "at_seconds", "repeat", "claim", "quantity", "family",
    "baseline", "baseline_variant", "baseline_case", "metric", "part", "parameter", "mechanism", "end",
    "stage", "counter",
)
# fmt: on
"""Fields that say which record it is, in the order of a label; where there is no case, `name` is another."""
NUMBERED = ("at_seconds", "repeat")
"""Those of them that are numbers; a number of another name is a value."""
VOLATILE = ("cost", "version", "scenario", "path")
"""What may differ between two runs of one build, in other folders: never compared."""
ABSENT: str = "(absent)"
MIRRORED = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, slots=True)
class Change:
    """One place at which two documents differ."""

    section: str
    """The table or part of the document."""
    record: str
    """Which record of the table; empty if the section is none."""
    field: str
    """The path of the value in the record or the section; empty if it is the whole."""
    before: object
    after: object

    def __str__(self) -> str:
        """Give field, both values, and for numbers by how much."""
        name = f"{self.field} " if self.field else ""
        return f"{name}{_shown(self.before)} → {_shown(self.after)}{_by(self.before, self.after)}"


@dataclass(slots=True)
class Comparison:
    """How two documents compare, section by section."""

    records: dict[str, int] = field(default_factory=dict)
    """How many records each list of records has, in the document after."""
    changes: list[Change] = field(default_factory=list)
    corrected: Counter[str] = field(default_factory=Counter)
    """Verdicts that differ as a corrected direction of their metric makes them differ, by metric."""

    def by_section(self) -> dict[str, dict[str, list[Change]]]:
        """Return the changes of each record of each section that differs, in the order of the document."""
        found: dict[str, dict[str, list[Change]]] = {}
        for change in self.changes:
            found.setdefault(change.section, {}).setdefault(change.record, []).append(change)
        return found


@dataclass(frozen=True, slots=True)
class Rules:
    """What is not a difference."""

    ignore: frozenset[str] = frozenset()
    """Fields and sections, by name."""
    corrected: frozenset[str] = frozenset()
    """Metrics whose direction was corrected on purpose: their verdicts may turn round."""

    def skips(self, name: str) -> bool:
        """Tell whether a field or section is not compared."""
        return name in self.ignore or name in VOLATILE


def compare(before: dict[str, Any], after: dict[str, Any], rules: Rules) -> Comparison:
    """Compare two documents; `rules` says what may differ."""
    found = Comparison()
    for section in dict.fromkeys([*after, *before]):
        if rules.skips(section):
            continue
        old, new = before.get(section, ABSENT), after.get(section, ABSENT)
        if not (_are_records(old) and _are_records(new)):
            found.changes += [Change(section, "", *change) for change in _values("", old, new, rules)]
            continue
        found.records[section] = len(new)
        if section == "verdicts":
            new = _uncorrected(old, new, rules, found.corrected)
        for record, a, b in _pairs(old, new, rules):
            found.changes += [Change(section, record, *change) for change in _values("", a, b, rules)]
    return found


def _values(path: str, before: object, after: object, rules: Rules) -> Iterator[tuple[str, object, object]]:
    """Give the path and both values of whatever differs in two values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            if not rules.skips(name):
                inner = f"{path}.{name}" if path else str(name)
                yield from _values(inner, before.get(name, ABSENT), after.get(name, ABSENT), rules)
    elif _are_records(before) and _are_records(after):
        for record, old, new in _pairs(before, after, rules):
            yield from _values(f"{path}[{record}]", old, new, rules)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _values(f"{path}[{at}]", old, new, rules)
    elif before != after:
        yield path, before, after


def _pairs(before: Records, after: Records, rules: Rules) -> Iterator[tuple[str, object, object]]:
    """Pair records by what names them; one that only one side has is paired with its absence."""
    old, new = _named(before, rules), _named(after, rules)
    for name in dict.fromkeys([*old, *new]):
        yield name, old.get(name, ABSENT), new.get(name, ABSENT)
    if list(old) != list(new) and old.keys() == new.keys() and not rules.skips("order"):
        yield "order", "as it was", "another"


def _named(records: Records, rules: Rules) -> dict[str, dict[str, Any]]:
    """Index records by what names them; of several of one name the second is `name #2`."""
    seen: Counter[str] = Counter()
    found = {}
    for record in records:
        label = " / ".join(_names(record, rules))
        seen[label] += 1
        found[label if seen[label] == 1 else f"{label} #{seen[label]}"] = record
    return found


def _names(record: dict[str, Any], rules: Rules) -> Iterator[str]:
    for name in NAMES if "case" in record else (*NAMES, "name"):
        value = record.get(name)
        if rules.skips(name) or not value:
            continue
        if isinstance(value, str) or name in NUMBERED:
            yield str(value)


def _uncorrected(before: Records, after: Records, rules: Rules, corrected: Counter[str]) -> Records:
    """Turn those verdicts back that a corrected direction has turned, and count them."""
    old = _named(before, rules)
    turned = []
    for label, verdict in _named(after, rules).items():
        was = old.get(label, {}).get("verdict")
        metric, now = verdict.get("metric", ""), verdict.get("verdict")
        if metric in rules.corrected and was in MIRRORED and now == MIRRORED[was]:
            corrected[metric] += 1
            turned.append({**verdict, "verdict": was})
        else:
            turned.append(verdict)
    return turned


def _are_records(value: object) -> TypeGuard[Records]:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _by(before: object, after: object) -> str:
    """Say by how much a number moved."""
    numbers = [
        value for value in (before, after) if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if len(numbers) < 2 or not numbers[0]:
        return ""
    return f" ({(numbers[1] / numbers[0] - 1) * 100:+.3g} %)"


def _shown(value: object) -> str:
    """Write a value on one line; of a record, or a long text, as much as tells it from others."""
    text = value if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}…"
