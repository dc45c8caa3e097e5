"""Numbers read as a person would write them, at every magnitude."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanetwin.numbers import MINUS, NARROW_SPACE, change_interval, compact, measured, share, significant

MAGNITUDES = st.floats(1e-6, 1e12, allow_nan=False)


def read(text: str) -> float:
    """Read a number back."""
    return float(text.replace(NARROW_SPACE, "").replace(MINUS, "-"))


@given(MAGNITUDES, st.sampled_from([1, -1]))
def test_four_digits_lose_less_than_one_in_two_thousand(magnitude: float, sign: int) -> None:
    value = magnitude * sign
    assert read(significant(value)) == pytest.approx(value, rel=5.001e-4)


@given(MAGNITUDES)
def test_the_compact_form_is_the_same_number(value: float) -> None:
    assert read(compact(value)) == read(significant(value))
    assert not compact(value).endswith(".")


@given(MAGNITUDES, st.floats(1e-4, 0.5))
def test_a_value_and_its_spread_have_the_same_decimals(value: float, relative: float) -> None:
    text = measured(value, value * (1 - relative), value * (1 + relative))
    shown, spread = text.split(" ± ")
    decimals = [len(part.partition(".")[2]) for part in (shown, spread.removeprefix("< "))]
    assert decimals[0] == decimals[1]
    assert len(shown.replace(NARROW_SPACE, "").replace(".", "").lstrip("0")) >= 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [(9.9996, "10.00"), (0.0, "0"), (-0.0, "0"), (math.nan, "–"), (-math.inf, "−∞"), (999.96, "1\u202f000")],
)
def test_edges(value: float, expected: str) -> None:
    assert significant(value) == expected


def test_a_spread_too_small_to_print_is_not_printed_as_zero() -> None:
    assert measured(53.72, 53.7199, 53.7201) == "53.72 ± < 0.01"


def test_both_ends_of_an_interval_have_the_same_decimals() -> None:
    assert change_interval(-0.0009, 0.0123) == "−0.1 … +1.2\u202f%"


def test_a_share_that_exists_is_not_zero() -> None:
    assert share(0.0026) == "0.26\u202f%"
