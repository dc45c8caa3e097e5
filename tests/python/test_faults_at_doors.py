"""Every fault at every door: how reads and writes end, and whether later; the table of docs/doors.md."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from conftest import require_mounts
from lanetwin import device, emulation
from plain_clients import SCENARIO, AwayError, Nbd, NvmeTcp, VfioUser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).parents[2] / "docs" / "doors.md"
BEGIN, END = "<!-- faults: what tests/python/test_faults_at_doors.py finds -->\n", "<!-- end -->\n"
LATER_MS = 1500
"""Longer than this machine takes for a request, whatever it does beside."""
FIRST, COUNT = 1 << 20, 8192
NQN = "nqn.2026-01.org.lanetwin:ssd"
STATUS = {0x081: "Capacity Exceeded", 0x281: "Unrecovered Read Error", 0x006: "Internal Error"}
HEAL: dict[str, Any] = {"control": "fault", "what": {"fault": "none"}}
FAULTS: tuple[tuple[str, dict[str, Any], dict[str, Any], int], ...] = (
    ("slow die", {"fault": "slow-die", "die": 0, "dies": 1, "extra_us": LATER_MS * 1000}, HEAL, 1),
    ("full drive", {"fault": "full"}, HEAL, 1),
    ("media error on a range", {"fault": "media-error", "first": FIRST, "bytes": 512}, HEAL, 1),
    ("media errors by chance", {"fault": "media-errors", "one_in": 1}, HEAL, 1),
    ("link down", {"fault": "link-down", "for_ms": LATER_MS}, HEAL, 1),
    ("retrain", {"fault": "retrain", "for_us": LATER_MS * 1000}, HEAL, 1),
    # 67,328 bits, each 1 us
    ("bit errors", {"fault": "bit-errors", "one_in": 1}, HEAL, 24),
    ("a lie about flush", {"fault": "lie"}, HEAL, 1),
    ("power cut", {"control": "power-cut"}, {"control": "power-on"}, 1),
    ("reset", {"control": "reset"}, {"control": "status"}, 1),
    ("pulled out", {"control": "remove"}, {"control": "insert"}, 1),
)
"""What it is called, what is asked for it and to end it, and how many requests are looked at."""


Client = Nbd | NvmeTcp | VfioUser


class Door(Protocol):
    """A door, and whoever asks there."""

    def control(self, asked: dict[str, Any]) -> bool:
        """Do something to the drive; whether this door can."""

    def ask(self, *, writes: bool) -> str:
        """Read or write; how it ended."""

    def close(self) -> None:
        """Go away."""


class InProcess:
    """A drive in this process."""

    def __init__(self, drive: Any) -> None:
        self.drive = drive

    def control(self, asked: dict[str, Any]) -> bool:
        """Do it by the method."""
        if "what" in asked:
            self.drive._core.fault(json.dumps(asked["what"]))
        elif asked["control"] == "power-cut":
            self.drive.power_cut()
        elif asked["control"] == "power-on":
            self.drive.power_on()
        return asked["control"] not in ("reset", "remove")

    def close(self) -> None:
        """Leave it to whoever has opened it."""

    def ask(self, *, writes: bool) -> str:
        """Ask by the method."""
        try:
            self.drive.write(FIRST, bytes(COUNT)) if writes else self.drive.read(FIRST, COUNT)
        except emulation.DeviceError as error:
            return f"`DeviceError`, {errno.errorcode[error.errno or 0]}"
        return "ok"


class AtPlace:
    """A drive that is served at a place, whose clients come again when their connection has ended."""

    def __init__(self, place: str, connect: Callable[[], Client], in_words: Callable[[int], str]) -> None:
        self.place, self.connect, self.in_words = place, connect, in_words
        self.client: Client | None = None

    def control(self, asked: dict[str, Any]) -> bool:
        """Do it by the control socket."""
        emulation.control(self.place, asked)
        return True

    def ask(self, *, writes: bool) -> str:
        """Ask by the connection."""
        self.client = self.client or self.connect()
        try:
            return self.in_words(self.client.ask(writes=writes, first=FIRST, count=COUNT))
        except AwayError as how:
            self.close()
            return str(how)
        except OSError:
            self.close()
            return "the connection ends"

    def close(self) -> None:
        """Go away."""
        if self.client:
            self.client.close()
        self.client = None


class AsFile:
    """A drive that is served as a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = os.open(folder / "drive", os.O_RDWR)

    def close(self) -> None:
        """Close the file."""
        os.close(self.file)

    def control(self, asked: dict[str, Any]) -> bool:
        """Do it by the control socket."""
        emulation.control(str(self.folder), asked)
        return True

    def ask(self, *, writes: bool) -> str:
        """Read or write the file."""
        try:
            os.pwrite(self.file, bytes(COUNT), FIRST) if writes else os.pread(self.file, COUNT, FIRST)
        except OSError as error:
            return errno.errorcode[error.errno or 0]
        return "ok"


