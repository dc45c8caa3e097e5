"""How the door by NVMe/TCP answers `nvme` commands beside Linux `nvmet` and QEMU's own drive, and why.

`data/nvme_differences.yaml` has a record for every field, and every end of a command, in which the three are
not equal: the values, and the reason. From it comes the page `docs/nvme-commands.md`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from conftest import DATA

FILE = DATA / "nvme_differences.yaml"
PAGE = Path(__file__).parents[2] / "docs" / "nvme-commands.md"
DRIVES = ("lanetwin", "nvmet", "qemu")
NAMES = {"lanetwin": "door", "nvmet": "`nvmet`", "qemu": "QEMU"}
ABSENT = "absent"
"""A field that a drive does not tell."""
VARIES = "varies"
"""A value that is another in each run, or of each kernel: it is not held to anything."""
BEGIN, END = "<!-- from tests/python/data/nvme_differences.yaml -->", "<!-- end -->"

Told = dict[str, dict[str, Any]]
"""Values by field, or by command, then by drive."""
Record = dict[str, Any]


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """Give every value that is not made of others, by its path."""
    if isinstance(value, dict):
        inside = [flat(one, f"{name}.{key}" if name else str(key)) for key, one in value.items()]
        return {path: one for part in inside for path, one in part.items()}
    if isinstance(value, list):
        inside = [flat(one, f"{name}[{at}]") for at, one in enumerate(value)]
        return {path: one for part in inside for path, one in part.items()} or {name: "[]"}
    return {name: value}


def differences(told: Told) -> Told:
    """Give what is not the same of all three."""
    filled = {key: {drive: values.get(drive, ABSENT) for drive in DRIVES} for key, values in told.items()}
    return {key: values for key, values in filled.items() if len({str(one) for one in values.values()}) > 1}


def load() -> dict[str, list[Record]]:
    """Read the records, by structure or kind."""
    known: dict[str, list[Record]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return known


def unlisted(found: Told, known: dict[str, list[Record]]) -> list[str]:
    """Say what differs and is not listed so, and what is listed and does not differ."""
    listed = {f"{kind} {field}": record for kind, record, field in _fields(known)}
    said = [
        f"{key}: {values}, listed is {_values(listed[key]) if key in listed else 'nothing'}"
        for key, values in found.items()
        if key not in listed or not _fits(values, _values(listed[key]))
    ]
    steady = [key for key, record in listed.items() if VARIES not in _values(record).values()]
    return said + [f"{key} is listed and does not differ" for key in steady if key not in found]


def _fields(known: dict[str, list[Record]]) -> list[tuple[str, Record, str]]:
    """Give every field with the record that lists it; a record may list several."""
    return [
        (kind, record, field)
        for kind, records in known.items()
        for record in records
        for field in (record["field"] if isinstance(record["field"], list) else [record["field"]])
    ]


def _values(record: Record) -> dict[str, Any]:
    return {drive: record[drive] for drive in DRIVES}


def _fits(found: dict[str, Any], listed: dict[str, Any]) -> bool:
    return all(listed[drive] == VARIES or str(listed[drive]) == str(found[drive]) for drive in DRIVES)


def tables(known: dict[str, list[Record]]) -> str:
    """Write the tables of the page."""
    parts = []
    for kind, records in known.items():
        rows = [
            f"### {kind}",
            "",
            f"| | {' | '.join(NAMES[drive] for drive in DRIVES)} | why |",
            "|---|---|---|---|---|",
        ]
        for record in records:
            fields = record["field"] if isinstance(record["field"], list) else [record["field"]]
            values = " | ".join(_shown(record[drive]) for drive in DRIVES)
            rows.append(
                f"| {', '.join(f'`{field}`' for field in fields)} | {values} | {record['why'].strip()} |"
            )
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _shown(value: Any) -> str:
    """Write a value; a whole number beyond four digits as the specification would, in hexadecimal."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 9999:
        return f"{value:#x}"
    return str(value).strip().replace("|", "\\|")


def page(text: str, known: dict[str, list[Record]]) -> str:
    """Give the page with its tables as they have to be."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{tables(known)}\n{END}{after}"
