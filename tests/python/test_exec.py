"""Programs that run on a drive that does not exist, and what is left when they are killed."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import require_nbd_engine, require_tool
from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.execution import PREFIX, sweep_left, variants_of

SCENARIO = """
about: A drive for a program.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 1GiB, medium: cross-point, firmware.read-latency: 500us}
links:
  slot: {from: cpu, to: ssd, gen: 4, width: x4}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: ssd}
variants:
  retimer: {links.slot.via: [montage-m88rt51632]}
  direct: {}
compare: {baseline: direct}
"""
LONG = 120.0
LANETWIN = [sys.executable, "-m", "lanetwin"]
SAY = "import os; print(os.environ['LANETWIN_VARIANT'], os.environ['LANETWIN_DEVICE'])"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "slot.yaml"
    path.write_text(SCENARIO)
    return path


def executed(scenario: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*LANETWIN, "exec", str(scenario), *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LONG, check=False, cwd=scenario.parent
    )


def test_fio_sees_each_variant_in_turn(scenario: Path) -> None:
    fio = require_tool("fio")
    job = [fio, "--name=r", "--ioengine=nbd", "--uri={device}", "--rw=randread", "--bs=4k", "--size=4m"]
    ran = executed(
        scenario, "--all", "--json", "--out", "out", "--", *job, "--number_ios=100", "--output-format=json"
    )
    require_nbd_engine(ran.stderr)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads((scenario.parent / "out" / "results.json").read_text())
    doors = found["options"]["doors"]
    assert [one["variant"] for one in doors] == ["direct", "retimer", "retimer", "direct"]
    assert all(one["answers"] >= 100 for one in doors)
    rows = {(row["variant"], row["case"], row["metric"]): row for row in found["rows"]}
    direct, retimer = (rows[variant, "predicted", "latency"] for variant in ("direct", "retimer"))
    assert found["kind"] == "emulated"
    assert 500_000 < direct["value"] < retimer["value"] < 600_000
    assert rows["direct", "r", "latency"]["n"] == 2
    # nobody is answered before the time, but for the error of what the door takes
    assert rows["direct", "r", "latency"]["value"] > direct["value"] * 0.9
    judged = {(one["baseline"], one["variant"]) for one in found["verdicts"]}
    assert judged == {("direct", "retimer")}
    assert len(list((scenario.parent / "out").glob("said-*.txt"))) == 4


def test_a_program_finds_the_drive_over_a_fabric(scenario: Path) -> None:
    ping = [*LANETWIN, "nvme-tcp", "ping", "{device}", "--nqn", "{nqn}", "--reads", "20", "--json"]
    ran = executed(scenario, "--over", "nvme-tcp", "--repeats", "1", "--out", "out", "--", *ping)
    assert ran.returncode == 0, ran.stderr
    said = json.loads((scenario.parent / "out" / "said-1-direct.txt").read_text())
    assert (said["reads"], said["errors"], said["served"]["answers"]) == (20, 0, 20)
    assert "direct: predicted mean" in ran.stderr


def test_a_door_has_a_core_for_itself_and_programs_have_the_others(scenario: Path) -> None:
    cores = sorted(os.sched_getaffinity(0))
    say = "import os; print(sorted(os.sched_getaffinity(0)))"
    words = ("--repeats", "1", "--no-awake", "--quiet")
    if len(cores) > 1:
        script = [
            sys.executable,
            "-c",
            f"{say}; open('cores', 'w').write(str(sorted(os.sched_getaffinity(0))))",
        ]
        ran = executed(scenario, *words, "--core", str(cores[0]), "--", *script)
        assert ran.returncode == 0, ran.stderr
        assert (scenario.parent / "cores").read_text() == str(cores[1:])
        again = executed(scenario, *words, "--", sys.executable, "-c", say)
        assert again.returncode == 0, again.stderr
        assert (scenario.parent / "runs" / "emulated-slot-2").is_dir()
    there_is_none = executed(scenario, *words, "--core", "100000", "--", sys.executable, "-c", say)
    assert there_is_none.returncode != 0
    assert "error[DO023]" in there_is_none.stderr


def test_what_a_program_asked_for_is_replayed(scenario: Path) -> None:
    ping = [*LANETWIN, "nvme-tcp", "ping", "{device}", "--nqn", "{nqn}", "--reads", "20"]
    ran = executed(scenario, "--over", "nvme-tcp", "--repeats", "1", "--record", "--out", "out", "--", *ping)
    assert ran.returncode == 0, ran.stderr
    trace = scenario.parent / "out" / "trace-1-direct.csv"
    with trace.open() as file:
        asked = list(csv.DictReader(file))
    assert len(asked) >= 20
    assert {row["operation"] for row in asked} == {"read"}
    # one after the other: all above have been answered
    assert [int(row["answered"]) for row in asked] == list(range(len(asked)))
    predicted = sum(float(row["latency_us"]) for row in asked) / len(asked)
    replay = SCENARIO.replace("block: {size: 4KiB, requests: 100}", "trace: {file: out/trace-1-direct.csv}")
    (scenario.parent / "replay.yaml").write_text(replay)
    rows = engine.run(str(scenario.parent / "replay.yaml"))["rows"]
    direct = next(row for row in rows if (row["variant"], row["metric"]) == ("direct", "latency"))
    assert direct["value"] == pytest.approx(predicted * 1e3, rel=0.01)


def test_a_program_that_fails_is_told_and_nothing_is_left(scenario: Path) -> None:
    failed = executed(scenario, "--", sys.executable, "-c", "raise SystemExit(3)")
    assert (failed.returncode, "EX001" in failed.stderr, "status 3" in failed.stderr) == (1, True, True)
    missing = executed(scenario, "--", "no-such-program-anywhere")
    assert (missing.returncode, "EX002" in missing.stderr) == (1, True)
    slow = executed(scenario, "--timeout", "0.3", "--", "sleep", "60")
    assert (slow.returncode, "did not end" in slow.stderr) == (1, True)
    unknown = executed(scenario, "--variant", "none", "--", "true")
    assert (unknown.returncode, "DO001" in unknown.stderr) == (1, True)
    silent = executed(scenario, "--repeats", "1", "--out", "out", "--", sys.executable, "-c", SAY)
    assert "has asked nothing" in silent.stderr
    said = (scenario.parent / "out" / "said-1-direct.txt").read_text()
    assert said.startswith("direct nbd+unix:///drive?socket=")
    assert not Path(said.split("socket=")[1].strip()).parent.exists()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_what_was_killed(scenario: Path, sign: signal.Signals) -> None:
    note = scenario.parent / "note"
    script = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    command = [*LANETWIN, "exec", str(scenario), "--", sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=scenario.parent
    ) as ran:
        began = time.monotonic()
        while not (note.exists() and note.read_text()) and time.monotonic() - began < LONG:
            time.sleep(0.05)
        child = int(note.read_text())
        ran.send_signal(sign)
        ran.wait(LONG)
    try:
        if sign == signal.SIGKILL:
            sweep_left()
        left = Path(tempfile.gettempdir()).glob(f"{PREFIX}{ran.pid}-*")
        assert not list(left)
        if sign != signal.SIGKILL:
            assert not Path(f"/proc/{child}/exe").exists()
    finally:
        if sign == signal.SIGKILL:
            os.kill(child, signal.SIGKILL)


def test_the_baseline_comes_first(scenario: Path) -> None:
    assert variants_of(scenario, []) == ["direct", "retimer"]
    scenario.write_text(SCENARIO.partition("variants:")[0])
    assert variants_of(scenario, []) == ["as-is"]
    scenario.write_text("machine: {}")
    with pytest.raises(LanetwinError):
        variants_of(scenario, [])
