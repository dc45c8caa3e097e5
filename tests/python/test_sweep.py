"""Sweeps: every point is what a run of it is, whoever simulates it, however often it is stopped."""

from __future__ import annotations

import csv
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import html5lib
import pytest

import sweep_cost
from lanetwin import engine
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.report import sweep as report
from lanetwin.sweep import Asked, Swept, files, lines, sweep
from lanetwin.sweep.analysis import analyse
from lanetwin.sweep.cache import Cache
from lanetwin.sweep.clusters import Dask, Ray, packed, simulate_packed
from lanetwin.sweep.executors import AHEAD, Processes, Threads, in_flight
from lanetwin.sweep.point import Job, Outcome

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from typer.testing import CliRunner

    from lanetwin.sweep.executors import Executor

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SLOT = """about: What is this slot worth?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card, gen: 4}
workloads:
  read: {dma: {operation: read, size: 4KiB, outstanding: 8, transfers: 200}, on: card}
run: {repeats: 1, seed: 3}
"""
SWEPT = """sweep:
  links.slot.width: {name: width, values: [x1, x4, x16], cost: [1, 4, 16]}
  workloads.read.dma.outstanding: {from: 1, to: 64, times: 8}
"""


@pytest.fixture
def slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a small scenario with a sweep of nine points."""
    monkeypatch.chdir(tmp_path)
    Path("slot.yaml").write_text(SLOT + SWEPT, encoding="utf-8")
    return "slot.yaml"


def table(swept: Swept, name: str = "rows.csv") -> str:
    """Return the rows of a sweep as they would be written."""
    _, percentiles = files.tabulate(swept)
    file = Path(name)
    with file.open("w", encoding="utf-8", newline="") as opened:
        files.write_csv(swept, percentiles, opened)
    return file.read_text(encoding="utf-8")


def fresh(asked: Asked, executor: Executor | None = None) -> Swept:
    """Run a sweep that knows nothing yet."""
    return sweep(asked, executor=executor, cache=Cache(None))


def test_a_point_is_the_run_of_it(slot: str) -> None:
    swept = fresh(Asked(slot))
    rows = {point: rows for point, rows, _ in swept.results()}
    assert len(rows) == len(swept.design) == 9
    for point in (0, 4, 8):
        alone = engine.run(slot, sets=swept.design.sets(point))
        assert rows[point] == alone["rows"], swept.design.called(point)
    assert swept.design.called(4) == "width x4, outstanding 8"


def test_rows_have_the_swept_values(slot: str) -> None:
    rows = list(csv.DictReader(table(fresh(Asked(slot))).splitlines()))
    assert {line["width"] for line in rows} == {"x1", "x4", "x16"}
    at = {
        (line["point"], line["width"], line["workloads.read.dma.outstanding"], line["cost"]) for line in rows
    }
    assert ("4", "x4", "8", "4.0") in at
    assert len(at) == 9


def test_parquet_has_numbers_as_numbers(slot: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    swept = fresh(Asked(slot))
    files.write_parquet(swept, tmp_path / "rows.parquet")
    rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert len(rows) == sum(len(rows) for _, rows, _ in swept.results())
    assert {row["workloads.read.dma.outstanding"] for row in rows} == {1.0, 8.0, 64.0}
    assert {row["width"] for row in rows} == {"x1", "x4", "x16"}


def test_threads_and_processes_have_the_same_rows(slot: str) -> None:
    asked = Asked(slot)
    one = table(fresh(asked, Threads(1)))
    assert table(fresh(asked, Threads(3))) == one
    assert table(fresh(asked, Processes(2))) == one


@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_has_the_same_rows(slot: str) -> None:
    """Two processes and a scheduler on the loopback device."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        swept = fresh(Asked(slot), Dask(client))
    assert table(swept) == table(fresh(Asked(slot)))


