"""Drives that are files and file systems: what programs find there, what is left when one is killed."""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from conftest import require_mounts, require_tool
from lanetwin import emulation, filesystem
from lanetwin.cli.app import app
from lanetwin.errors import LanetwinError
from lanetwin.execution import Asked, Run, Served, execute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCENARIO = """
about: A drive for a file system.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 1GiB, medium: cross-point}
links:
  slot: {from: cpu, to: ssd}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: ssd}
"""
LONG = 60.0
LANETWIN = [sys.executable, "-m", "lanetwin"]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "slot.yaml"
    path.write_text(SCENARIO)
    return path


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < LONG
        time.sleep(0.02)


@contextmanager
def served(scenario: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """Serve a drive as a file until the end of the block."""
    folder = scenario.parent / "drive.d"
    # one whose server was killed does not say that it is a folder
    with suppress(FileExistsError):
        folder.mkdir()
    command = [*LANETWIN, "serve-device", str(scenario), "--fuse", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            assert said.startswith(str(folder / "drive")), said
            yield folder, server
        finally:
            server.send_signal(signal.SIGTERM)


@contextmanager
def served_here(scenario: Path) -> Iterator[Served]:
    """Serve a drive as a file, by a thread of this process."""
    with Served(Asked(scenario, [], [], entrance="fuse"), "as-is", scenario.parent) as drive:
        yield drive


def executed(scenario: Path, *words: str) -> Run:
    """Run a program in a file system on a drive, by this process."""
    asked = Asked(scenario, words, ["as-is"], repeats=1, entrance="fuse", is_mounted=True)
    results, runs = execute(asked)
    assert (results["options"]["entrance"], results["options"]["mount"]) == ("fuse", "ext4")
    return runs[0]


def left(of: int) -> list[str]:
    """Return what is still mounted of a process's runs."""
    return [
        str(place) for place in filesystem.mounts_below(Path("/")) if f"lanetwin-exec-{of}-" in str(place)
    ]


def test_fio_verifies_what_it_has_written_to_the_file(scenario: Path) -> None:
    require_mounts()
    fio = require_tool("fio")
    with served_here(scenario) as drive:
        file = drive.names()["device"]
        job = ["--name=w", f"--filename={file}", "--rw=randwrite", "--bs=4k", "--size=4m", "--direct=1"]
        deep = [
            "--ioengine=libaio",
            "--iodepth=8",
            "--verify=crc32c",
            "--do_verify=1",
            "--output-format=json",
        ]
        command, folder = [fio, *job, *deep], scenario.parent
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False, cwd=folder)
        assert ran.returncode == 0, ran.stderr
        found = json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]
        assert (found["error"], found["read"]["total_ios"], found["write"]["total_ios"]) == (0, 1024, 1024)
    assert drive.lateness
    assert drive.lateness["answers"] >= 2048
    assert not list(Path(file).parent.iterdir())


def test_a_storm_in_a_file_system_leaves_what_was_written(scenario: Path) -> None:
    require_mounts()
    storm = Path(__file__).parent / "storm.py"
    run = executed(scenario, sys.executable, str(storm), "1", "400")
    assert int(run.said) > 0
    assert run.lateness["answers"] > 400


def test_a_media_error_is_one_of_the_file_system(scenario: Path) -> None:
    require_mounts()
    place = scenario.parent / "mount"
    place.mkdir()
    with served_here(scenario) as drive:
        file = Path(drive.names()["device"])
        with filesystem.Ext4(file, place) as made, mmap.mmap(-1, 4096) as page:
            note = place / "note"
            with note.open("wb", buffering=0) as written:
                written.write(b"x" * 4096)
                os.fsync(written.fileno())
            whole = {"fault": "media-error", "first": 0, "bytes": 1 << 30}
            emulation.control(file.parent, {"control": "fault", "what": whole})
            raw = os.open(note, os.O_RDONLY | os.O_DIRECT)
            with pytest.raises(OSError, match="Input/output"):
                os.preadv(raw, [page], 0)
            emulation.control(file.parent, {"control": "fault", "what": {"fault": "none"}})
            assert os.preadv(raw, [page], 0) == 4096
            assert page[:] == b"x" * 4096
            os.close(raw)
            assert Path("/sys/block", Path(made.loop).name, "loop").exists()
        assert filesystem.mounts_below(place) == []
        assert not Path("/sys/block", Path(made.loop).name, "loop").exists()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_no_mount_is_left_of_what_was_killed(scenario: Path, sign: signal.Signals) -> None:
    require_mounts()
    note = scenario.parent / "note"
    script = f"echo $$ {{mount}} >{note}.new; mv {note}.new {note}; exec sleep 600"
    command = [*LANETWIN, "exec", str(scenario), "--mount", "ext4", "--", "sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ran:
        until(note.exists)
        child, place = note.read_text().split()
        assert [place, str(Path(place).with_name("drive.d"))] == left(ran.pid)
        ran.send_signal(sign)
        ran.wait(LONG)
    try:
        until(lambda: not left(ran.pid))
    finally:
        # nobody ends the program when `exec` is killed
        if sign == signal.SIGKILL:
            os.kill(int(child), signal.SIGKILL)
    until(lambda: not Path(f"/proc/{child}/exe").exists())


def test_a_program_that_is_killed_leaves_no_mount(scenario: Path) -> None:
    require_mounts()
    with pytest.raises(LanetwinError) as ended:
        executed(scenario, "sh", "-c", "echo x >kept; kill -KILL $$")
    assert [(one.code, "status -9" in one.message) for one in ended.value.diagnostics] == [("EX001", True)]
    assert left(os.getpid()) == []


def test_what_a_killed_server_has_left_is_cleared(scenario: Path) -> None:
    require_mounts()
    with served(scenario) as (folder, server):
        server.kill()
        server.wait(LONG)
        until(lambda: not filesystem.mounts_below(folder))
    with served(scenario) as (folder, server):
        threads = Path(f"/proc/{server.pid}/task").glob("*/children")
        keepers = [int(number) for thread in threads for number in thread.read_text().split()]
        for keeper in keepers:
            os.kill(keeper, signal.SIGKILL)
        server.kill()
        server.wait(LONG)
        with pytest.raises(OSError, match="not connected"):
            list(folder.iterdir())
    with served(scenario) as (folder, server):
        assert [path.name for path in folder.iterdir()] == ["drive"]


def test_only_empty_folders_take_a_drive(scenario: Path) -> None:
    for place in (scenario.parent, scenario, scenario.parent / "none"):
        with pytest.raises(LanetwinError) as refused:
            emulation.serve(scenario, "fuse", place)
        assert [one.code for one in refused.value.diagnostics] == ["DO015"]
    assert scenario.read_text() == SCENARIO
    wrong = CliRunner().invoke(app, ["exec", str(scenario), "--mount", "ext4", "--over", "nbd", "--", "true"])
    assert (wrong.exit_code, "served by fuse" in wrong.output) == (2, True)


def test_only_root_makes_file_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LanetwinError) as refused:
        filesystem.insist()
    assert [one.code for one in refused.value.diagnostics] == ["EX003"]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(filesystem, "SEARCHED", str(tmp_path))
    assert "mkfs.ext4" in (filesystem.why_not() or "")
