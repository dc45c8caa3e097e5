"""Measuring with fio: what it is given, in which order, what is kept, what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lanetwin import engine
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.measure import Asked, Target, environment, opened, read_tests
from lanetwin.measure.jobs import ALLOWED, OWN
from lanetwin.measure.runner import order

HEAD = """about: What does this disk do?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-nvme-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
"""
READS = """  one: {fio: {rw: randread, bs: 4k, iodepth: 1, requests: 100}, on: host, target: ssd}
  many:
    fio: {rw: randread, bs: 16k, iodepth: 8, numjobs: 2, group_reporting: 1, requests: 100}
    on: host
    target: ssd
"""
EVIL = """[global]
ioengine=external:evil.so
filename=/etc/shadow
exec_prerun=touch was-here
unlink=1
rw=randread
size=1m
[read me]
bs=8k
write_bw_log=log
bssplit=4k/50:8k/50
[write]
stonewall
rw=randwrite
"""


@pytest.fixture
def bay(tmp_path: Path) -> Path:
    file = tmp_path / "bay.yaml"
    file.write_text(HEAD + READS)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(8 << 20))
    return file


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_fio_gets_nothing_but_what_is_allowed(tmp_path: Path, data: Path) -> None:
    (tmp_path / "evil.fio").write_text(EVIL)
    scenario = tmp_path / "bay.yaml"
    scenario.write_text(HEAD + "  evil: {fio: {file: evil.fio, requests: 100}, on: host, target: ssd}\n")
    tests, left = read_tests(scenario, [], [])
    assert [(test.workload, test.case) for test in tests] == [("evil", "read me")]
    assert any("would write" in one.why for one in left)
    told = " ".join(one.why for one in left)
    assert "exec_prerun, filename, ioengine, unlink, write_bw_log" in told
    assert "measured without exec_prerun" in " ".join(one.told() for one in left)
    text = tests[0].text(opened("as-is", data), seconds=1, ramp=0)
    keys = {line.partition("=")[0] for line in text.splitlines() if "=" in line}
    assert keys <= ALLOWED | OWN | {"filename", "allow_file_create", "lat_percentiles"}
    assert "evil" not in text
    assert "shadow" not in text
    assert f"filename={data}" in text
    assert "ioengine=libaio" in text
    assert "rw=randread" in text
    assert "bssplit=4k/50:8k/50" in text
    assert "size=1048576" in text


def test_clones_stay_within_the_target(tmp_path: Path, data: Path) -> None:
    scenario = tmp_path / "bay.yaml"
    job = "{rw: read, bs: 4k, size: 1g, offset: 2m, offset_increment: 1m, numjobs: 3, requests: 9}"
    scenario.write_text(HEAD + f"  far: {{fio: {job}, on: host, target: ssd}}\n")
    tests, _ = read_tests(scenario, [], [])
    target = opened("as-is", data)
    assert tests[0].jobs[0].span(target) == (2 << 20, 8 << 20)
    assert f"size={4 << 20}" in tests[0].text(target, seconds=1, ramp=0)
    small = Target("as-is", data, 3 << 20, is_device=False)
    with pytest.raises(LanetwinError, match="MR002"):
        tests[0].text(small, seconds=1, ramp=0)


def test_what_is_compared_takes_turns(bay: Path, data: Path) -> None:
    tests, _ = read_tests(bay, [], ["one"])
    targets = [opened("A", data), opened("B", data)]
    steps = order(Asked(bay, tests, targets, repeats=4))
    assert "".join(target.variant for _, target, _ in steps) == "ABBAABBA"


def test_mean_and_interval_are_those_of_the_engine() -> None:
    assert engine.mean_of([4.0]) == (4.0, 4.0, 4.0)
    mean, low, high = engine.mean_of([11.0, 12.0, 13.0])
    # Student's t with two degrees of freedom at 95 % is 4.3027; the standard error is 1 / sqrt 3
    half = 4.3027 / 3**0.5
    assert mean == 12.0
    assert [low, high] == pytest.approx([12 - half, 12 + half], rel=1e-4)
    # what is never negative has no negative mean
    assert engine.mean_of([1.0, 2.0, 3.0])[1] == 0.0


def test_the_environment_holds_no_serial_number(data: Path) -> None:
    told = json.dumps({"machine": environment.machine(), "device": environment.device(opened("as-is", data))})
    assert '"kernel"' in told
    assert '"scheduler"' in told or '"block device"' not in told
    assert "serial" not in told.lower()
    assert os.uname().nodename not in told.replace(os.uname().release, "")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--on", "{folder}/nothing"), "MR002"),
        (("--on", "{folder}"), "MR002"),
        (("--on", "{folder}/tiny"), "MR002"),
        (("--on", "{folder}/data", "--workload", "three"), "MR001"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    bay: Path, data: Path, options: tuple[str, ...], code: str
) -> None:
    (data.parent / "tiny").write_bytes(b"x")
    given = [option.format(folder=data.parent) for option in options]
    done = call("measure", bay, *given, "--out", data.parent / "out")
    assert done.exit_code == 1
    assert code in done.stderr
    assert not (data.parent / "out").exists()


def test_writes_are_never_measured(tmp_path: Path, data: Path) -> None:
    scenario = tmp_path / "bay.yaml"
    scenario.write_text(HEAD + "  w: {fio: {rw: randrw, bs: 4k, requests: 100}, on: host, target: ssd}\n")
    done = call("measure", scenario, "--on", data, "--out", tmp_path / "out")
    assert "MR001" in done.stderr


def test_without_fio_it_says_what_to_install(bay: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(data.parent))
    done = call("measure", bay, "--on", data, "--out", data.parent / "out")
    assert "MR003" in done.stderr


def test_a_file_is_measured_and_compared(bay: Path, data: Path, require_tool: Callable[[str], str]) -> None:
    require_tool("fio")
    before = data.read_bytes()
    out = data.parent / "out"
    done = call(
        "measure", bay, "--on", data, "--seconds", 0.3, "--ramp", 0, "--repeats", 2, "--out", out, "--quiet"
    )
    assert done.exit_code == 0, done.output
    assert data.read_bytes() == before
    results = json.loads((out / "results.json").read_text())
    assert results["kind"] == "measured"
    assert results["complete"]
    assert results["options"]["environment"]["machine"]["kernel"] == os.uname().release
    rows = {(row["workload"], row["metric"]): row for row in results["rows"] if not row.get("device")}
    for workload in ("one", "many"):
        row = rows[workload, "latency"]
        assert len(row["samples"]) == row["n"] == 2
        assert row["low"] <= row["value"] <= row["high"]
        assert row["value"] > 1000
        assert dict(map(tuple, row["percentiles"])).keys() >= {50.0, 99.0}
    predicted = data.parent / "predicted"
    assert call("run", bay, "--out", predicted, "--quiet").exit_code == 0
    compared = call("compare", out, predicted)
    assert compared.exit_code == 0, compared.output
    assert "mean of the absolute errors" in compared.stdout


def test_reads_of_what_is_empty_are_marked(
    bay: Path, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("fio")
    empty = tmp_path / "empty"
    empty.write_bytes(os.urandom(4096))
    os.truncate(empty, 8 << 20)
    out = tmp_path / "out"
    done = call(
        "measure",
        bay,
        "--on",
        empty,
        "--seconds",
        0.2,
        "--ramp",
        0,
        "--repeats",
        1,
        "--out",
        out,
        "-w",
        "one",
    )
    assert done.exit_code == 1
    assert "INVALID" in done.stderr
    results = json.loads((out / "results.json").read_text())
    assert not results["rows"]
    assert {row["workload"] for row in results["options"]["invalid"]} == {"one"}
    assert all("never written" in row["why"] for row in results["options"]["invalid"])


def test_a_killed_run_leaves_what_was_finished(
    bay: Path, data: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("fio")
    out = data.parent / "out"
    command = [sys.executable, "-m", "lanetwin", "measure", str(bay), "--on", str(data), "--out", str(out)]
    with subprocess.Popen(
        [*command, "--seconds", "0.5", "--ramp", "0", "--repeats", "50"], start_new_session=True
    ) as run:
        deadline = time.monotonic() + 90
        while not (out / "results.json").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        os.killpg(run.pid, signal.SIGKILL)
    results = json.loads((out / "results.json").read_text())
    assert not results["complete"]
    assert results["stopped"] == "interrupted"
    assert results["rows"]
    assert call("report", out).exit_code == 0
