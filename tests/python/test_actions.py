"""Commands at given times: what the terminal and the report show of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

import pytest

from lanetwin import actions, report
from shown import before_the_data, on_terminal

if TYPE_CHECKING:
    from lanetwin.results import ActionOutcome, Results


def outcome(**changes: object) -> ActionOutcome:
    """Return what became of a sanitize."""
    one = {
        "variant": "as-is",
        "workload": "mixed",
        "case": "<b>4 KiB",
        "host": "cpu",
        "drive": "ssd",
        "action": "sanitize",
        "at_seconds": 0.003,
        "status": "Successful Completion",
        "status_code": 0,
        "success": True,
        "latency_ns": 8_250.0,
        "operation_ns": 160.4e6,
        "during": "afterwards",
    }
    return cast("ActionOutcome", one | changes)


SMART = [{"name": "Data Units Read", "value": 12.0, "unit": "1000 × 512 B"}]
ERRORS = [
    {"count": 1, "queue": 1, "opcode": 5, "status": "LBA Out of Range", "namespace": 2, "lba": 77},
    {"count": 2, "opcode": 0, "status": "Invalid Field in Command", "namespace": 0, "lba": 0},
]


def test_an_action_is_told_with_status_and_durations() -> None:
    told = [word.replace("\u202f", " ") for word in actions.told(outcome())]
    assert told[:4] == ["sanitize", "cpu", "ssd", "3.000 ms"]
    assert told[4:] == ["afterwards", "Successful Completion", "8.250 µs", "160.4 ms"]
    lost = outcome(status="the path was lost before it ended", latency_ns=None, operation_ns=None)
    assert actions.told(lost)[-2:] == ["–", "–"]


def test_logs_are_told_field_by_field() -> None:
    fields = actions.fields(outcome(action="smart-log", values=SMART, errors=ERRORS))
    assert [line[2:] for line in fields] == [
        ["Data Units Read", "12 × 1000 × 512 B"],
        ["error 1", "LBA Out of Range: opcode 05h, queue 1, namespace 2, LBA 77"],
        ["error 2", "Invalid Field in Command: no command, namespace 0, LBA 0"],
    ]


@pytest.fixture
def found(results: Results) -> Results:
    """Return a document with two actions."""
    document = copy.deepcopy(results)
    document["actions"] = [outcome(), outcome(action="smart-log", values=SMART)]
    return document


def test_terminal_and_report_show_them(found: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(found, monkeypatch)
    assert "Commands at given times" in shown
    assert "Data Units Read" in shown
    page = report.render(found)
    assert 'id="commands"' in page
    assert "Data Units Read" in page
    assert "<b>4 KiB" not in before_the_data(page)


def test_a_document_without_them_has_no_section(results: Results) -> None:
    assert 'id="commands"' not in report.render(results)
