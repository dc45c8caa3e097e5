"""Searching for the best values: right, repeatable, resumable; prices; mistakes."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lanetwin as lt
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.search import Goals, Prices, Search, files, search
from lanetwin.search.optimiser import is_better, on_front
from lanetwin.sweep import Asked
from lanetwin.sweep.cache import Cache
from lanetwin.sweep.executors import Threads

SCENARIO = """about: How deep, over how wide a link?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-nvme-gen4}}
links: {slot: {from: host, to: ssd, width: x1}}
workloads: {read: {block: {size: 16KiB, depth: 1, span: 1GiB, requests: 60}, on: host, target: ssd}}
sweep:
  links.slot.width: {name: width, values: [x1, x2, x4], cost: [1, 2, 4]}
  workloads.read.block.depth: [1, 2, 3, 4, 6, 8, 12, 16]
run: {repeats: 1, seed: 1}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "slot.yaml"
    path.write_text(SCENARIO)
    return path


def asked(file: Path, trials: int, seed: int = 0) -> Search:
    goals = Goals(minimize=("cost",), require=("throughput >= 1500",), trials=trials, seed=seed)
    return Search.of(Asked(str(file)), goals)


def every(file: Path) -> list[dict[str, Any]]:
    return lt.Scenario(file).sweep().records()


def test_all_points_give_the_answer_of_a_sweep(file: Path) -> None:
    found = search(asked(file, 1000), storage=None, cache=Cache(None))
    assert len({trial.point for trial in found.trials}) == len(found.trials) == 24
    enough = [one["cost"] for one in every(file) if one["throughput"] >= 1500]
    best = found.best
    assert best is not None
    assert best.values == (min(enough),)
    assert found.units == ["", "MB/s"]
    assert sum(trial.within for trial in found.trials) == len(enough)


def test_what_no_point_keeps_is_told_with_the_nearest(file: Path) -> None:
    goals = Goals(minimize=("cost",), require=("throughput >= 90000", "latency <= 500000"), trials=1000)
    found = search(Search.of(Asked(str(file)), goals), storage=None, cache=Cache(None))
    assert found.best is None
    assert found.nearest is not None
    assert found.nearest.limits[0] == max(one["throughput"] for one in every(file))
    tried, none, nearest, there = files.sentences(found)
    assert "0 are within the limits" in tried
    assert none.startswith("None is an answer")
    assert nearest.startswith("Nearest: width x4, ")
    assert there.startswith("There: cost ")
    assert "latency" in there


def test_the_seed_decides_what_is_tried_and_nothing_else(file: Path, tmp_path: Path) -> None:
    def tried(trials: int, *, storage: Path | None = None, workers: int = 1, seed: int = 0) -> list[Any]:
        cache = Cache(None)
        wanted = asked(file, trials, seed=seed)
        found = search(wanted, storage=storage, cache=cache, executor=Threads(workers))
        return [(trial.point, trial.values) for trial in found.trials]

    once = tried(16)
    assert len(once) == 16
    assert tried(16, workers=2) == once
    assert tried(16, seed=1) != once
    assert [len(tried(trials, storage=tmp_path / "s.sqlite3")) for trials in (8, 16)] == [8, 16]
    assert tried(16, storage=tmp_path / "s.sqlite3") == once


def test_what_is_stopped_goes_on_as_if_it_had_not_been(file: Path, tmp_path: Path) -> None:
    whole = search(asked(file, 12), storage=None, cache=Cache(None))
    cache, storage = Cache(None), tmp_path / "stopped.sqlite3"

    def stop(line: Any) -> None:
        if line["done"] >= 8:
            raise KeyboardInterrupt

    part = search(asked(file, 12), storage=storage, cache=cache, progress=stop)
    assert not part.complete
    assert len(part.trials) == 8
    rest = search(asked(file, 12), storage=storage, cache=cache)
    assert rest.complete
    assert [trial.point for trial in rest.trials] == [trial.point for trial in whole.trials]


def test_several_objectives_have_a_front(file: Path) -> None:
    found = lt.Scenario(file).search(maximize="throughput", minimize="latency p99", trials=24)
    front = sorted(trial.values for trial in found.front() if trial.values)
    assert len(front) > 1
    assert all(a[1] < b[1] for a, b in pairwise(front)), "more throughput only for more latency"
    assert not on_front(found.search.objectives, (1.0, 2.0), [(1.0, 1.0)])
    assert is_better(found.search.objectives, (2.0, 2.0), (1.0, 1.0))


@pytest.mark.parametrize(
    ("goals", "said"),
    [
        ({"maximize": "bandwidth"}, "no result has `bandwidth`.*throughput"),
        ({"minimize": "latency p42"}, "no result has `latency p42`"),
        ({"minimize": "cost", "require": ["through <= 5"]}, "no result has `through`"),
        ({"minimize": "power"}, "nothing says what the power of a point is.*prices"),
    ],
)
def test_a_metric_that_no_result_has_is_told(file: Path, goals: dict[str, Any], said: str) -> None:
    with pytest.raises(LanetwinError, match=rf"RS013.*{said}"):
        lt.Scenario(file).search(trials=4, **goals)


