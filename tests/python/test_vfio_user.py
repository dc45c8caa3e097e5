"""The PCIe drive of a guest, served by vfio-user: Linux's own driver, and what lspci says of its link."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from guest import Hardware, booted, require_guest

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SCENARIO = """
about: A drive for a guest, behind a retimer, on half of its lanes.
machine:
  cpu: {model: root-complex}
  ssd:
    model: nvme-ssd
    capacity: 1GiB
    medium: cross-point
    firmware.read-latency: 200us
    port.gen: 5
    port.width: 4
links:
  slot: {from: cpu, to: ssd, gen: 4, width: x2}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: ssd}
"""
LONG_S = 300.0
"""Longer than any step of the guest takes."""


def require_vfio_user() -> dict[str, str]:
    """Return the tools of a guest, with a QEMU that speaks vfio-user.

    Without one the test is skipped, but fails where REQUIRE names ``guest-qemu``.
    """
    tools = require_guest("lspci", "nvme", "fio", "mke2fs")
    emulator = os.environ.get("LANETWIN_GUEST_QEMU", "")
    if not Path(emulator).is_file():
        why = "LANETWIN_GUEST_QEMU names no QEMU with vfio-user-pci (.ci/guest-qemu fetches one)"
        if "guest-qemu" in os.environ.get("REQUIRE", "").replace(",", " ").split():
            pytest.fail(f"guest-qemu is required here (REQUIRE names it): {why}")
        pytest.skip(why)
    return tools | {"qemu-system-x86_64": emulator}


def hardware(socket: Path) -> Hardware:
    """Return a guest whose memory others can share, with a root port that has the served drive below it."""
    options = ["-object", "memory-backend-memfd,id=memory,size=1G,share=on"]
    options += ["-device", "pcie-root-port,id=rp,chassis=1,slot=1,x-speed=32,x-width=4"]
    drive = '{"driver": "vfio-user-pci", "bus": "rp", "socket": {"type": "unix", "path": "%s"}}'
    options += ["-device", drive % socket]
    # commands that were lost with the link are given up after 3 s, not after 30
    return Hardware("q35,accel=tcg,memory-backend=memory", 1024, tuple(options), "nvme_core.io_timeout=3")


def device(verb: str, *words: str) -> str:
    """Do something to the drive, by ``lanetwin device``; what that says."""
    command = [sys.executable, "-m", "lanetwin", "device", verb, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def served(folder: Path, socket: Path) -> Iterator[None]:
    """Serve the drive, until the end of the block."""
    scenario = folder / "door.yaml"
    scenario.write_text(SCENARIO)
    command = [
        sys.executable,
        "-m",
        "lanetwin",
        "serve-device",
        str(scenario),
        "--vfio-user",
        f"unix:{socket}",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        said = server.stderr.readline()
        try:
            assert said.startswith("vfio-user at "), said + server.stderr.read()
            yield
        finally:
            server.kill()


def test_linux_drives_it_and_sees_its_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools, socket = require_vfio_user(), tmp_path / "vfio"
    known = "CAPABLE='Speed 32GT/s, Width x4' TRAINED='Speed 16GT/s.* Width x2'\n"
    script = known + (HERE / "vfio_user_guest.sh").read_text(encoding="utf-8")
    with served(tmp_path, socket):
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        with booted(tmp_path, tools, script, hardware(socket)) as guest:
            for check in (
                "bound",
                "link",
                "identified",
                "verified",
                "intact after mount",
                "intact after resets",
            ):
                assert guest.said("CHECK", LONG_S) == check
            assert guest.said("WANT", LONG_S) == "link down"
            # what guests see beside the prediction is shown, and no part of the test
            print(device("status", str(socket)))
            device("fault", str(socket), "link-down", "--for-ms", "1000")
            assert guest.said("CHECK", LONG_S) == "intact after the link was down"
            assert guest.said("ENDED", LONG_S) == "0"
            print("\n".join(line for line in guest.lines if line.startswith("SAID")))
