"""Links that went down and came back: what the terminal and the report show of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

import pytest

from lanetwin import outages, report
from shown import before_the_data, on_terminal

if TYPE_CHECKING:
    from lanetwin.results import LinkOutage, Results


def outage(**changes: object) -> LinkOutage:
    """Return a link that came back as it was."""
    one = {
        "variant": "as-is",
        "workload": "read",
        "case": "<b>4 KiB",
        "link": "slot",
        "at_seconds": 0.06,
        "seconds": 0.0543,
        "by": "hot-reset",
        "generation": 5,
        "lanes": 4,
        "whole": True,
        "before_bytes_per_second": 14.36e9,
        "after_bytes_per_second": 14.36e9,
    }
    return cast("LinkOutage", one | changes)


LESS = outage(variant="slower", generation=4, whole=False, after_bytes_per_second=7.178e9)


def test_an_outage_is_told_with_what_came_of_it() -> None:
    told = [word.replace("\u202f", " ") for word in outages.told(LESS)]
    assert told == ["slot", "60.00 ms", "hot-reset", "54.30 ms", "Gen4 x4 !", "14.36 GB/s", "7.178 GB/s"]
    plain = outage(after_bytes_per_second=None)
    plain.pop("by")
    told = outages.told(plain)
    assert (told[2], told[-1]) == ("–", "–")


@pytest.fixture
def found(results: Results) -> Results:
    """Return a document with two outages."""
    document = copy.deepcopy(results)
    document["outages"] = [outage(), LESS]
    return document


def test_terminal_and_report_show_them(found: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Links that came back" in on_terminal(found, monkeypatch)
    page = report.render(found)
    assert 'id="comebacks"' in page
    assert "1 of 2 with less than before" in page
    assert "<b>4 KiB" not in before_the_data(page)
    found["outages"].pop()
    assert "Each time with the rate and width that they had." in report.render(found)


def test_the_answer_names_those_that_came_back_with_less(found: Results) -> None:
    said = "slot: came back 2 times, with less than before: slot Gen4 x4 (slower)."
    assert outages.in_short(found).startswith(said)
    found["outages"].pop()
    assert "came back once, as before" in outages.in_short(found)


def test_a_document_without_them_has_no_section(results: Results) -> None:
    assert 'id="comebacks"' not in report.render(results)
    assert not outages.in_short(results)
