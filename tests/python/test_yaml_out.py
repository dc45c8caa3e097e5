"""What is written as YAML is read back by a stranger as the same value."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lanetwin.yaml_out import dump

TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    [
        "on",
        "No",
        "null",
        "~",
        "1e5",
        "0x10",
        "1:30",
        "128KiB",
        "32GT/s",
        "2%",
        "a: b",
        "- x",
        "#",
        "",
        "é",
        "\x85",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)


@given(VALUES)
def test_a_stranger_reads_the_same_value(value: Any) -> None:
    assert yaml.safe_load(dump(value)) == value


@pytest.mark.parametrize("text", ["128KiB", "32GT/s", "60 us", "generic-host-gen4", "2%", "x8"])
def test_quantities_and_names_need_no_quotes(text: str) -> None:
    assert dump({"key": text}) == f"key: {text}\n"


def test_nesting_is_shown_by_indentation_and_short_lists_by_brackets() -> None:
    value = {"links": {"slot": {"gen": 3, "via": ["a", "b"]}}, "on": [{"x": 1}]}
    assert dump(value) == 'links:\n  slot:\n    gen: 3\n    via: [a, b]\n"on":\n  - x: 1\n'
