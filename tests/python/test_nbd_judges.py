"""What other people's clients of NBD make of a drive that is served: libnbd and QEMU."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from conftest import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCENARIO = """
about: A drive for a door.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 256MiB, block: BLOCK, buffer.protected: false, buffer.volatile: true}
links:
  slot: {from: cpu, to: ssd}
workloads:
  w: {block: {size: 4KiB, requests: 100, span: 256MiB}, on: cpu, target: ssd}
"""
LANETWIN = [sys.executable, "-m", "lanetwin"]
WORDS = {512: "512B", 4096: "4KiB"}
"""Sizes of blocks in bytes, as a scenario has them."""
LONG = 60.0
MIB = 1 << 20


@contextmanager
def served(folder: Path, block: int) -> Iterator[Path]:
    """Serve a drive with blocks of so many bytes, until the end of the block; give its socket."""
    scenario, path = folder / "door.yaml", folder / "drive.sock"
    scenario.write_text(SCENARIO.replace("BLOCK", WORDS[block]))
    command = [*LANETWIN, "serve-device", str(scenario), "--nbd", f"unix:{path}"]
    command += ["--data", str(folder / "drive.data")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            assert said.startswith("nbd+unix:"), said + server.stderr.read()
            yield path
        finally:
            server.send_signal(signal.SIGTERM)


def uri(path: Path) -> str:
    return f"nbd+unix:///drive?socket={path}"


def ran(*words: object) -> str:
    """Run a program that ends well; give what it tells."""
    ended = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=LONG, check=False)
    assert ended.returncode == 0, (words, ended.stdout, ended.stderr)
    return ended.stdout


def qemu_io(path: Path, *commands: str) -> None:
    """Do something to the image on a drive: ``read -P`` compares, and says so in words alone."""
    told = ran("qemu-io", "-f", "qcow2", *(word for does in commands for word in ("-c", does)), uri(path))
    assert "failed" not in told, told


def checked(path: Path) -> dict[str, Any]:
    """Check the image on a drive: it has neither errors nor leaks."""
    found: dict[str, Any] = json.loads(ran("qemu-img", "check", "--output=json", "-f", "qcow2", uri(path)))
    assert (found["check-errors"], found.get("corruptions", 0), found.get("leaks", 0)) == (0, 0, 0), found
    return found


def power_cycle(path: Path) -> None:
    """Cut the power of a drive, and give it back."""
    for verb in ("power-cut", "power-on"):
        ran(*LANETWIN, "device", verb, path)
    assert json.loads(ran(*LANETWIN, "device", "status", path))["has_power"]


@pytest.mark.parametrize("block", [512, 4096])
def test_libnbd_is_told_what_the_drive_is(tmp_path: Path, block: int) -> None:
    require_tool("nbdinfo")
    with served(tmp_path, block) as path:
        told = json.loads(ran("nbdinfo", "--json", uri(path)))
        listed = json.loads(ran("nbdinfo", "--list", "--json", f"nbd+unix:///?socket={path}"))
        unknown = subprocess.run(
            ["nbdinfo", f"nbd+unix:///other?socket={path}"], capture_output=True, text=True, check=False
        )
    assert (told["protocol"], told["TLS"], told["structured"]) == ("newstyle-fixed", False, True)
    (drive,) = told["exports"]
    assert [export["export-name"] for export in listed["exports"]] == ["drive"]
    sizes = {key: drive[f"block_size_{key}"] for key in ("minimum", "preferred", "maximum")}
    assert sizes == {"minimum": block, "preferred": 4096, "maximum": 4 * MIB}
    assert drive["export-size"] == 256 * MIB
    can = {word for word in ("flush", "fua", "trim", "zero", "multi_conn") if drive[f"can_{word}"]}
    assert can == {"flush", "fua", "trim", "zero", "multi_conn"}
    assert not drive["is_read_only"]
    assert not drive["is_rotational"]
    assert unknown.returncode != 0


def test_libnbd_reads_what_it_has_written_with_several_connections(tmp_path: Path) -> None:
    require_tool("nbdcopy")
    original, back = tmp_path / "original", tmp_path / "back"
    # data, holes between them, and an end that is no multiple of what is asked at once
    parts = [hashlib.shake_256(bytes([seed])).digest(MIB) if seed % 3 else bytes(MIB) for seed in range(24)]
    original.write_bytes(b"".join(parts) + b"\x5a" * 8192)
    with served(tmp_path, 4096) as path:
        # what is there before must be gone where the original has zeroes
        noise = tmp_path / "noise"
        noise.write_bytes(b"\xff" * original.stat().st_size)
        for file in (noise, original):
            ran("nbdcopy", "--connections=4", "--requests=16", "--flush", file, uri(path))
        ran("nbdcopy", "--connections=4", "--requests=16", uri(path), back)
    assert back.stat().st_size == 256 * MIB
    with back.open("rb") as copy:
        assert copy.read(original.stat().st_size) == original.read_bytes()
        assert copy.read(MIB) == bytes(MIB)


@pytest.mark.parametrize("block", [512, 4096])
def test_an_image_of_qemu_on_a_drive_is_whole_after_a_power_cut(tmp_path: Path, block: int) -> None:
    require_tool("qemu-img")
    require_tool("qemu-io")
    with served(tmp_path, block) as path:
        ran("qemu-img", "create", "-q", "-f", "qcow2", uri(path), "200M")
        qemu_io(
            path,
            "write -P 0xa5 1M 4M",
            "write -z -u 2M 1M",
            "discard 3M 64k",
            "write -f -P 0x5a 150M 64k",
            "flush",
        )
        before = checked(path)
        assert before["allocated-clusters"] > 0
        power_cycle(path)
        assert checked(path) == before
        qemu_io(path, "read -P 0xa5 1M 1M", "read -P 0 2M 1M", "read -P 0xa5 4M 1M", "read -P 0x5a 150M 64k")
        # the image itself is what is judged: a byte that is wrong is found
        wrong = ["qemu-io", "-f", "qcow2", "-c", "read -P 0xa6 1M 1M", uri(path)]
        assert "failed" in subprocess.run(wrong, capture_output=True, text=True, check=False).stdout


def test_an_image_of_qemu_finds_a_drive_out_that_lies_about_flush(tmp_path: Path) -> None:
    require_tool("qemu-img")
    require_tool("qemu-io")
    with served(tmp_path, 4096) as path:
        ran("qemu-img", "create", "-q", "-f", "qcow2", uri(path), "200M")
        ran(*LANETWIN, "device", "fault", path, "lie")
        qemu_io(path, "write -P 0xa5 1M 4M", "flush")
        power_cycle(path)
        read = ["qemu-io", "-f", "qcow2", "-c", "read -P 0xa5 1M 4M", uri(path)]
        told = subprocess.run(read, capture_output=True, text=True, check=False)
    # bytes of the image, or what it is known by, are gone
    assert told.returncode != 0 or "failed" in told.stdout
