"""Ticks are round, cover the values, and labels keep their distance."""

import itertools

from hypothesis import assume, given
from hypothesis import strategies as st

from lanetwin.report.scale import Scale, binary_ticks, linear_ticks, spread

ENDS = st.floats(-1e9, 1e9)


@given(ENDS, ENDS, st.integers(2, 12))
def test_linear_ticks_cover_the_range_and_are_few(a: float, b: float, about: int) -> None:
    low, high = min(a, b), max(a, b)
    assume(high - low > 1e-6 * max(abs(low), abs(high), 1e-3))
    ticks = linear_ticks(low, high, about)
    reach = (high - low) * 1e-6
    assert ticks[0] <= low + reach
    assert ticks[-1] >= high - reach
    assert 2 <= len(ticks) <= 2.5 * about + 3
    assert ticks == sorted(set(ticks))


@given(st.integers(0, 30), st.integers(0, 12), st.integers(2, 9))
def test_binary_ticks_are_powers_of_two_inside_the_range(first: int, octaves: int, at_most: int) -> None:
    ticks = binary_ticks(2.0**first, 2.0 ** (first + octaves), at_most)
    assert 1 <= len(ticks) <= at_most
    assert all(float(tick).hex().startswith("0x1.0000000000000p") for tick in ticks)
    assert 2.0**first == ticks[0]
    assert ticks[-1] <= 2.0 ** (first + octaves)


@given(st.lists(st.floats(0, 300), min_size=1, max_size=12))
def test_labels_are_apart_in_order_and_on_the_drawing(places: list[float]) -> None:
    moved = spread(places, 15, 0, 300)
    pairs = sorted(zip(places, moved, strict=True))
    heights = sorted(moved)
    assert all(b - a >= 15 - 1e-6 for a, b in itertools.pairwise(heights))
    assert all(-1e-6 <= height <= 300 + 1e-6 for height in moved)
    assert all(a[1] <= b[1] + 1e-6 for a, b in itertools.pairwise(pairs) if a[0] < b[0])


def test_a_logarithmic_scale_gives_equal_ratios_equal_lengths() -> None:
    scale = Scale(16, 2048, 0, 70, logarithmic=True)
    assert [round(scale(16 * 2**k), 6) for k in range(8)] == [0, 10, 20, 30, 40, 50, 60, 70]
