"""Rounds until a drive is steady: what the terminal and the report show of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import pytest

from lanetwin import report, steadiness
from lanetwin.report.figures import rounds
from lanetwin.report.figures.axes import NARROW, WIDE
from shown import before_the_data, on_terminal

if TYPE_CHECKING:
    from lanetwin.results import Results, SteadyState


def course(variant: str, iops: list[float], **changes: Any) -> SteadyState:
    """Return the rounds of a case."""
    one = {
        "variant": variant,
        "workload": "wsat",
        "case": "<b>wsat",
        "repeat": 1,
        "rule": "SNIA PTS 2.0.1",
        "of": "iops",
        "round_seconds": 0.06,
        "rounds": [
            {
                "iops": value,
                "bytes_per_second": value * 4096,
                "latency_ns": 32e9 / value if value else None,
                "p99_ns": 64e9 / value if value else None,
                "write_amplification": None,
            }
            for value in iops
        ],
        "attained": True,
        "range": 0.0304,
        "slope": 0.012,
        "range_limit": 0.2,
        "slope_limit": 0.1,
    }
    return cast("SteadyState", one | changes)


@pytest.fixture
def settled(results: Results) -> Results:
    """Return a document with two variants that went in rounds, one of them in vain in one of two repeats."""
    own = copy.deepcopy(results)
    steady = course("as-is", [16500.0, 15000.0, 9000.0, 6900.0, 7000.0, 7100.0, 6900.0, 7000.0])
    failed = course("gen4", [16000.0, 0.0, 9000.0, 4000.0, 2000.0], attained=False, range=None, slope=None)
    again = course("gen4", [7000.0] * 5, repeat=2)
    own["steady"] = [steady, failed, again]
    return own


def test_a_case_is_told_with_the_round_in_which_it_was_steady(settled: Results) -> None:
    first, second = steadiness.cases(settled)
    assert steadiness.verdict(first) == "after 8 rounds"
    assert steadiness.verdict(second) == "not after 5 rounds"
    assert [steadiness.agreement(settled, one) for one in (first, second)] == ["1 of 1", "1 of 2"]
    assert steadiness.beside_limit(first["range"], first["range_limit"]) == "3.0\u202f% of 20.0\u202f%"
    assert steadiness.beside_limit(None, 0.2) == "–"


def test_the_terminal_shows_every_round(settled: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_terminal(settled, monkeypatch)
    assert "Steady state, SNIA PTS 2.0.1" in text
    assert "after 8 rounds" in text
    assert "IOPS [k/s]: 16.50 15.00 9.000 6.900 7.000 7.100 6.900 7.000" in text


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_rounds_are_drawn_and_those_that_were_judged_are_marked(settled: Results, width: float) -> None:
    [found] = rounds.courses(settled)
    assert list(found.series) == ["as-is", "gen4"]
    assert "as-is: from 16.50 k/s to 7.000 k/s, steady after 8 rounds" in found.description.replace(
        "\u202f", " "
    )
    drawing = rounds.draw(found, "key", width)
    assert drawing.count("dot s0") == steadiness.WINDOW
    assert drawing.count("dot s1") == steadiness.WINDOW


def test_the_report_tells_all_rounds_and_escapes_names(settled: Results) -> None:
    page = report.render(settled)
    assert 'id="steady"' in page
    assert "not after 5 rounds" in page
    assert "<b>wsat" not in before_the_data(page)


def test_without_rounds_nothing_is_said(results: Results) -> None:
    assert 'id="steady"' not in report.render(results)
    assert rounds.courses(results) == []
