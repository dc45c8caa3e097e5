"""Sweeps: every point is what a run of it is, whoever simulates it, however often it is stopped."""

from __future__ import annotations

import csv
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib
import pytest

import sweep_cost
from lanetwin import _core, engine
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.report import sweep as report
from lanetwin.sweep import Asked, Swept, files, lines, sweep
from lanetwin.sweep.analysis import analyse
from lanetwin.sweep.cache import Cache
from lanetwin.sweep.clusters import Dask, Ray, connecting, packed, simulate_packed
from lanetwin.sweep.executors import AHEAD, Processes, Threads, in_flight
from lanetwin.sweep.point import Job, Outcome
from lanetwin.sweep.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

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


def test_a_killed_dask_worker_changes_nothing(slot: str) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:

        def busy() -> list[int]:
            at = client.run(os.getpid)
            return [at[worker] for worker, keys in client.processing().items() if keys and worker in at]

        executor = Killing(Dask(client), busy)
        swept = fresh(Asked(slot, LONGER), executor)
    assert executor.killed
    assert swept.complete
    assert table(swept) == table(fresh(Asked(slot, LONGER)))


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Two processes of Ray on the loopback device, which let in who has their token."""
    with pytest.MonkeyPatch.context() as patch:
        # Ray reads them as it is imported, and not again
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray = pytest.importorskip("ray")
        try:
            ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
            yield ray
        finally:
            ray.shutdown()


@pytest.mark.filterwarnings("default")
def test_a_ray_cluster_has_the_same_rows(slot: str, ray: Any) -> None:
    assert ray.is_initialized()
    assert table(fresh(Asked(slot), Ray())) == table(fresh(Asked(slot)))


@pytest.mark.filterwarnings("default")
def test_a_killed_ray_worker_changes_nothing(slot: str, ray: Any) -> None:
    assert ray.is_initialized()
    executor = Killing(Ray(), lambda: children("ray::simulate_packed", below=True))
    swept = fresh(Asked(slot, LONGER), executor)
    assert executor.killed
    assert swept.complete
    assert table(swept) == table(fresh(Asked(slot, LONGER)))


@pytest.mark.filterwarnings("default")
def test_a_ray_cluster_with_a_token_lets_nobody_in_without(
    slot: str, ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the token the command has the rows of threads, with another one it is told why it has none."""
    address = ray.get_runtime_context().gcs_address

    def swept(folder: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "lanetwin", "sweep", slot, "--ray", address, "--no-cache", "--quiet"]
        command = [*words, "--out", folder]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    done = swept("out")
    assert done.returncode == 0, done.stderr
    assert Path("out/rows.csv").read_text(encoding="utf-8") == table(fresh(Asked(slot)))
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    refused = swept("refused")
    assert refused.returncode == 1
    assert f"error[RS016] {address}" in refused.stderr
    assert f"no Ray cluster can be used at {address}" in refused.stderr
    assert not Path("refused").exists()


@pytest.mark.parametrize("kind", ["distributed", "ray"])
@pytest.mark.filterwarnings("default")
def test_a_cluster_that_is_not_there_is_told(kind: str) -> None:
    pytest.importorskip(kind)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(LanetwinError, match=f"RS016.*cluster can be used at .*{address}: .*refused"):
            Dask(f"tcp://{address}") if kind == "distributed" else Ray(address)


def test_an_address_without_a_cluster_has_a_code() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(LanetwinError) as told, connecting("Dask", address):
            pytest.fail("nobody listens there")
    (found,) = told.value.diagnostics
    assert (found.code, found.file) == ("RS016", address)
    assert "start it" in found.help


def test_values_named_on_the_command_line_keep_their_costs() -> None:
    plan = Asked(str(SCENARIOS / "slots.yaml"), vary=("links.up.width=x4,x2",)).design()
    assert plan.names == ["up", "each bay"]
    assert plan.cost(0) == 8
    assert [plan.cost(point) for point in range(3, 6)] == [None] * 3, "nobody says what x2 costs"


