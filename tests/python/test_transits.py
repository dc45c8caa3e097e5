"""Times in switches: what the terminal and the report show of them, one load beside another."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import pytest

from lanetwin import report
from lanetwin.report.figures import transits
from lanetwin.report.figures.axes import NARROW, WIDE
from lanetwin.transits import latencies, passages
from shown import on_terminal

if TYPE_CHECKING:
    from lanetwin.results import Results, SwitchTransit


def transit(**changes: Any) -> SwitchTransit:
    """Return a way through a switch."""
    one = {
        "variant": "as-is",
        "workload": "alone",
        "case": "256 B",
        "switch": "sw",
        "from": "bay1",
        "to": "up",
        "way": "card1 → host",
        "widths": "x4 → x4",
        "tlp": "MWr",
        "bytes": 280,
        "packets": 1000,
        "latency": 110.0,
        "latency_parameter": "latency",
        "latency_kind": "assumed",
        "latency_source": "an engineering estimate",
        "valid_for": "wide ports <and> an empty switch",
        "unit": "ns",
        "idle": 113.047,
        "shortest": 113.047,
        "median": 113.047,
        "p99": 113.047,
        "longest": 113.047,
    }
    return cast("SwitchTransit", one | changes)


@pytest.fixture
def crossed(results: Results) -> Results:
    """Return results with one flow, then four at once."""
    alone = [transit(variant=variant) for variant in ("as-is", "gen4")]
    together = [
        transit(
            variant=variant,
            workload="together",
            way=f"card{n} → host",
            longest=113.047 + 35.547 * (n - 1),
            **{"from": f"bay{n}"},
        )
        for variant in ("as-is", "gen4")
        for n in (1, 2, 3, 4)
    ]
    found = copy.deepcopy(results)
    found["switches"] = [
        one for variant in ("as-is", "gen4") for one in alone + together if one["variant"] == variant
    ]
    return found


def test_of_ways_that_are_alike_the_slowest_is_shown(crossed: Results) -> None:
    told = [(one.transit["workload"], one.transit["variant"], one.way) for one in passages(crossed)]
    assert told == [
        ("alone", "as-is", "card1 → host"),
        ("alone", "gen4", "card1 → host"),
        ("together", "as-is", "card4 → host (of 4)"),
        ("together", "gen4", "card4 → host (of 4)"),
    ]


def test_widths_and_kinds_of_packets_are_told_apart(crossed: Results) -> None:
    crossed["switches"] = [transit(), transit(widths="x16 → x4"), transit(tlp="MRd", bytes=24)]
    assert [(one.tlp, one.transit["widths"], one.ways) for one in passages(crossed)] == [
        ("MWr 280 B", "x4 → x4", 1),
        ("MWr 280 B", "x16 → x4", 1),
        ("MRd 24 B", "x4 → x4", 1),
    ]


def test_a_latency_is_told_once_with_the_widths_that_it_was_used_for(crossed: Results) -> None:
    crossed["switches"] = [
        transit(),
        transit(widths="x16 → x4"),
        transit(latency_kind="scenario", latency=90.5),
    ]
    first, second = latencies(crossed)
    assert (first.value, first.used_for, first.kind) == ("110 ns", "x4 → x4, x16 → x4", "assumed")
    assert (second.value, second.used_for, second.kind) == ("90.5 ns", "x4 → x4", "scenario")


def test_the_terminal_shows_the_last_beside_the_empty_switch(
    crossed: Results, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = on_terminal(crossed, monkeypatch)
    lines = text[text.index("In the switches [ns]") :].splitlines()
    assert lines[1].split() == [
        "workload",
        "variant",
        "way",
        "packets",
        "widths",
        "idle",
        "median",
        "p99",
        "last",
    ]
    assert lines[5].startswith("together")
    assert lines[5].split()[-4:] == ["113.0", "113.0", "113.0", "219.7"]
    assert "In the switches" not in on_terminal(results, monkeypatch)


def test_a_long_table_shows_the_ends_of_each_sweep(crossed: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    crossed["switches"] = [transit(case=f"{2**n} B", bytes=24 + n) for n in range(40)]
    text = on_terminal(crossed, monkeypatch)
    table = text[text.index("In the switches") : text.index("What limits it")]
    assert "first and last case" in table
    assert "MWr 24 B" in table
    assert "MWr 63 B" in table
    assert "MWr 40 B" not in table


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_figure_marks_four_points_on_every_line(crossed: Results, width: float) -> None:
    [shown] = transits.transits(crossed)
    assert [label for label, _ in shown.lines] == [
        "alone, as-is",
        "alone, gen4",
        "together, as-is",
        "together, gen4",
    ]
    drawn = transits.draw(shown, "k", width)
    assert drawn.count('class="dot') == 4 + 4 * len(shown.lines)
    assert "together, gen4, card4 → host (of 4): last 219.7" in drawn
    assert "empty switch 113.0" in shown.description
    assert "last 219.7" in shown.description


def test_the_report_has_a_section_with_every_way_and_what_the_latency_is_valid_for(crossed: Results) -> None:
    html = report.render(crossed)
    section = html[html.index('<section id="switches">') :]
    section = section[: section.index("</section>")]
    assert "Every way through every switch" in section
    assert section.count("bay4 → up") == 2
    assert "wide ports &lt;and&gt; an empty switch" in section
    assert '<section id="switches">' not in report.render({**crossed, "switches": []})
