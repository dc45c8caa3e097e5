"""Answers say what the verdicts say, no more and no less."""

from typing import Any

import pytest

from lanetwin.iometer import TOTAL, iometer_bars, iometer_tables
from lanetwin.results import Results
from lanetwin.summary import (
    answers,
    device_tables,
    limits,
    stopped,
    tables,
    variants,
    verdict_words,
)


def test_every_verdict_is_told_exactly_once(results: Results) -> None:
    told = [answer for answer in answers(results) if answer.outcome]
    kinds = {(v["workload"], v["metric"], v["variant"], v["verdict"]) for v in results["verdicts"]}
    assert len(told) == len(kinds)
    assert {answer.outcome for answer in told} == {v["verdict"] for v in results["verdicts"]}


def test_one_verdict_is_told_with_its_interval(results: Results) -> None:
    results["verdicts"] = [
        {
            "workload": "read-sweep",
            "case": "64 B",
            "metric": "throughput",
            "baseline": "as-is",
            "variant": "gen4",
            "change": 0.021,
            "low": 0.019,
            "high": 0.023,
            "verdict": "better",
            "margin": 0.02,
            "spread": "repeats",
        }
    ]
    (answer,) = answers(results)
    assert str(answer) == (
        "read-sweep: Throughput is better with gen4 than with as-is: "
        "+2.1\u202f% (95\u202f% interval +1.9 … +2.3\u202f%)."
    )


def test_an_interval_without_zero_that_is_no_verdict_says_why(results: Results) -> None:
    verdict = results["verdicts"][0]
    verdict |= {"verdict": "inconclusive", "change": 0.021, "low": 0.002, "high": 0.04, "judged_together": 3}
    verdict["spread"] = "repeats"
    results["verdicts"] = [verdict]
    (answer,) = answers(results)
    assert answer.statement.endswith(
        "(95\u202f% interval +0.2 … +4.0\u202f%, too near to 0 as one of 3 metrics judged together)."
    )
    del verdict["judged_together"]
    (answer,) = answers(results)
    assert answer.statement.endswith("(95\u202f% interval +0.2 … +4.0\u202f%).")


def test_a_group_with_intervals_without_zero_says_why_they_are_no_verdicts(results: Results) -> None:
    two: Any = [
        dict(results["verdicts"][0]) | {"case": case, "verdict": "inconclusive"} for case in ("a", "b")
    ]
    results["verdicts"] = two
    (answer,) = answers(results)
    assert "judged together" not in answer.statement
    two[0]["judged_together"] = 3
    (answer,) = answers(results)
    why = "At 1 of them the interval leaves 0 out, but is too near to it as one of 3 metrics judged together."
    assert answer.statement.endswith(why)


def test_a_verdict_on_what_was_not_steady_says_so_first(results: Results) -> None:
    verdict = results["verdicts"][0]
    verdict |= {"not_steady": "gen4: rate: range 31 %, slope 24 %", "spread": "none"}
    results["verdicts"] = [verdict]
    (answer,) = answers(results)
    assert answer.statement.startswith("NOT STEADY (gen4: rate: range 31 %, slope 24 %). ")
    assert "(one sample of each)" in answer.statement
    assert verdict_words(verdict) == f"NOT STEADY: {verdict['verdict']}"


def test_metrics_that_compare_alike_are_told_together(results: Results) -> None:
    group = [v for v in results["verdicts"] if v["workload"] == "read-sweep" and v["metric"] == "throughput"]
    alone = answers({**results, "verdicts": group})
    twice: Any = [*group, *({**verdict, "metric": "transfers"} for verdict in group)]
    again: Results = {**results, "verdicts": twice}
    assert len(answers(again)) == len(alone)
    assert answers(again)[0].statement.startswith("Throughput and transfers are better with gen4 than")
    again["verdicts"][-1]["verdict"] = "worse"
    assert len(answers(again)) > len(alone)


def test_a_worse_case_is_not_hidden_among_better_ones(results: Results) -> None:
    results["verdicts"][7]["verdict"] = "worse"
    first = answers(results)[0]
    assert first.outcome == "worse"
    assert "2048\u00a0B" in first.statement


def test_without_a_comparison_both_ends_of_every_sweep_are_told(partial: Results) -> None:
    told = [str(answer) for answer in answers(partial)]
    assert len(told) == 5
    assert told[0].startswith("read-sweep: Throughput: 7.996 ± 0.012\u202fGb/s at 16\u00a0B, ")


