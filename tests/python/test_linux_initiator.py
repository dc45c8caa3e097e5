"""The host of NVMe/TCP that everybody has, Linux's, on a drive that is served: in a guest of QEMU."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from guest import HOST, booted, require_guest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

HERE = Path(__file__).parent
SCENARIO = """
about: A drive for a door.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 1GiB, medium: cross-point, firmware.read-latency: 50us}
links:
  slot: {from: cpu, to: ssd}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: ssd}
"""
SEVERAL = """
about: Two drives behind a switch.
machine:
  cpu: {model: root-complex}
  switch: {model: switch}
  small: {model: nvme-ssd, capacity: 1GiB, medium: cross-point}
  large: {model: nvme-ssd, capacity: 4GiB, medium: cross-point, block: 4KiB, namespaces: 2}
links:
  up: {from: cpu, to: switch}
  a: {from: switch, to: small}
  b: {from: switch, to: large}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: [small, large.ns1, large.ns2]}
"""
KEEP_ALIVE_S = 2.0
"""Keep Alive Timeout of the guest: KEEP_ALIVE of the script."""
LONG_S = 120.0
"""Longer than any step of the guest takes."""


class Target:
    """Drives that are served by NVMe/TCP."""

    def __init__(self, folder: Path, scenario: str, options: list[str], ports: int = 1) -> None:
        """Write the scenario; nothing is served yet."""
        self.scenario, self.options = folder / "door.yaml", options
        self.scenario.write_text(scenario)
        self.ports = [0] * ports
        self.server: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Serve, at a free port, then at the same."""
        command = [sys.executable, "-m", "lanetwin", "serve-device", str(self.scenario)]
        command += [word for port in self.ports for word in ("--nvme-tcp", f"127.0.0.1:{port}")]
        command += self.options
        self.server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.server.stderr
        said = self.server.stderr.readline()
        assert " at 127.0.0.1:" in said, said + self.server.stderr.read()
        self.ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", said.partition(";")[0])]

    @property
    def port(self) -> int:
        """The first port: that by which it is controlled."""
        return self.ports[0]

    def send(self, number: int) -> None:
        """Send it a signal."""
        assert self.server
        self.server.send_signal(number)

    def kill(self) -> None:
        """End it without notice."""
        assert self.server
        assert self.server.stderr
        self.server.kill()
        self.server.wait()
        self.server.stderr.close()

    def device(self, verb: str, *words: str) -> None:
        """Do something to it, by ``lanetwin device``."""
        command = [sys.executable, "-m", "lanetwin", "device", verb, f"127.0.0.1:{self.port}", *words]
        subprocess.run(command, check=True)

    def connections(self) -> int:
        """Count connections that are established from its side (Linux ``proc_net_tcp.rst``)."""
        here = f"{socket.htonl(0x7F000001):08X}:{self.port:04X}"
        rows = (line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:])
        return sum(row[1] == here and row[3] == "01" for row in rows)


@contextmanager
def served(folder: Path, scenario: str, *options: str, ports: int = 1) -> Iterator[Target]:
    """Serve drives of a scenario, until the end of the block."""
    target = Target(folder, scenario, list(options), ports)
    target.start()
    try:
        yield target
    finally:
        target.kill()


def test_linux_verifies_a_drive_over_nvme_tcp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("nvme", "fio", "mke2fs")
    script = (HERE / "nvme_tcp_host.sh").read_text(encoding="utf-8")
    with (
        served(tmp_path, SCENARIO, "--data", str(tmp_path / "drive.data")) as target,
        booted(tmp_path, tools, f"PORT={target.port}\n{script}") as guest,
    ):
        for check in (
            "discovered",
            "identified",
            "verified",
            "zeroed",
            "filled",
            "intact after mount",
            "gone",
            "intact after connect, with digests",
            "verified with digests",
            "intact after a reset by the host",
        ):
            assert guest.said("CHECK", LONG_S) == check

        assert guest.said("WANT", LONG_S) == "unreadable"
        target.device("fault", "media-error", "--first", str(180224 * 4096), "--length", "512")
        assert guest.said("CHECK", LONG_S) == "unreadable"
        assert guest.said("CHECK", LONG_S) == "readable when written"

        # the target dies with commands in progress, and comes back with its file
        assert guest.said("WANT", LONG_S) == "killed"
        target.kill()
        time.sleep(1.0)
        target.start()
        assert guest.said("CHECK", LONG_S) == "written through a kill"
        assert guest.said("CHECK", LONG_S) == "intact after a kill"

        # the target says nothing for so long that the host gives the association up
        assert guest.said("WANT", LONG_S) == "suspended"
        target.send(signal.SIGSTOP)
        time.sleep(3 * KEEP_ALIVE_S)
        target.send(signal.SIGCONT)
        assert guest.said("CHECK", LONG_S) == "written through a silence of the target"
        assert guest.said("CHECK", LONG_S) == "intact after a silence of the target"

        assert guest.said("WANT", LONG_S) == "removed"
        target.device("remove")
        time.sleep(1.0)
        target.device("insert")
        assert guest.said("CHECK", LONG_S) == "written while it was pulled out"
        assert guest.said("CHECK", LONG_S) == "intact after it was pulled out"

        # the host says nothing for so long that the target gives the association up
        assert guest.said("WANT", LONG_S) == "frozen"
        assert target.connections() > 1
        with guest.frozen():
            time.sleep(1.5 * KEEP_ALIVE_S)
            assert target.connections() == 0
        assert guest.said("CHECK", LONG_S) == "intact after its own silence"
        assert guest.said("CHECK", LONG_S) == "formatted"
        assert guest.said("CHECK", LONG_S) == "disconnected"
        assert guest.said("ENDED", LONG_S) == "0"
        assert target.connections() == 0


