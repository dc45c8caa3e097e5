"""A drive that is served to programs that know nothing of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from conftest import require_nbd_engine, require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCENARIO = """
about: A drive for a door.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 1GiB, medium: cross-point, firmware.read-latency: 500us}
links:
  slot: {from: cpu, to: ssd}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: ssd}
"""
LONG = 60.0
LANETWIN = [sys.executable, "-m", "lanetwin"]


@contextmanager
def served_by_nvme_tcp(
    folder: Path, *options: str, text: str = SCENARIO
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a drive at a free port, until the end of the block."""
    scenario = folder / "door.yaml"
    scenario.write_text(text)
    command = [*LANETWIN, "serve-device", str(scenario), "--nvme-tcp", "127.0.0.1:0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            assert said.startswith("nqn.2026-01.org.lanetwin:"), said
            yield said.split()[2].rstrip(","), server
        finally:
            server.send_signal(signal.SIGTERM)


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """Serve a drive at a socket, until the end of the block."""
    scenario, path = folder / "door.yaml", folder / "drive.sock"
    scenario.write_text(SCENARIO)
    command = [*LANETWIN, "serve-device", str(scenario), "--nbd", f"unix:{path}", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            began = time.monotonic()
            while not path.exists() and time.monotonic() - began < LONG and server.poll() is None:
                time.sleep(0.02)
            yield path, server
        finally:
            server.send_signal(signal.SIGTERM)


def ended(server: subprocess.Popen[str]) -> dict[str, Any]:
    """End a server as Ctrl-C does: what it tells."""
    server.send_signal(signal.SIGINT)
    told, said = server.communicate(timeout=LONG)
    assert server.returncode == 0, said
    found: dict[str, Any] = json.loads(told)
    return found


def device(*words: object) -> subprocess.CompletedProcess[str]:
    command = [*LANETWIN, "device", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)


def test_fio_verifies_what_it_has_written_and_ctrl_c_ends_all(tmp_path: Path) -> None:
    fio = require_tool("fio")
    with served(tmp_path) as (path, server):
        uri = f"--uri=nbd+unix:///drive?socket={path}"
        job = ["--name=w", "--ioengine=nbd", uri, "--rw=randwrite", "--bs=4k", "--size=4m", "--iodepth=8"]
        wrote = [fio, *job, "--verify=crc32c", "--do_verify=1", "--output-format=json"]
        ran = subprocess.run(wrote, capture_output=True, text=True, timeout=LONG, cwd=tmp_path, check=False)
        require_nbd_engine(ran.stderr)
        assert ran.returncode == 0, ran.stderr
        result = json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]
        assert result["error"] == 0
        assert result["read"]["total_ios"] == result["write"]["total_ios"] == 1024
        told = ended(server)
        assert told["answers"] >= 2048
        # nobody is answered before the time, but for the error of what the door takes
        assert result["read"]["lat_ns"]["mean"] / 1000 > told["predicted_mean_us"] * 0.5
    assert not path.exists()
    assert not (tmp_path / "drive.sock.control").exists()


def test_a_drive_is_controlled_by_its_second_socket(tmp_path: Path) -> None:
    with served(tmp_path) as (path, server):
        status = json.loads(device("status", path).stdout)
        assert status["has_power"]
        assert device("fault", path, "link-down", "--for-ms", 10).returncode == 0
        assert "0 atomic units" in device("power-cut", path).stdout
        no_port = device("port-down", path, "--port", 1)
        assert no_port.returncode == 1
        assert "error[DO022]" in no_port.stderr
        assert "the drive is not served by NVMe/TCP" in no_port.stderr
        assert device("status", f"{path}.control").returncode == 0
        assert not json.loads(device("status", path).stdout)["has_power"]
        assert device("power-on", path).returncode == 0
        ended(server)
    gone = device("status", path)
    assert gone.returncode == 1
    assert "no drive is served" in gone.stderr


def ping(*words: str) -> subprocess.CompletedProcess[str]:
    command = [*LANETWIN, "nvme-tcp", "ping", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)


def test_a_ping_shows_what_it_sees_beside_what_was_predicted(tmp_path: Path) -> None:
    with served_by_nvme_tcp(tmp_path) as (address, server):
        told = json.loads(ping(address, "--reads", "50", "--depth", "4", "--json").stdout)
        assert (told["reads"], told["errors"], told["bytes"]) == (50, 0, 1 << 30)
        assert told["discovered"] == [told["nqn"]] == ["nqn.2026-01.org.lanetwin:ssd"]
        assert told["served"]["answers"] == 50
        # nobody is answered before the time, but for the error of what the door takes
        assert told["mean_us"] > told["served"]["predicted_mean_us"] * 0.9
        said = ping(address, "--reads", "20", "--digests").stdout
        assert "20 reads, 0 errors" in said
        assert "predicted mean" in said
        assert device("remove", address).returncode == 0
        gone = ping(address, "--reads", "1")
        assert (gone.returncode, "DO014" in gone.stderr) == (1, True)
        assert device("insert", address).returncode == 0
        assert device("reset", address).returncode == 0
        for words, why in (
            (("--nqn", "nqn.2026-01.org.lanetwin:none"), "refused"),
            (("--nsid", "2"), "no namespace 2"),
            (("--size", "100"), "whole blocks"),
        ):
            refused = ping(address, *words)
            assert (refused.returncode, why in refused.stderr) == (1, True), refused.stderr
        # each ping has forgotten what was before it, the last one has read nothing
        assert ended(server)["answers"] == 0
    assert ping(address).returncode == 1
    assert ping("nowhere").returncode == 1


def test_several_drives_are_namespaces_of_one_subsystem(tmp_path: Path) -> None:
    scenario = SCENARIO.replace(
        "links:", "  other: {model: nvme-ssd, capacity: 2GiB, medium: cross-point}\nlinks:"
    )
    scenario = scenario.replace("workloads:", "  second: {from: cpu, to: other}\nworkloads:")
    scenario = scenario.replace("target: ssd", "target: [ssd, other]")
    both = ("--drive", "other", "--drive", "ssd")
    with served_by_nvme_tcp(tmp_path, *both, text=scenario) as (address, server):
        for nsid, size in (("1", 2 << 30), ("2", 1 << 30)):
            told = json.loads(ping(address, "--reads", "5", "--nsid", nsid, "--json").stdout)
            assert (told["nqn"], told["bytes"]) == ("nqn.2026-01.org.lanetwin:other-ssd", size)
        assert "no namespace 3" in ping(address, "--nsid", "3").stderr
        assert device("fault", address, "media-error", "--length", 1 << 20, "--namespace", 2).returncode == 0
        assert "no namespace 3" in device("fault", address, "lie", "--namespace", 3).stderr
        assert ended(server)["answers"] == 0
    for options, said in (
        (("--nbd", f"unix:{tmp_path}/sock", *both), "DO018"),
        (("--nvme-tcp", "127.0.0.1:0", "--drive", "ssd", "--drive", "ssd"), "DO018"),
        (("--nvme-tcp", "127.0.0.1:0", *both, "--record", str(tmp_path / "asked.csv")), "DO018"),
        (("--nvme-tcp", "127.0.0.1:0", *both, "--data", str(tmp_path / "one")), "1 files for 2 drives"),
    ):
        command = [*LANETWIN, "serve-device", str(tmp_path / "door.yaml"), *options]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)
        assert (ran.returncode in (1, 2), said in ran.stderr) == (True, True), ran.stderr
    assert not (tmp_path / "asked.csv").exists()


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    scenario = tmp_path / "door.yaml"
    scenario.write_text(SCENARIO)
    for option, where, code, status in (
        ("--nbd", f"unix:{scenario}", "DO011", 1),
        ("--nbd", f"unix:{tmp_path}/no/folder/sock", "DO011", 1),
        ("--nbd", "0.0.0.0:10809", "unix:PATH", 2),
        ("--vfio-user", "slot.sock", "unix:PATH", 2),
        ("--vfio-user", f"unix:{scenario}", "DO011", 1),
        ("--nvme-tcp", "0.0.0.0:4420", "DO012", 1),
        ("--nvme-tcp", "192.0.2.1:4420", "DO012", 1),
        ("--variant", "baseline", "give one of them", 2),
    ):
        command = [*LANETWIN, "serve-device", str(scenario), option, where]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)
        assert ran.returncode == status
        assert code in ran.stderr
    assert scenario.read_text() == SCENARIO