@pytest.mark.filterwarnings("default")
def test_a_ray_cluster_has_the_same_rows(slot: str) -> None:
    """Two processes on the loopback device."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
    try:
        swept = fresh(Asked(slot), Ray())
    finally:
        ray.shutdown()
    assert table(swept) == table(fresh(Asked(slot)))


def test_a_worker_of_another_build_gives_nothing(slot: str) -> None:
    work = packed(Job(0, "key", slot, ("links.slot.width=x4",)))
    assert simulate_packed(work).rows == engine.run(slot, sets=["links.slot.width=x4"])["rows"]
    with pytest.raises(LanetwinError, match="RS012"):
        simulate_packed(replace(work, build="another"))


class Killing(Processes):
    """Processes of which one is killed after the first answer."""

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Kill the youngest child, once."""
        for nth, outcome in enumerate(super().run(jobs)):
            if nth == 0:
                os.kill(max(children()), signal.SIGKILL)
            yield outcome


def children() -> list[int]:
    """Return the workers of this process: children that simulate, not what watches over them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                words = (entry / "cmdline").read_text()
            except OSError:
                continue
            if parent == os.getpid() and "spawn_main" in words:
                found.append(int(entry.name))
    return found


def test_a_killed_process_changes_nothing(slot: str) -> None:
    asked = Asked(slot)
    killed = fresh(asked, Killing(2))
    assert killed.complete
    assert table(killed) == table(fresh(asked))


def test_what_is_known_is_not_simulated_again(slot: str) -> None:
    with Cache(Path("cache.sqlite3")) as cache:
        first = sweep(Asked(slot), cache=cache)
        again = sweep(Asked(slot), cache=cache)
        other = sweep(Asked(slot, seed=4), cache=cache)
        changed = sweep(Asked(slot, sets=("workloads.read.dma.size=2KiB",)), cache=cache)
        one_more = sweep(Asked(slot, vary=("workloads.read.dma.outstanding=1,2,8,64",)), cache=cache)
        assert (first.simulated, again.simulated, other.simulated, changed.simulated) == (9, 0, 9, 9)
        assert one_more.simulated == 3
        assert table(again) == table(first)


def test_a_damaged_result_in_the_cache_is_none(slot: str) -> None:
    with Cache(Path("cache.sqlite3")) as cache:
        first = sweep(Asked(slot), cache=cache)
        cache._file.execute("UPDATE points SET result = x'00'")
        assert cache.get(first.keys[0] or "") is None
    Path("cache.sqlite3").write_bytes(b"no database at all, but long enough to be looked at as one" * 20)
    for name in ("cache.sqlite3-wal", "cache.sqlite3-shm"):
        Path(name).unlink(missing_ok=True)
    with pytest.raises(LanetwinError, match="RS008"):
        Cache(Path("cache.sqlite3"))


def test_a_sweep_that_is_stopped_goes_on(slot: str) -> None:
    calls = count(1)

    def stop(_line: engine.Progress) -> None:
        if next(calls) == 4:
            raise KeyboardInterrupt

    with Cache(Path("cache.sqlite3")) as cache:
        part = sweep(Asked(slot), executor=Threads(1), cache=cache, progress=stop)
        assert not part.complete
        assert 0 < len(list(part.results())) < 9
        rest = sweep(Asked(slot), cache=cache)
        assert 0 < rest.simulated < 9
        assert rest.complete
        assert table(rest) == table(fresh(Asked(slot)))


def test_points_that_cannot_be_built_are_told(slot: str) -> None:
    swept = fresh(Asked(slot, vary=("links.slot.width=x1,x3,x4",)))
    assert sorted(swept.refused) == [3, 4, 5]
    assert swept.refused[3][0].code == "SC021"
    assert len(list(swept.results())) == 6
    assert swept.complete
    with pytest.raises(LanetwinError, match="SC021"):
        fresh(Asked(slot, vary=("links.slot.width=x3,x5",)))


@pytest.mark.parametrize(
    ("vary", "code"),
    [
        ("links.slto.width=x4", "SC030"),
        ("run.seed=1,2", "SC040"),
        ("links.slot.width", "SW009"),
        ("workloads.read.dma.outstanding=8..1*2", "SW002"),
        ("links.slot.widht=x4,x8", "SC005"),
    ],
)
def test_what_is_wrong_has_a_code(slot: str, vary: str, code: str) -> None:
    with pytest.raises(LanetwinError, match=code):
        fresh(Asked(slot, vary=(vary,)))


def test_a_few_jobs_are_held_at_a_time() -> None:
    taken = []

    def jobs() -> Iterable[Job]:
        for point in count():
            taken.append(point)
            yield Job(point, "", "", ())

    with ThreadPoolExecutor(2) as pool:
        answers = in_flight(lambda job: pool.submit(Outcome, job.point, ""), jobs(), 2 * AHEAD)
        found = list(islice(answers, 100))
    assert len(found) == 100
    assert len(taken) < 110


def test_the_command_answers_first(slot: str, runner: CliRunner) -> None:
    Path(slot).write_text(SLOT + SWEPT, encoding="utf-8")
    done = runner.invoke(app, ["sweep", slot, "--quiet"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[2].startswith(
        "Cheapest with at least 95.0\u202f% of the best throughput: "
    )
    (folder,) = Path("runs").glob("slot-sweep-*")
    assert {file.name for file in folder.iterdir()} == {"report.html", "rows.csv", "sweep.json"}
    document = json.loads((folder / "sweep.json").read_text())
    assert document["complete"]
    assert document["chosen"] is not None
    again = runner.invoke(app, ["sweep", "--resume", str(folder), "--json"])
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout) == document
    assert "9 known before" in again.stderr


def test_what_cannot_be_resumed_is_told(runner: CliRunner) -> None:
    done = runner.invoke(app, ["sweep", "--resume", "nowhere"])
    assert done.exit_code == 1
    assert "RS010" in done.stderr


def test_variants_are_told_apart(slot: str) -> None:
    Path(slot).write_text(
        SLOT + SWEPT + "variants: {fast: {}, slow: {links.slot.gen: 2}}\n", encoding="utf-8"
    )
    swept = fresh(Asked(slot))
    metrics, _ = files.tabulate(swept)
    found = analyse(swept.design, metrics)
    assert {"fast throughput", "slow throughput"} <= set(lines.headings(found))
    said = lines.answer(swept.design, found)[0]
    assert "(fast " in said
    assert ", slow " in said
    assert all(found.columns[n].place.metric == "throughput" for n in found.required)


def test_the_report_is_sound_whatever_names_hold(slot: str) -> None:
    evil = "<script>alert('x')</script>"
    text = (
        (SLOT + SWEPT)
        .replace("What is this slot worth?", f'"{evil}"')
        .replace("name: width", f'name: "{evil}"')
    )
    Path(slot).write_text(text, encoding="utf-8")
    swept = fresh(Asked(slot))
    found, _ = files.tabulate(swept)
    page = report.render(swept, found, analyse(swept.design, found))
    html5lib.HTMLParser(strict=True).parse(page)
    assert evil not in page
    assert page.count("<svg ") >= 6


def test_points_that_are_drawn_fill_their_ranges(slot: str) -> None:
    Path(slot).write_text(SLOT, encoding="utf-8")
    asked = Asked(slot, vary=("workloads.read.dma.outstanding=1..64", "links.slot.width=x1,x4"), sample=12)
    swept = fresh(asked)
    widths = [swept.design.levels(point)[1]["text"] for point in range(12)]
    assert sorted(widths) == ["x1"] * 6 + ["x4"] * 6
    found, _ = files.tabulate(swept)
    assert "Latin hypercube" in report.render(swept, found, analyse(swept.design, found))


def test_the_shipped_question_has_an_answer() -> None:
    """The narrowest slots that give 95 % are no dearer than any other that gives 95 %."""
    swept = fresh(Asked(str(SCENARIOS / "slots.yaml")))
    metrics, _ = files.tabulate(swept)
    found = analyse(swept.design, metrics)
    assert found.chosen is not None
    good = [point for point, share in enumerate(found.shares) if share is not None and share >= 0.95]
    costs = [found.costs[point] or 0.0 for point in good]
    assert found.costs[found.chosen] == min(costs) < max(costs)


def test_a_sweep_costs_little_more_than_its_simulations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU time, which other programs on the machine do not change much: 20 % at most."""
    monkeypatch.chdir(tmp_path)
    of = sweep_cost.asked(2)
    points, alone = sweep_cost.alone_s(of)
    assert points == 32
    assert sweep_cost.swept_s(of, None) < alone * 1.2