def test_a_worker_of_another_build_gives_nothing(slot: str) -> None:
    work = packed(Job(0, "key", slot, ("links.slot.width=x4",)))
    assert simulate_packed(work).rows == engine.run(slot, sets=["links.slot.width=x4"])["rows"]
    with pytest.raises(LanetwinError, match="RS012"):
        simulate_packed(replace(work, build="another"))


LONGER = ("workloads.read.dma.transfers=20000",)
"""What makes a point take long enough to be interrupted."""


class Killing:
    """An executor of which a worker is killed while it simulates, after the first answer."""

    def __init__(self, executor: Executor, busy: Callable[[], list[int]]) -> None:
        self._executor = executor
        self._busy = busy
        self.killed = 0

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Kill the youngest worker, once."""
        for outcome in self._executor.run(jobs):
            until = time.monotonic() + 10
            while not self.killed and time.monotonic() < until:
                for process in sorted(self._busy())[-1:]:
                    os.kill(process, signal.SIGKILL)
                    self.killed = process
            yield outcome


def children(word: str, *, below: bool = False) -> list[int]:
    """Return the children of this process, with `below` theirs as well, whose command lines have a word."""
    parents: dict[int, int] = {}
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                found += [int(entry.name)] if word in (entry / "cmdline").read_text() else []
            except OSError:
                continue
    own = {os.getpid()}
    while below and (more := {child for child, parent in parents.items() if parent in own} - own):
        own |= more
    return [process for process in found if parents.get(process) in own]


def test_a_killed_process_changes_nothing(slot: str) -> None:
    asked = Asked(slot)
    executor = Killing(Processes(2), lambda: children("spawn_main"))
    killed = fresh(asked, executor)
    assert executor.killed
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
    points = Table(len(swept.design))
    for point, rows, limits in swept.results():
        points.add(point, rows, limits)
    assert any("6 of 9 points" in doubt for doubt in lines.doubts(swept.design, points))
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


def test_limits_stand_below_a_table_that_has_no_room_for_them(
    slot: str, runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(slot).write_text(
        SLOT + SWEPT + "variants: {as-is: {}, with-a-switch-that-is-slow: {links.slot.gen: 1}}\n",
        encoding="utf-8",
    )
    for columns, is_wide in ((300, True), (100, False)):
        monkeypatch.setenv("COLUMNS", str(columns))
        done = runner.invoke(app, ["sweep", slot, "--quiet", "--out", str(columns)])
        assert done.exit_code == 0, done.output
        head = next(line for line in done.stdout.splitlines() if line.lstrip().startswith("width"))
        assert ("limited by" in head) == is_wide
        below = [line for line in done.stdout.splitlines() if line.startswith("limited by: ")]
        assert bool(below) != is_wide
        assert len({line.partition(" (")[0] for line in below}) == len(below)


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


def test_a_sweep_asks_the_engine_once_for_the_plan_of_each_point_and_for_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For nothing else it asks more often for more points. What that takes is `make sweep-cost`."""
    monkeypatch.chdir(tmp_path)
    asked = Counter[str]()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_ask(*arguments: Any) -> Any:
            asked[name] += 1
            return function(*arguments)

        return count_and_ask

    for name, function in vars(_core).items():
        if callable(function) and not name.startswith("_") and not isinstance(function, type):
            monkeypatch.setattr(_core, name, counted(name, function))
    of_points = {}
    for depths in (1, 2):
        asked.clear()
        sweep_cost.swept_s(sweep_cost.asked(depths), tmp_path / f"out-{depths}")
        of_points[16 * depths] = Counter(asked)
        Path("cache.sqlite3").unlink()
    for points, of in of_points.items():
        assert [of.pop("planned"), of.pop("run")] == [points, points]
    assert of_points[16] == of_points[32] != Counter()
