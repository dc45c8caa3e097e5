"""The index of examples lists every scenario under its own question."""

import os
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "examples.md"
OPENING, END = "<!-- generated: examples -->\n", "<!-- end -->"


def rows(folder: str) -> str:
    """Return a line for each scenario of a folder: its question, and its file."""
    lines = ["| You ask | Run |", "|---|---|"]
    for file in sorted((ROOT / folder).glob("*.yaml")):
        about = " ".join(str(yaml.safe_load(file.read_text(encoding="utf-8")).get("about", "")).split())
        lines.append(f"| {about.replace('|', '/')} | [`{folder}/{file.name}`](../{folder}/{file.name}) |")
    return "\n".join(lines) + "\n"


def test_every_example_stands_under_its_question() -> None:
    page = INDEX.read_text(encoding="utf-8")
    parts = page.split(OPENING)
    now = parts[0]
    for folder, part in zip(("scenarios", "scenarios/long"), parts[1:], strict=True):
        now += OPENING + rows(folder) + END + part.split(END, 1)[1]
    if os.environ.get("ACCEPT"):
        INDEX.write_text(now, encoding="utf-8")
    assert INDEX.read_text(encoding="utf-8") == now
