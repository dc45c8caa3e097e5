"""Databases on drives that do not exist: what the demonstration of docs/doors/databases measures and says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import require_mounts, require_tool
from lanetwin import engine
from lanetwin.execution import order, variants_of
from lanetwin.measured.document import document_of

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "doors" / "databases"
SCENARIO = ROOT / "scenarios" / "databases.yaml"
LONG = 300.0
NIGHT = 1800.0
SAID = '"test","rps","avg_latency_ms","p99_latency_ms"\n"SET","{rate}","{mean}","{tail}"\n'


@pytest.fixture
def summary() -> ModuleType:
    spec = importlib.util.spec_from_file_location("summary", FOLDER / "summary.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(folder: Path, means: dict[str, list[float]], **late: float) -> Path:
    """Write what `lanetwin exec` leaves of these means [ms], and of answers that were late [us]."""
    folder.mkdir()
    doors, left = [], {variant: iter(values) for variant, values in means.items()}
    for number, variant in enumerate(order(list(means), len(next(iter(means.values())))), 1):
        mean = next(left[variant])
        said = SAID.format(rate=4000 / mean, mean=mean, tail=2 * mean)
        (folder / f"said-{number}-{variant}.txt").write_text(said)
        predicted = 600.0 if variant == "slow" else 300.0
        told = {"predicted_mean_us": predicted, "mean_us": 5.0 + late.get(variant, 0.0)}
        doors.append({"variant": variant, "late_share": 0.004, "is_prediction": True, **told})
    results = document_of([], {"doors": doors}, "databases", engine.version())
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def test_each_variant_has_its_interval_and_its_verdict(
    summary: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    direct, close, far = [1.0, 1.01, 0.99, 1.0], [1.001, 1.009, 0.991, 1.0], [2.0, 2.02, 1.98, 2.0]
    folder = measured(tmp_path / "redis", {"direct": direct, "retimer": close, "slow": far})
    assert summary.main([str(folder)]) == 0
    said = capsys.readouterr().out
    lines = {tuple(line.split(" | ")[:2]): line for line in said.splitlines() if line.startswith("| SET")}
    assert set(lines) == {
        (f"| SET {metric}", variant)
        for metric in ("operations", "latency", "99 %")
        for variant in ("direct", "retimer", "slow")
    }
    assert "1 ms [0.987, 1.01]" in lines["| SET latency", "direct"]
    assert "| 2.0% |" in lines["| SET latency", "direct"]
    assert "2 ms [" in lines["| SET 99 %", "direct"]
    assert "+100.0%" in lines["| SET 99 %", "slow"]
    assert all("worse" in lines[metric, "slow"] for metric, variant in lines if variant == "slow")
    assert "worse" not in lines["| SET latency", "retimer"]
    assert "1.5 % for MySQL" in said


def test_a_difference_that_the_machine_has_made_is_not_the_drives(
    summary: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    means = {
        "direct": [1.0, 1.01, 0.99, 1.0],
        "retimer": [2.0, 2.02, 1.98, 2.0],
        "slow": [2.0, 2.02, 1.98, 2.0],
    }
    assert summary.main([str(measured(tmp_path / "redis", means, retimer=100.0, slow=100.0))]) == 0
    said = capsys.readouterr().out
    verdicts = {line.split(" | ")[1]: line for line in said.splitlines() if line.startswith("| SET latency")}
    # answers were later by 100 us on both; the drive is predicted to be slower by 300 us on one of them alone
    assert "worse by the machine" in verdicts["retimer"]
    assert "worse |" in verdicts["slow"]


def test_a_control_that_comes_out_equivalent_is_an_error(
    summary: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = [1.0, 1.0001, 0.9999, 1.0]
    assert summary.main([str(measured(tmp_path / "a", {"direct": same, "slow": same[::-1]}))]) == 3
    assert "no verdict above says anything" in capsys.readouterr().out
    noisy = {"direct": [1.0, 3.0, 1.0, 3.0], "slow": [3.0, 1.5, 3.0, 1.0]}
    assert summary.main([str(measured(tmp_path / "b", noisy))]) == 0
    assert "Not even the control" in capsys.readouterr().out


def test_a_database_that_is_not_known_or_not_installed_is_told(tmp_path: Path) -> None:
    def demo(**around: str) -> subprocess.CompletedProcess[str]:
        words, env = [FOLDER / "demo", tmp_path / "out"], {"PATH": os.environ["PATH"], **around}
        return subprocess.run(words, capture_output=True, text=True, timeout=LONG, check=False, env=env)

    unknown = demo(DATABASES="oracle")
    assert (unknown.returncode, "no database oracle" in unknown.stderr) == (2, True)
    # where there is a shell and little else
    here = tmp_path / "bin"
    here.mkdir()
    for tool in ("bash", "env", "dirname", "realpath", "sort"):
        (here / tool).symlink_to(require_tool(tool))
    missing = demo(PATH=str(here), DATABASES="redis")
    assert missing.returncode == 1
    assert "apt install --no-install-recommends redis-tools" in missing.stderr


def test_redis_lives_on_the_drive_and_a_slow_one_is_told_apart(tmp_path: Path) -> None:
    require_mounts()
    require_tool("redis-benchmark")
    assert variants_of(SCENARIO, []) == ["direct", "retimer", "switch", "nvme-tcp", "slow"]
    ran = subprocess.run(
        [FOLDER / "demo", tmp_path / "out"],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        env=os.environ | {"QUICK": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    results: dict[str, Any] = json.loads((tmp_path / "out" / "redis" / "results.json").read_text())
    doors = results["options"]["doors"]
    assert [door["variant"] for door in doors] == ["direct", "slow", "slow", "direct"]
    assert all(door["answers"] > 500 for door in doors)
    rows = {(row["variant"], row["case"], row["metric"]): row for row in results["rows"]}
    # flushes, which take no less of a fast drive, are some of what is asked
    predicted = [rows[variant, "predicted", "latency"]["value"] for variant in ("direct", "slow")]
    assert 3.0 < predicted[1] / predicted[0] < 5.0
    assert rows["slow", "SET", "operations"]["n"] == 2
    assert "| SET operations | slow |" in ran.stdout


def test_rocksdb_is_asked_all_six_workloads_of_ycsb(tmp_path: Path) -> None:
    for program in ("mvn", "javac", "java"):
        require_tool(program)
    asked = {
        "a": {"READ", "UPDATE"},
        "b": {"READ", "UPDATE"},
        "c": {"READ"},
        "d": {"READ", "INSERT"},
        "e": {"SCAN", "INSERT"},
        "f": {"READ", "UPDATE", "READ-MODIFY-WRITE"},
    }

    def rocksdb(*words: str, workload: str = "a") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(FOLDER / "rocksdb.py"), *words]
        own = {**os.environ, "RECORDS": "2000", "WORKLOAD": workload}
        return subprocess.run(
            command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=LONG, check=False
        )

    made = rocksdb("prepare", str(tmp_path / "template"))
    assert made.returncode == 0, made.stderr
    for workload, operations in asked.items():
        ran = rocksdb("run", str(tmp_path / "template"), "1", workload=workload)
        assert ran.returncode == 0, ran.stderr
        counts = dict(re.findall(r"^\[([A-Z-]+)\], Operations, (\d+)$", ran.stdout, re.MULTILINE))
        counts.pop("CLEANUP", None)
        assert set(counts) == operations, workload
        assert all(int(number) > 0 for number in counts.values())
        ended = set(re.findall(r"Return=(\w+)", ran.stdout))
        assert ended == {"OK"}, workload
        shutil.rmtree(tmp_path / "rocksdb")
    assert "there is no workload q" in rocksdb("run", str(tmp_path / "template"), "1", workload="q").stderr


@pytest.mark.parametrize(
    ("database", "programs"), [("mariadb", ("mariadbd", "mariadb")), ("rocksdb", ("mvn", "javac", "java"))]
)
def test_a_database_keeps_what_it_has_acknowledged_when_the_power_is_cut(
    database: str, programs: tuple[str, ...]
) -> None:
    """One cut, and thirty where REQUIRE names the first program, as at night; then a drive that lies."""
    require_mounts()
    for program in programs:
        require_tool(program)
    cuts = "30" if programs[0] in os.environ.get("REQUIRE", "").replace(",", " ").split() else "1"
    words = [sys.executable, str(FOLDER / "power_cuts.py"), cuts, "1", database]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=NIGHT, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{cuts} cuts, " in ran.stdout
    assert "none is lost" in ran.stdout
    assert "a drive that lies about flush is caught" in ran.stdout