def test_tables_have_every_row_and_the_baseline_first(results: Results) -> None:
    results["rows"].reverse()
    assert variants(results) == ["as-is", "gen4"]
    found = tables(results)
    assert sum(len(line.values) for table in found for line in table.lines) == len(results["rows"])
    assert all(table.variants == ["as-is", "gen4"] for table in found)


def test_neighbouring_cases_with_one_limit_are_taken_together(results: Results) -> None:
    first, second, *_ = limits(results)
    assert (first.variant, first.cases, first.name) == ("as-is", "16 B … 64 B", "card: transaction engine")
    assert (second.cases, second.name) == ("128 B … 2048 B", "slot: cpu → card")


def test_only_a_partial_result_says_so(results: Results, partial: Results) -> None:
    assert stopped(results) is None
    assert "interrupted" in (stopped(partial) or "")


def test_several_devices_are_told_beside_the_sum_and_not_in_it(several: Results) -> None:
    of_all = [row for row in several["rows"] if "device" not in row]
    alone: Results = {**several, "rows": of_all}
    assert [answer.statement for answer in answers(several)] == [
        answer.statement for answer in answers(alone)
    ]
    assert tables(several) == tables(alone)
    assert device_tables(alone) == []
    told = {table.workload: table for table in device_tables(several)}
    assert list(told) == ["read-sweep", "write-sweep", "latency", "load"]
    sweep = told["read-sweep"]
    assert sweep.title == "read-sweep: by device"
    assert [(line.case, line.variant, line.device) for line in sweep.lines[:5]] == [
        ("16 B", "as-is", "card1"),
        ("16 B", "as-is", "card2"),
        ("16 B", "gen4", "card1"),
        ("16 B", "gen4", "card2"),
        ("32 B", "as-is", "card1"),
    ]
    one, other = sweep.lines[:2]
    assert one.throughput
    assert other.throughput
    assert one.throughput["value"] == pytest.approx(2 * other.throughput["value"])
    tails = [line.percentile(100.0) for line in told["latency"].lines[:2]]
    assert tails == [8000.0, 9000.0]


def test_reads_and_writes_of_devices_are_tables_of_their_own(several: Results) -> None:
    for row in several["rows"]:
        row["metric"] = f"read {row['metric']}"
    assert next(table.title for table in device_tables(several)) == "read-sweep: read by device"


def test_of_two_lists_of_names_the_best_is_told(results: Results) -> None:
    row = next(row for row in results["rows"] if row["metric"] == "throughput")
    values = {"dram, reads": 30.0, "dram, both": 25.0, "split, reads": 20.0, "split, both": 40.0}
    alike = {"variant": "as-is", "workload": "ratio", "x": None, "unit": "GB/s"}
    rows: Any = [
        {**row, **alike, "case": case, "value": v, "low": v - 1, "high": v + 1} for case, v in values.items()
    ]
    (answer,) = answers({**results, "rows": rows, "verdicts": []})
    told = answer.statement.replace("\u00a0", " ")
    assert told.startswith("Throughput is highest at dram for reads (30.0 ± 1.0")
    assert "at split for both (40.0 ± 1.0" in told
    for one in rows:
        one["x"] = 1.0
    (answer,) = answers({**results, "rows": rows, "verdicts": []})
    assert "highest" not in answer.statement, "an axis has two ends"


def test_cases_of_iometer_stand_side_by_side_with_bars() -> None:
    def metric(case: str, variant: str, value: float, **more: str) -> dict[str, Any]:
        words = {"workload": "w", "family": "Megabytes per Second", "unit": "MB/s", "metric": TOTAL}
        return {**words, "case": case, "variant": variant, "value": value, **more}

    found = [metric("reads", "without", 1000.0), metric("reads", "with", 900.0)]
    found += [metric("writes", "without", 2000.0), metric("writes", "with", 2100.0)]
    found += [metric("reads", "without", 7.0, of="HOST/Worker 1")]
    rows = [{"variant": name} for name in ("without", "with")]
    results: Any = {"rows": rows, "iometer": found, "verdicts": []}
    lines = iometer_bars(iometer_tables(results))
    assert [(line.case, [bar.value for bar in line.bars]) for line in lines] == [
        ("reads", [1000.0, 900.0]),
        ("writes", [2000.0, 2100.0]),
    ]
    assert [bar.change for bar in lines[0].bars] == [None, pytest.approx(-0.1)]
    assert max(bar.share for line in lines for bar in line.bars) == 1.0
    few: Any = {"rows": rows, "iometer": found[:1], "verdicts": []}
    assert iometer_bars(iometer_tables(few)) == []
