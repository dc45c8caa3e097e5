"""Is the reference of the scenario language complete and up to date? ACCEPT=1 writes its tables anew."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lanetwin import engine

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "scenario.md"
SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "scenario.schema.json").read_text(encoding="utf-8"))
TABLE = re.compile(r"(<!-- table: ([a-z ]+) -->\n).*?(<!-- end -->)", re.S)
KINDS = (("ns|", "time"), ("B/s", "rate"), ("KMGT", "size"), ("GT/s", "1 to 5, or 16GT/s"), ("%", "share"))
"""What a pattern of the schema has in it, and what to call what it describes."""


PAIR = re.compile(r"(latency\.)x\d+-x\d+")
"""Parameters that there are for every pair of widths: one row tells of all."""

SMALL = {
    "about": "about: What does it get?\n",
    "machine": "machine:\n  host: {part: generic-host-gen4}\n  card: {part: generic-dma-gen5}\n",
    "links": "links:\n  slot: {from: host, to: card}\n",
    "workloads": "workloads:\n  read: {dma: {size: 4KiB}, on: card}\n",
}
"""A scenario with nothing wrong in it."""


def kind(field: dict[str, Any]) -> str:
    """Say what a key holds."""
    if "enum" in field:
        return ", ".join(f"`{word}`" for word in field["enum"] if isinstance(word, str))
    if "items" in field and "properties" in field["items"]:
        keys = (f"{name}: {kind(key)}" for name, key in field["items"]["properties"].items())
        return f"a list of `{{{', '.join(keys)}}}`"
    choices = field.get("anyOf", [field])
    if choices[0].get("type") == "object":
        return "paths and their values, or a list of such groups"
    if field.get("type") == "number":
        return f"{field['minimum']} and more" if "minimum" in field else "a number"
    if any(choice.get("type") == "array" for choice in choices):
        return f"{kind(choices[0])}, or a list"
    pattern = next((choice["pattern"] for choice in choices if "pattern" in choice), "")
    named = next((name for mark, name in KINDS if mark in pattern), "")
    if named:
        return named
    whole = next((choice for choice in choices if choice.get("type") == "integer"), None)
    if whole and "minimum" in whole:
        most = whole.get("maximum")
        return f"{whole['minimum']} to {most}" if most and most < 2**53 else f"{whole['minimum']} and more"
    if field.get("type") == "boolean":
        return "`true`, `false`"
    return "text"


def rows_of(section: dict[str, Any]) -> list[str]:
    """Tabulate the keys of a section."""
    lines = ["| Key | Holds | Default | Meaning |", "|---|---|---|---|"]
    for name, field in section["properties"].items():
        if "additionalProperties" in field or "properties" in field:
            continue
        required = name in section.get("required", [])
        default = "**required**" if required else f"`{field['default']}`" if "default" in field else "–"
        lines.append(f"| `{name}` | {kind(field)} | {default} | {field['description']} |")
    return lines


@cache
def models() -> dict[str, set[str]]:
    """Return every model and the parameters it takes, as the check of a scenario knows them."""
    component = SCHEMA["properties"]["machine"]["additionalProperties"]["properties"]
    names = [name for name in component if name not in ("part", "model")]
    return {model: set(names) - refused(model, names) for model in component["model"]["enum"]}


def refused(model: str, names: list[str]) -> set[str]:
    """Return the names that are no parameters of a model."""
    sets = [f"machine.x={json.dumps({'model': model, **dict.fromkeys(names, 'what')})}"]
    found = engine.check(str(DOCS.parent / "scenarios" / "demo.yaml"), sets)["diagnostics"]
    unknown = [fault["path"] for fault in found if fault["code"] == "SC005"]
    return {path.removeprefix("machine.x.") for path in unknown}


def parameter_rows(port: bool) -> list[str]:
    """Tabulate the parameters of components: those of PCIe ports, or all others."""
    component = SCHEMA["properties"]["machine"]["additionalProperties"]["properties"]
    takes = models()
    lines = ["| Parameter | Holds | Default | Meaning | Models |", "|---|---|---|---|---|"]
    for name in sorted(component):
        if name in ("part", "model") or name.startswith("port.") != port:
            continue
        has_it = [model for model in takes if name in takes[model]]
        alternatives = component[name].get("anyOf", [])
        told = [field for field in alternatives if "description" in field] or [component[name]]
        for field in told:
            meaning = re.fullmatch(r"(.*?)(?: \(by default (.*)\))?", field["description"])
            assert meaning
            default = f"`{meaning[2]}`" if meaning[2] else "**required**"
            users = field["$comment"].split(", ") if "$comment" in field else has_it
            assert set(users) <= set(has_it)
            one, of_all = PAIR.subn(r"\1xA-xB", name)
            named = ", ".join(f"`{model}`" for model in users)
            about = re.sub(r"x1 to one of x1", "xA to one of xB", meaning[1]) if of_all else meaning[1]
            line = f"| `{one}` | {kind(field)} | {default} | {about} | {named} |"
            if not of_all or name == "latency.x1-x1":
                lines.append(line)
    return lines


def kinds(workload: dict[str, Any]) -> dict[str, Any]:
    """Return the section of every kind of workload; of some the name of a file is enough."""
    sections = {
        name: choice
        for name, held in workload["properties"].items()
        for choice in held.get("anyOf", [held])
        if "properties" in choice
    }
    return {name: held for name, held in sections.items() if name not in ("steady-state", "programs")}


def tables() -> dict[str, list[str]]:
    """Return every generated table by its name."""
    top = SCHEMA["properties"]
    workload = top["workloads"]["additionalProperties"]
    others = {name: held for name, held in workload["properties"].items() if name not in kinds(workload)}
    return {
        "links": rows_of(top["links"]["additionalProperties"]),
        "partitions": rows_of(top["partitions"]["additionalProperties"]),
        "attach": rows_of(top["partitions"]["additionalProperties"]["properties"]["attach"]["items"]),
        "subsystems": rows_of(top["subsystems"]["additionalProperties"]),
        "interleave": rows_of(top["interleave"]["additionalProperties"]),
        "workloads": rows_of({**workload, "properties": others}),
        **{name: rows_of(section) for name, section in kinds(workload).items()},
        "actions": rows_of(workload["properties"]["actions"]["items"]),
        "steady state": rows_of(workload["properties"]["steady-state"]),
        "programs": rows_of(workload["properties"]["programs"]),
        "sweep": rows_of(top["sweep"]["additionalProperties"]["anyOf"][1]),
        "search": rows_of(top["search"]),
        "prices": rows_of(top["prices"]["properties"]["parts"]["additionalProperties"]),
        "compare": rows_of(top["compare"]),
        "run": rows_of(top["run"]),
        "ports": parameter_rows(port=True),
        "parameters": parameter_rows(port=False),
    }


def test_every_table_is_what_the_schema_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = tables()
    assert {match[2] for match in TABLE.finditer(page)} == set(made)
    right = TABLE.sub(lambda match: match[1] + "\n".join(made[match[2]]) + "\n" + match[3], page)
    if os.environ.get("ACCEPT"):
        PAGE.write_text(right, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == right, "ACCEPT=1 rewrites the tables"


def test_every_parameter_belongs_to_a_model() -> None:
    component = SCHEMA["properties"]["machine"]["additionalProperties"]["properties"]
    assert set.union(*models().values()) == set(component) - {"part", "model"}
    assert "port.tags" in models()["dma-requester"]
    ports = {model for model, names in models().items() if "port.tags" in names}
    assert ports == set(re.findall(r"`([a-z-]+)`", re.findall("(.*) have PCIe ports", PAGE.read_text())[0]))


def test_every_section_is_on_the_page() -> None:
    headings = re.findall(r"^## `([a-z]+)`", PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(headings) == sorted(set(SCHEMA["properties"]) - {"origins"})


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S))
def test_every_example_is_right(example: str, tmp_path: Path) -> None:
    """An example is a fragment: the sections that it leaves out are those of a small scenario."""
    absent = [text for name, text in SMALL.items() if f"\n{name}:" not in f"\n{example}"]
    file = tmp_path / "example.yaml"
    file.write_text("".join(absent) + example, encoding="utf-8")
    assert engine.check(str(file))["diagnostics"] == []
