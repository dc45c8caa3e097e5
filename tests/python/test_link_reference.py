"""Do the tables of keys in the guide to channels name what the schema has? No engine is needed for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "link-budget.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "link.schema.json").read_text(encoding="utf-8"))
ELEMENT = SCHEMA["properties"]["chain"]["items"]
NEIGHBOUR = SCHEMA["properties"]["crosstalk"]["items"]


def first_cells(heading: str) -> list[str]:
    """Return the first cells of the table whose first column has this heading."""
    table = re.search(rf"^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.M)
    assert table, heading
    return [row.split("|")[1] for row in table[1].splitlines()]


def words(cells: list[str]) -> set[str]:
    """Return the keys that cells show as code, without examples of their values."""
    return {code.split(":")[0] for cell in cells for code in re.findall(r"`([^`]+)`", cell)}


def test_every_key_of_a_document_is_in_its_table_and_no_other() -> None:
    assert words(first_cells("Key")) == set(SCHEMA["properties"])


def test_every_kind_of_element_is_in_its_table_and_every_key_is_on_the_page() -> None:
    kinds = {rule["required"][0] for rule in ELEMENT["oneOf"]}
    shown = words(first_cells("Element"))
    assert kinds <= shown <= set(ELEMENT["properties"])
    for key in ELEMENT["properties"]:
        assert re.search(rf"`{key}\b", PAGE), key


def test_every_key_of_a_neighbour_is_in_its_table_and_no_other() -> None:
    assert words(first_cells("Neighbour")) == set(NEIGHBOUR["properties"])


@pytest.mark.parametrize("key", ["corner", "stress", "equalisation"])
def test_every_choice_is_named(key: str) -> None:
    row = next(row for row in PAGE.splitlines() if row.startswith(f"| `{key}` |"))
    for word in SCHEMA["properties"][key]["enum"]:
        assert f"`{word}`" in row, word
