"""What judges first answers judges them as it says; a few cheap ones are examined with every change."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

import first_answer
import first_answer_jobs
from first_answer import Found, Job
from lanetwin import _core, engine

if TYPE_CHECKING:
    from pathlib import Path

    from first_answer_jobs import Elsewhere
    from lanetwin.results import Row

JOB = Job("samsung-pm9a3", "sequential", "randrw", 70, "8k", 4, 2, "spdk")


def row(value: float, **others: object) -> Row:
    """Return a row of results as far as it matters."""
    made = {"metric": "latency", "value": value, "n": 5, "percentiles": [[99.0, 2 * value]]} | others
    return cast("Row", made)


def test_a_rate_may_be_off_by_three_per_cent_or_three_standard_errors() -> None:
    near, far = row(102.9), row(103.1)
    assert not list(first_answer.off(near, row(100.0)))
    assert list(first_answer.off(far, row(100.0))) == ["latency 103.1 for 100 (+3.1%)"]
    # an interval of ±5.552 is a standard error of 2
    unsure = row(103.1, low=103.1 - 5.552, high=103.1 + 5.552)
    assert not list(first_answer.off(unsure, row(100.0)))


def tailed(tail: float, low: float, high: float) -> Row:
    """Return a row with an interval of its 99th percentile."""
    return row(100.0, percentiles=[[99.0, tail]], percentile_intervals=[[99.0, low, high]])


def test_a_tail_may_be_off_by_ten_per_cent_or_be_told_as_not_settled() -> None:
    long = tailed(200.0, 198.0, 202.0)
    told = list(first_answer.off_in_tail(tailed(221.0, 219.0, 240.0), long))
    assert told == ["latency p99 221 for 200 (+10.5%)"]
    unsure = tailed(221.0, 190.0, 222.0) | {"unsettled": [99.0, 99.9]}
    [text] = first_answer.off_in_tail(unsure, long)
    assert text == "latency p99 221 for 200 (+10.5%, NOT SETTLED)"
    assert not Found(JOB, "", "", [text], ["latency"]).is_miss
    assert Found(JOB, "", "", [text], ["latency"]).is_confirmed
    assert Found(JOB, "", "", [text, "latency 104 for 100 (+4.0%)"], ["latency"]).is_miss
    assert not list(first_answer.off_in_tail(tailed(219.0, 218.9, 219.1), long))


def test_a_tail_near_the_bar_on_either_side_is_judged_by_more_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [first_answer.is_near(row(at), row(100.0)) for at in (96.0, 94.0, 111.0, 119.0, 121.0)] == [
        False, True, True, True, False,
    ]  # fmt: skip
    runs: list[str] = []

    def told(of_long: float, of_others: float) -> Found:
        def rows(scenario: str) -> list[Row]:
            runs.append(scenario.rsplit("run: ", 1)[1].strip())
            tail = {"{seed: 1}": 200.0, "{seed: 1001, repeats: 1}": of_long}.get(runs[-1], of_others)
            return [tailed(tail, 0.99 * tail, 1.01 * tail) | {"operations": 50_000}]

        monkeypatch.setattr(first_answer, "rows", rows)
        return first_answer.examine(JOB, 1)

    assert not told(230.0, 205.0).is_miss
    assert runs == ["{seed: 1}", "{seed: 1001, repeats: 1}", "{seed: 2001, repeats: 3}"]
    found = told(215.0, 230.0)
    assert found.is_miss
    assert found.before == ["latency p99 200: 215 in one long run, 230 in 3 others"]
    assert told(260.0, 205.0).is_miss
    assert len(runs) == 3 + 3 + 2


def test_a_tail_is_doubtful_if_as_few_leave_it_open_by_the_interval_of_the_long_run() -> None:
    def many(row: Row, operations: int) -> Row:
        return row | {"operations": operations}

    first = many(tailed(221.0, 150.0, 300.0), 50_000)
    assert first_answer.is_doubtful(first, many(tailed(200.0, 185.0, 201.0), 100_000))
    assert not first_answer.is_doubtful(first, many(tailed(200.0, 187.0, 201.0), 100_000))
    assert first_answer.is_doubtful(first, many(row(100.0), 100_000))
    assert not Found(JOB, "", "", [], ["latency"]).is_confirmed
    assert Found(JOB, "", "", [], ["latency"], ["latency"]).is_confirmed


def test_a_mark_is_confirmed_by_a_long_run_that_is_otherwise_or_not_steady() -> None:
    assert not Found(JOB, "rate", "").is_confirmed
    assert Found(JOB, "rate", "rate").is_confirmed
    assert Found(JOB, "rate", "", ["IOPS"]).is_confirmed
    assert Found(JOB, "", "", ["IOPS"]).is_miss
    assert not Found(JOB, "rate", "", ["IOPS"]).is_miss
    assert not Found(JOB, "", "", [], ["latency"]).is_miss


def test_a_seed_draws_the_same_jobs_and_another_draws_others() -> None:
    once, again, other = (list(first_answer.drawn(seed, 20)) for seed in (1, 1, 2))
    assert once == again
    assert once != other
    assert {job.drive for job in once} <= set(first_answer.DRIVES)
    for draw in (first_answer_jobs.on_networks, first_answer_jobs.of_memory):
        assert list(draw(1, 5)) == list(draw(1, 5)) != list(draw(2, 5))


SEED = 22
MOST = 40
EACH = 2


def units(job: Job) -> int:
    """Return how many units of 4 KiB an I/O has: what simulating it costs rises with them."""
    return int(job.bs.removesuffix("k")) // 4


def dozen() -> list[tuple[int, Job]]:
    """Return the jobs examined with every change: of each mix those of a seed with the smallest I/Os.

    Which they are follows from what they ask for, and not from what they come to.
    """
    drawn = list(first_answer.drawn(SEED, MOST))
    by_mix = [[job for job in drawn if (job.rw, job.rwmixread) == mix] for mix in first_answer_jobs.MIXES]
    return [(SEED, job) for jobs in by_mix for job in sorted(jobs, key=units)[:EACH]]


def test_the_dozen_has_two_of_each_mix() -> None:
    assert len(dozen()) == EACH * len(first_answer_jobs.MIXES)


LONG = [(seed, job) for seed, count in ((7, 4), (21, 8)) for job in first_answer.drawn(seed, count)]
"""Drawn from the whole of what may be asked for, for `make claims`: some of them fill a drive."""


@pytest.mark.parametrize(
    ("seed", "job"), [*dozen(), *(pytest.param(*one, marks=pytest.mark.long) for one in LONG)], ids=str
)
def test_drawn_first_answers_are_right_or_say_that_they_are_not(seed: int, job: Job) -> None:
    found = first_answer.examine(job, seed)
    assert not found.is_miss, found


ELSEWHERE = [
    (seed, job)
    for draw, seed, count in ((first_answer_jobs.of_memory, 3, 6), (first_answer_jobs.on_networks, 3, 3))
    for job in draw(seed, count)
]


@pytest.mark.parametrize(
    ("seed", "job"), [ELSEWHERE[0], *(pytest.param(*one, marks=pytest.mark.long) for one in ELSEWHERE[1:])]
)
def test_first_answers_of_memory_and_networks_are_right_or_say_that_they_are_not(
    seed: int, job: Elsewhere
) -> None:
    found = first_answer.examine(job, seed)
    assert not found.is_miss, found


def test_a_long_run_of_memory_lasts_as_many_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    [(seed, job), *_] = ELSEWHERE
    stated: list[str] = []

    def rows(scenario: str) -> list[Row]:
        stated.append(scenario)
        return [row(1.0, seconds=0.002)]

    monkeypatch.setattr(first_answer, "rows", rows)
    assert first_answer.long_length(job, row(1.0, seconds=0.003), seed) == 1_500_000
    assert '"lines": 100000' in stated[0]
    assert first_answer.long_length(JOB, row(1.0, operations=50_000), seed) == 100_000


def test_memory_of_no_stated_length_is_measured_until_it_is_steady(tmp_path: Path) -> None:
    path = tmp_path / "memory.yaml"
    path.write_text(_core.template("memory"))

    def conditions(*sets: str) -> set[str]:
        rows = engine.run(str(path), sets=("workloads.latency=null", *sets))["rows"]
        return {row["steady"]["condition"] for row in rows if "steady" in row}

    assert "not-steady" in conditions("workloads.bandwidth.memory.lines=100000")
    assert conditions() == {"steady"}