@contextmanager
def served(scenario: Path, *entrance: str) -> Iterator[str]:
    """Serve a drive; what is said of it."""
    words = [sys.executable, "-m", "lanetwin", "serve-device", str(scenario), *entrance]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            assert "control:" in said, said + server.stderr.read()
            yield said
        finally:
            server.terminate()


def nbd_in_words(error: int) -> str:
    return f"`NBD_{errno.errorcode[error]}`" if error else "ok"


def status_in_words(status: int) -> str:
    return f"{STATUS.get(status, 'status')} ({status:03X}h)" if status else "ok"


def cell(door: Door, fault: dict[str, Any], over: dict[str, Any], requests: int) -> str:
    """Say what this door shows of a fault, and see that all goes on afterwards."""
    asked = fault if "control" in fault else {"control": "fault", "what": fault}
    seen = []
    for writes in (False, True):
        assert door.ask(writes=writes) == "ok"
        if not door.control(asked):
            return "–"
        began = time.monotonic()
        ends = {door.ask(writes=writes) for _ in range(requests)}
        is_later = time.monotonic() - began > 0.9 * LATER_MS / 1000
        assert len(ends) == 1
        seen.append("later" if ends == {"ok"} and is_later else ends.pop())
        door.control(over)
        assert [door.ask(writes=True), door.ask(writes=False)] == ["ok", "ok"]
    return seen[0] if seen[0] == seen[1] else f"reads: {seen[0]}; writes: {seen[1]}"


def column(door: Door) -> list[str]:
    """Say what this door shows of every fault."""
    return [cell(door, fault, over, requests) for _, fault, over, requests in FAULTS]


def test_every_fault_shows_at_every_door_as_the_page_says(tmp_path: Path) -> None:
    require_mounts()
    scenario, path, folder = tmp_path / "door.yaml", str(tmp_path / "s"), tmp_path / "d"
    guest = str(tmp_path / "g")
    scenario.write_text(SCENARIO)
    folder.mkdir()
    with ExitStack() as stack:
        drive = stack.enter_context(device(str(scenario)))
        stack.enter_context(served(scenario, "--nbd", f"unix:{path}"))
        said = stack.enter_context(served(scenario, "--nvme-tcp", "127.0.0.1:0"))
        address = said.partition(" at ")[2].partition(",")[0]
        stack.enter_context(served(scenario, "--fuse", str(folder)))
        stack.enter_context(served(scenario, "--vfio-user", f"unix:{guest}"))
        doors: list[Door] = [
            InProcess(drive),
            AtPlace(path, lambda: Nbd(path), nbd_in_words),
            AtPlace(address, lambda: NvmeTcp(address, NQN), status_in_words),
            AsFile(folder),
            AtPlace(guest, lambda: VfioUser(guest), status_in_words),
        ]
        for door in doors:
            stack.callback(door.close)
        # each door has a drive of its own; most of the time is waited for
        with ThreadPoolExecutor(len(doors)) as pool:
            columns = list(pool.map(column, doors))
    found = "| Fault | in process | NBD | NVMe/TCP | FUSE | vfio-user |\n|---|---|---|---|---|---|\n"
    rows = zip(FAULTS, *columns, strict=True)
    found += "".join(f"| {fault[0]} | {' | '.join(cells)} |\n" for fault, *cells in rows)
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    right = before + BEGIN + found + END + rest.partition(END)[2]
    if os.environ.get("ACCEPT"):
        PAGE.write_text(right, encoding="utf-8")
        text = right
    assert text == right, found