def test_prices_are_summed_over_parts(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    head = "part,cost,unit,power_w,source,date\n"
    table.write_text(head + "generic-host-gen4,1000,EUR,,an offer,2026-01-31\n")
    scenario = lt.Scenario(file)
    wanted: dict[str, Any] = {"minimize": "cost", "trials": 3}
    assert scenario.search(prices=Prices.read(table), **wanted).unpriced == ["generic-nvme-gen4"]
    table.write_text(table.read_text() + "generic-nvme-gen4,100,EUR,9,an offer,2026-01-31\n")
    found = scenario.search(prices=Prices.read(table), **wanted)
    assert {trial.values for trial in found.trials} <= {(1101.0,), (1102.0,), (1104.0,)}
    assert found.units == ["EUR"]
    for line in ("a,1,EUR,1,,2026-01-31", "a,1,EUR,1,b,spring", "a,-1,EUR,1,b,2026-01-31"):
        table.write_text(f"{head}{line}\n")
        with pytest.raises(LanetwinError) as refused:
            Prices.read(table)
        assert refused.value.diagnostics[0].code == "RS014"


OWN = """search:
  links.slot.width: {name: width, values: [x1, x2, x4], cost: [1, 2, 4]}
  workloads.read.block.depth: {from: 1, to: 32, times: 2}
  minimize: [cost]
  require: throughput@read >= 1500 MB/s
  trials: 5
prices:
  unit: EUR
  parts:
    generic-host-gen4: {cost: 1000, power: 100 W, source: an estimate, date: 2026-01-31}
    generic-nvme-gen4: {cost: 100, power: 9W, source: an offer, date: 2026-01-31}
"""


def test_the_scenario_says_what_is_looked_for(file: Path, tmp_path: Path) -> None:
    file.write_text(SCENARIO + OWN)
    found = lt.Scenario(file).search()
    assert (len(found.trials), found.units) == (5, ["EUR", "MB/s"])
    assert [len(axis["values"]) for axis in found.swept.design.axes] == [3, 6]
    assert {trial.values for trial in found.trials} <= {(1101.0,), (1102.0,), (1104.0,)}
    table = tmp_path / "prices.csv"
    table.write_text("part,cost,unit,power_w,source,date\ngeneric-nvme-gen4,200,EUR,8,an offer,2026-02-28\n")
    changed = lt.Scenario(file).search(minimize="power", prices=Prices.read(table), trials=2)
    assert {trial.values for trial in changed.trials} == {(108.0,)}
    table.write_text(table.read_text().replace("EUR", "USD"))
    with pytest.raises(LanetwinError) as refused:
        lt.Scenario(file).search(prices=Prices.read(table))
    assert refused.value.diagnostics[0].code == "RS014"
    assert not lt.Scenario(file).set("search.require", "cheap").check()["plan"]


def test_results_of_another_build_do_not_count(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    common = ["search", str(file), "--minimize", "latency", "--trials", "8", "--out", str(out), "--json"]

    def searched() -> Any:
        done = CliRunner().invoke(app, [*common, "--cache", str(tmp_path / "cache")])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout), done.stderr

    first, _ = searched()
    again, said = searched()
    assert "RS015" not in said
    assert "8 tried before" in said
    monkeypatch.setattr("lanetwin.sweep.point.build", lambda: "another build")
    anew, said = searched()
    assert "RS015" in said
    assert "8 points simulated" in said
    assert first == again == anew


def test_the_command_writes_a_report_and_goes_on(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    common = ["search", str(file), "--minimize", "cost", "--require", "throughput >= 1500 MB/s", "--json"]
    common += ["--out", str(out), "--cache", str(tmp_path / "cache")]
    first = CliRunner().invoke(app, [*common, "--trials", "4"])
    assert first.exit_code == 0, first.output
    second = CliRunner().invoke(app, [*common, "--trials", "10"])
    assert "4 tried before" in second.stderr
    document = json.loads(second.stdout)
    assert document == json.loads((out / "search.json").read_text())
    assert document["best"]["point"]["width"] in ("x1", "x2", "x4")
    assert len((out / "trials.csv").read_text().splitlines()) == 11
    assert "<svg" in (out / "report.html").read_text()
    other = CliRunner().invoke(app, ["search", str(file), "--minimize", "power", "--out", str(out)])
    assert "RS013" in other.stderr


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("RS013", []),
        ("RS013", ["--minimize", "latency", "--require", "throughput >= 1 GB/s"]),
        ("SW010", ["--minimize", "@read"]),
        ("SW011", ["--minimize", "cost", "--require", "cheap"]),
        ("SC005", ["--minimize", "latency@raed"]),
    ],
)
def test_what_cannot_be_searched_is_refused(
    file: Path, tmp_path: Path, code: str, options: list[str]
) -> None:
    done = CliRunner().invoke(app, ["search", str(file), *options, "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert code in done.stderr