def test_linux_sees_several_drives_as_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("nvme", "fio", "mke2fs")
    script = (HERE / "nvme_tcp_namespaces.sh").read_text(encoding="utf-8")
    names = ("small", "large.ns1", "large.ns2")
    files = [tmp_path / f"{name}.data" for name in names]
    options = [word for name in names for word in ("--drive", name)]
    options += [word for file in files for word in ("--data", str(file))]
    nqn = f"nqn.2026-01.org.lanetwin:{'-'.join(names)}"
    with served(tmp_path, SEVERAL, *options) as target:
        known = f"PORT={target.port} NQN={nqn} SIZES='{1 << 30} {2 << 30} {2 << 30}'\n"
        with booted(tmp_path, tools, known + script) as guest:
            for check in ("listed", "verified", "apart"):
                assert guest.said("CHECK", LONG_S) == check
            assert guest.said("ENDED", LONG_S) == "0"
    # each drive has its own file, behind the mark at its start
    assert all(
        size < file.stat().st_size for size, file in zip((1 << 30, 2 << 30, 2 << 30), files, strict=True)
    )


def test_linux_fails_over_between_two_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("nvme", "fio")
    script = (HERE / "nvme_tcp_paths.sh").read_text(encoding="utf-8")
    wanted = {
        "first port gone": ("port-down", "--port", "1"),
        "first port back": ("port-up", "--port", "1"),
        "first port non-optimized": ("access", "non-optimized", "--port", "1"),
        "second port inaccessible": ("access", "inaccessible", "--port", "2"),
        "both ports inaccessible": ("access", "inaccessible"),
        "second port optimized": ("access", "optimized", "--port", "2"),
        "first port persistent loss": ("access", "persistent-loss", "--port", "1"),
    }
    with served(tmp_path, SCENARIO, ports=2) as target:
        first, second = target.ports
        known = f"PORT={first} OTHER={second} NQN=nqn.2026-01.org.lanetwin:ssd\n"
        with booted(tmp_path, tools, known + script) as guest:
            assert guest.said("CHECK", LONG_S) == "two paths to one drive"
            for step in (
                ("first port gone", "written while the first port is gone"),
                ("first port back", "both paths again"),
                ("first port non-optimized", "written by the optimized path"),
                ("second port inaccessible", "written by the path that is left"),
                ("both ports inaccessible", ""),
                ("second port optimized", "a write waits until there is a path"),
                ("first port persistent loss", "persistent loss"),
            ):
                want, check = step
                assert guest.said("WANT", LONG_S) == want
                verb, *words = wanted[want]
                target.device(verb, *words)
                if check:
                    assert guest.said("CHECK", LONG_S) == check
            assert guest.said("ENDED", LONG_S) == "0"


def test_linux_follows_a_referral(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("nvme", "fio")
    script = (HERE / "nvme_tcp_referrals.sh").read_text(encoding="utf-8")
    other = re.sub(r"\bssd\b(?!,)", "other", SCENARIO).replace("capacity: 1GiB", "capacity: 2GiB")
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    with served(folders[0], SCENARIO) as target, served(folders[1], other) as second:
        nqn = "nqn.2026-01.org.lanetwin"
        known = f"PORT={target.port} OTHER={second.port} NQN={nqn}:ssd OTHER_NQN={nqn}:other\n"
        known += f"SIZES='{(1 << 30) // 512} {(2 << 30) // 512}'\n"
        with booted(tmp_path, tools, known + script) as guest:
            assert guest.said("CHECK", LONG_S) == "no referral"
            assert guest.said("WANT", LONG_S) == "referral"
            target.device("refer", f"{HOST}:{second.port}")
            for check in ("referred", "followed", "connected to all", "written to all"):
                assert guest.said("CHECK", LONG_S) == check
            assert guest.said("WANT", LONG_S) == "none"
            target.device("refer")
            assert guest.said("CHECK", LONG_S) == "no referral any more"
            assert guest.said("ENDED", LONG_S) == "0"
