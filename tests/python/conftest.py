"""What the tests share: a result as the engine writes it, a fake engine, tools that may be absent."""

from __future__ import annotations

import copy
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from typer.testing import CliRunner

from fake_core import FakeCore
from lanetwin import engine, filesystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from lanetwin.results import Results

DATA = Path(__file__).parent / "data"

# workers of pytest-xdist have the width of the terminal above, less one; what is printed here has 80 columns
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COLUMNS", None)


def require_tool(name: str) -> str:
    """Return a tool's path. Without the tool the test is skipped, but fails where REQUIRE names the tool."""
    path = shutil.which(name)
    if path:
        return path
    if name in os.environ.get("REQUIRE", "").replace(",", " ").split():
        pytest.fail(f"{name} is required here (REQUIRE names it) and is not installed")
    pytest.skip(f"{name} is not installed")


def require_nbd_engine(said: str) -> None:
    """Skip where fio has said that it has no engine of NBD, but fail where REQUIRE names ``fio``."""
    if "engine nbd not loadable" not in said and "failed to load engine" not in said:
        return
    if "fio" in os.environ.get("REQUIRE", "").replace(",", " ").split():
        pytest.fail(f"fio with its engine nbd is required here (REQUIRE names fio): {said}")
    pytest.skip("this fio has no engine nbd")


def require_mounts() -> None:
    """Skip where no file system can be made on a drive, but fail where REQUIRE names ``fuse``."""
    why = filesystem.why_not()
    if why and "fuse" in os.environ.get("REQUIRE", "").replace(",", " ").split():
        pytest.fail(f"fuse is required here (REQUIRE names it): {why}")
    if why:
        pytest.skip(why)


@pytest.fixture(name="require_tool")
def require_tool_fixture() -> Callable[[str], str]:
    """Give `require_tool` to tests."""
    return require_tool


@pytest.fixture
def results() -> Results:
    """Give a complete result: two variants, four workloads, sweeps, waterfalls, three kinds of verdict."""
    return cast("Results", json.loads((DATA / "results.json").read_text(encoding="utf-8")))


@pytest.fixture
def partial(results: Results) -> Results:
    """Give the same result of one variant, interrupted: nothing to compare."""
    alone: Any = copy.deepcopy(results)
    for key in ("rows", "waterfalls", "utilisation", "bottlenecks"):
        alone[key] = [entry for entry in alone[key] if entry["variant"] == "as-is"]
    alone.update(verdicts=[], assumptions=[], complete=False, stopped="interrupted")
    return cast("Results", alone)


@pytest.fixture
def several(results: Results) -> Results:
    """Give the same result of two cards at once: the second has half the throughput of the first."""
    own = []
    for device, part in (("card1", 2 / 3), ("card2", 1 / 3)):
        for row in copy.deepcopy(results["rows"]):
            if row["metric"] == "throughput":
                row["value"] = row["low"] = row["high"] = row["value"] * part
            elif row["metric"] == "latency":
                tails = row.get("percentiles", [])
                row["percentiles"] = [*tails, (100.0, 9_000.0 if device == "card2" else 8_000.0)]
            row["device"] = device
            own.append(row)
    results["rows"] += own
    return results


@pytest.fixture
def core(results: Results, monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """Put the fake engine in the place of the real one."""
    fake = FakeCore(results)
    monkeypatch.setattr(engine, "_core", fake)
    return fake


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return CliRunner()
