"""A thousand connections at a door: silent ones, slow senders and half-open ones keep nobody else waiting."""

from __future__ import annotations

import resource
import select
import socket
import struct
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lanetwin import emulation
from plain_clients import SCENARIO, Nbd

if TYPE_CHECKING:
    from collections.abc import Iterator

CROWD = 1000
FILES = 4096
"""Open files that this process and the server may have."""
GROWTH_MIB = 256.0
"""What a crowd may make the server hold beside what it had: 256 KiB for each."""
GIVEN_UP_S = 60.0
"""Whoever says nothing is turned away after 10 s, where this machine has time for it."""
LONG_S = 60.0
READS = 200
ICREQ = bytes([0, 0, 128, 0, 128, 0, 0, 0]) + bytes(120)
"""Initialize Connection Request of NVMe/TCP (NVMe/TCP Transport 1.0, 3.6.2.2)."""


@pytest.fixture(autouse=True)
def open_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"no more than {hard} open files are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def served(folder: Path, *entrance: str) -> Iterator[tuple[int, str]]:
    """Serve a drive; the process, and where clients come in."""
    scenario = folder / "door.yaml"
    scenario.write_text(SCENARIO)
    words = [sys.executable, "-m", "lanetwin", "serve-device", str(scenario), *entrance]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            assert "control:" in said, said + server.stderr.read()
            yield server.pid, said
        finally:
            server.kill()


def resident_mib(pid: int) -> float:
    """Give how much of a process is in memory [MiB]."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def crowd(stack: ExitStack, where: str | tuple[str, int], greeting: bytes) -> list[socket.socket]:
    """Connect a thousand: a third says nothing, a third sends single bytes, a third half of it, and ends."""
    family = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
    members = []
    for number in range(CROWD):
        member = stack.enter_context(socket.socket(family))
        # one that does not block is refused while others wait to be accepted (unix(7))
        member.connect(where)
        member.settimeout(LONG_S)
        if number % 3 == 1:
            member.send(greeting[:1])
        elif number % 3 == 2:
            member.send(greeting[: len(greeting) // 2])
            member.shutdown(socket.SHUT_WR)
        members.append(member)
    return members


def dribble(members: list[socket.socket], greeting: bytes, at: int) -> None:
    """Let slow senders send one byte more; whoever was turned away sends nothing."""
    for member in members[1::3]:
        try:
            member.send(greeting[at : at + 1])
        except OSError:
            continue


def all_turned_away(members: list[socket.socket]) -> bool:
    """Whether every connection of the crowd ends within the time."""
    left, end = list(members), time.monotonic() + GIVEN_UP_S
    while left and time.monotonic() < end:
        poll = select.poll()
        for member in left:
            poll.register(member, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(500)}
        left = [member for member in left if member.fileno() not in ready or not has_ended(member)]
    return not left


def has_ended(member: socket.socket) -> bool:
    """Whether the other side has ended a connection; what it has said is thrown away."""
    try:
        return member.recv(4096) == b""
    except OSError:
        return True


def nbd_reads(path: str) -> float:
    """Read some hundred times by NBD; the longest that one took [s]."""
    client = Nbd(path)
    assert client.size == 1 << 30
    worst = 0.0
    for number in range(READS):
        began = time.monotonic()
        assert client.ask(writes=False, first=4096 * number, count=4096) == 0
        worst = max(worst, time.monotonic() - began)
    client.close()
    return worst


def test_a_thousand_at_an_nbd_socket_harm_nobody(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    # the client's flags, then NBD_OPT_ABORT, which slow senders never come to the end of
    greeting = struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 2, 0)
    with served(tmp_path, "--nbd", f"unix:{path}") as (pid, _), ExitStack() as stack:
        before = resident_mib(pid)
        members = crowd(stack, path, greeting)
        for at in range(1, 6):
            dribble(members, greeting, at)
            assert nbd_reads(path) < LONG_S
        assert resident_mib(pid) - before < GROWTH_MIB
        assert all_turned_away(members)
        nbd_reads(path)
        assert emulation.control(path, {"control": "status"})["in_progress"] == 0


def test_a_thousand_at_an_nvme_tcp_port_harm_nobody(tmp_path: Path) -> None:
    with served(tmp_path, "--nvme-tcp", "127.0.0.1:0") as (pid, said), ExitStack() as stack:
        address = said.partition(" at ")[2].partition(",")[0]
        host, _, port = address.rpartition(":")
        before = resident_mib(pid)
        members = crowd(stack, (host, int(port)), ICREQ)
        for at in range(1, 6):
            dribble(members, ICREQ, at)
            pong = emulation.ping(address, reads=READS, depth=4)
            assert (pong["reads"], pong["errors"]) == (READS, 0)
        assert resident_mib(pid) - before < GROWTH_MIB
        assert all_turned_away(members)
        assert emulation.ping(address, reads=READS)["errors"] == 0
        assert emulation.control(address, {"control": "status"})["in_progress"] == 0
