"""The comparison of two builds sees what differs, and nothing else."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

import compare_builds
from compare_builds import Build, Question, summary
from differences import ABSENT, Rules, compare

if TYPE_CHECKING:
    from pathlib import Path

STRICT = Rules()
SCENARIO = Question("scenario", "scenarios/slot.yaml")


def row(case: str, value: float, metric: str = "throughput") -> dict[str, Any]:
    return {
        "variant": "direct", "workload": "read", "case": case, "metric": metric, "unit": "Gb/s",
        "value": value, "low": value, "high": value, "samples": [value, value],
    }  # fmt: skip


@pytest.fixture(name="document")
def document_fixture() -> dict[str, Any]:
    """Return a small results document."""
    verdict = {
        "workload": "read", "case": "64 B", "metric": "clear_time", "baseline": "direct",
        "variant": "retimer", "change": 0.1, "verdict": "better",
    }  # fmt: skip
    place = {"variant": "direct", "workload": "read", "case": "64 B"}
    stages = [{"name": "card: tag", "value": 1.0}, {"name": "wire", "value": 2.0}]
    return {
        "digest": "0123456789abcdef",
        "cost": {"cpu_seconds": 1.5},
        "scenario": {"path": "/somewhere/slot.yaml"},
        "plan": {"machine": {"card": {"issue": "80ns", "tags": 32}}},
        "rows": [row("64 B", 10.0), row("128 B", 20.0)],
        "verdicts": [verdict],
        "waterfalls": [{**place, "total": 3.0, "stages": stages}],
        "utilisation": [{**place, "link": "slot", "direction": "a → b", "tlp": 0.5}],
    }


def told(before: dict[str, Any], after: dict[str, Any], rules: Rules = STRICT) -> list[str]:
    return [f"{c.section}|{c.record}|{c}" for c in compare(before, after, rules).changes]


def test_equal_documents_are_equal_whatever_they_cost(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["cost"]["cpu_seconds"] = 9.0
    other["scenario"]["path"] = "/elsewhere/slot.yaml"
    comparison = compare(document, other, STRICT)
    assert comparison.changes == []
    assert summary(SCENARIO, comparison).startswith("equal ")
    assert "2 rows" in summary(SCENARIO, comparison)


def test_a_value_that_moved_is_told_with_both_values(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["rows"][1]["value"] = 21.0
    assert told(document, other) == ["rows|direct / read / 128 B / throughput|value 20.0 → 21.0 (+5 %)"]
    assert "rows: 1 of 2" in summary(SCENARIO, compare(document, other, STRICT))


def test_one_row_more_moves_no_other(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["rows"].insert(0, row("32 B", 5.0))
    (change,) = compare(document, other, STRICT).changes
    assert (change.record, change.before) == ("direct / read / 32 B / throughput", ABSENT)
    (change,) = compare(other, document, STRICT).changes
    assert change.after == ABSENT


def test_another_order_is_a_difference_of_its_own(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["rows"].reverse()
    assert [change.record for change in compare(document, other, STRICT).changes] == ["order"]
    assert compare(document, other, Rules(ignore=frozenset({"order"}))).changes == []


def test_records_of_one_name_are_told_apart(document: dict[str, Any]) -> None:
    document["rows"].append(row("64 B", 11.0))
    other = copy.deepcopy(document)
    other["rows"][2]["value"] = 12.0
    (change,) = compare(document, other, STRICT).changes
    assert change.record.endswith("throughput #2")


def test_the_plan_is_compared_by_path(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["plan"]["machine"]["card"] = {"issue": "90ns", "tags": 32, "lanes": 4}
    assert told(document, other) == [
        'plan||machine.card.issue "80ns" → "90ns"',
        "plan||machine.card.lanes (absent) → 4",
    ]


def test_a_stage_and_a_share_of_a_link_are_named(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["waterfalls"][0]["stages"][1]["value"] = 2.5
    other["utilisation"][0]["tlp"] = 0.25
    assert told(document, other) == [
        "waterfalls|direct / read / 64 B|stages[wire].value 2.0 → 2.5 (+25 %)",
        "utilisation|direct / read / 64 B / slot / a → b|tlp 0.5 → 0.25 (-50 %)",
    ]


def test_what_is_ignored_may_differ_and_nothing_else(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["digest"] = "fedcba9876543210"
    other["rows"][0]["unit"] = "GB/s"
    other["components"] = [{"name": "card"}]
    rules = Rules(ignore=frozenset({"digest", "components"}))
    assert [change.section for change in compare(document, other, rules).changes] == ["rows"]


@pytest.mark.parametrize(("metric", "differs"), [("clear_time", False), ("throughput", True)])
def test_only_a_corrected_metric_may_turn_its_verdicts(
    document: dict[str, Any], metric: str, differs: bool
) -> None:
    other = copy.deepcopy(document)
    other["verdicts"][0]["verdict"] = "worse"
    comparison = compare(document, other, Rules(corrected=frozenset({metric})))
    assert bool(comparison.changes) == differs
    assert comparison.corrected["clear_time"] == (not differs)


def test_a_corrected_direction_makes_nothing_equivalent(document: dict[str, Any]) -> None:
    other = copy.deepcopy(document)
    other["verdicts"][0]["verdict"] = "equivalent"
    assert compare(document, other, Rules(corrected=frozenset({"clear_time"}))).changes


def test_long_lists_of_differences_are_cut_and_counted(document: dict[str, Any]) -> None:
    document["rows"] = [row(f"{at} B", 1.0) for at in range(20)]
    other = copy.deepcopy(document)
    other["rows"] = [row(f"{at} B", 2.0) for at in range(20)]
    comparison = compare(document, other, STRICT)
    short = summary(SCENARIO, comparison)
    assert "rows: 20 of 20" in short
    assert "… and 12 more" in short
    assert "19 B" in summary(SCENARIO, comparison, everything=True)


def test_a_build_is_compared_with_itself_and_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare_builds, "CACHE", tmp_path)
    monkeypatch.setattr("sys.argv", ["compare-builds", str(compare_builds.ROOT), "--only", "section-i"])
    assert compare_builds.main() == 0
    said = capsys.readouterr()
    assert "equal   claim     section-i" in said.out
    assert "1 compared, 0 differ" in said.out
    assert [file.name for file in tmp_path.rglob("*.json")] == ["claim-section-i.json"]


def test_a_difference_is_status_3_and_a_folder_without_a_build_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter([{"digest": "a"}, {"digest": "b"}])
    monkeypatch.setattr(Build, "answer", lambda _self, _question: next(answers))
    monkeypatch.setattr("sys.argv", ["compare-builds", str(compare_builds.ROOT), "--only", "section-i"])
    assert compare_builds.main() == 3
    assert 'digest: 1 value\n      "a" → "b"' in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["compare-builds", str(tmp_path)])
    assert compare_builds.main() == 1
    assert "make install" in capsys.readouterr().err
