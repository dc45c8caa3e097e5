"""A drive that does not exist, for programs in Python: bytes in, bytes out, in the predicted time.

::

    import lanetwin

    with lanetwin.device("slot.yaml", variant="retimer") as drive:
        drive.write(0, bytes(4096))
        drive.flush()
        assert drive.read(0, 4096) == bytes(4096)
        print(drive.lateness())

In real time an answer is given when the clock has reached its time, and `Device.lateness` shows how well this
machine achieved that. With ``virtual_time=True`` time passes only while the program waits, and latencies are
those of ``lanetwin run`` of the same requests, to the picosecond.
"""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import statistics
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, cast

from lanetwin import _core
from lanetwin.errors import LanetwinError, mistake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

Kind = Literal["read", "write", "compare", "flush", "trim", "write-zeroes"]
"""Operations of a drive."""
ECHOES = 64
"""Number of measurements of the door's own time when a drive is opened."""
IDLE_TURNS = 8
"""In virtual time, number of turns of an asyncio loop without a new request before time passes."""
PS = 1e-12
"""A picosecond [s]."""


class DeviceError(OSError):
    """A request failed in the drive: `errno` is EIO, the text is the name of the NVMe status."""


class Facts(TypedDict):
    """Properties of a drive."""

    bytes: int
    block: int
    is_volatile: bool
    atomic: int


class Lateness(TypedDict):
    """The lateness of answers, and whether the observed latencies are a prediction."""

    answers: int
    faulted: int
    late_share: float
    late_beyond_us: float
    late_beyond_share: float
    mean_us: float
    p50_us: float
    p99_us: float
    worst_us: float
    predicted_mean_us: float
    predicted_p99_us: float
    is_prediction: bool


class Operation(Future[bytes]):
    """A request in progress: `result()` returns the data read, or raises `DeviceError`."""

    kind: Kind
    latency: float = 0.0
    """Its latency, in simulated time [s]; known when it is done."""

    def _ended(self, ended: str, data: bytes, latency_ps: int) -> None:
        self.latency = latency_ps * PS
        if ended == "ok":
            self.set_result(data)
        elif ended == "compare failure":
            self.set_result(b"differs")
        else:
            number = errno.ENOSPC if ended == "capacity exceeded" else errno.EIO
            self.set_exception(DeviceError(number, f"{self.kind}: {ended}"))


class Device:
    """A drive of a scenario, in this process. Close it, or use it with ``with``; any thread may use it."""

    def __init__(self, core: _core.Device, *, virtual_time: bool) -> None:
        self._core = core
        self._is_virtual = virtual_time
        self._lock = threading.Lock()
        self._open: dict[int, Operation] = {}
        self._asked = 0
        self._now_ps = 0
        self._is_turning = False
        self.facts = cast("Facts", json.loads(core.facts()))
        self._listener: threading.Thread | None = None
        if not virtual_time:
            self._listener = threading.Thread(target=self._listen, name="lanetwin-replies", daemon=True)
            self._listener.start()
            self._calibrate()

    def read(self, offset: int, length: int) -> bytes:
        """Read `length` bytes from `offset` on, both whole blocks [B]."""
        return self._done(self.submit("read", offset, length))

    def write(self, offset: int, data: bytes, *, fua: bool = False) -> None:
        """Write whole blocks from `offset` on [B]; with `fua` they survive a loss of power."""
        self._done(self.submit("write", offset, len(data), data, fua=fua))

    def compare(self, offset: int, data: bytes) -> bool:
        """Return whether the drive has these bytes from `offset` on."""
        return self._done(self.submit("compare", offset, len(data), data)) != b"differs"

    def flush(self) -> None:
        """Make everything that was acknowledged survive a loss of power."""
        self._done(self.submit("flush", 0, 0))

    def trim(self, offset: int, length: int) -> None:
        """Deallocate whole blocks; they then read as zeroes."""
        self._done(self.submit("trim", offset, length))

    def write_zeroes(self, offset: int, length: int) -> None:
        """Write zeroes without sending them."""
        self._done(self.submit("write-zeroes", offset, length))

    async def aread(self, offset: int, length: int) -> bytes:
        """Read, as `read` does, without blocking the loop of asyncio."""
        return await self._awaited(self.submit("read", offset, length))

    async def awrite(self, offset: int, data: bytes, *, fua: bool = False) -> None:
        """Write, as `write` does, without blocking the loop of asyncio."""
        await self._awaited(self.submit("write", offset, len(data), data, fua=fua))

    async def aflush(self) -> None:
        """Flush, as `flush` does, without blocking the loop of asyncio."""
        await self._awaited(self.submit("flush", 0, 0))

    async def atrim(self, offset: int, length: int) -> None:
        """Deallocate, as `trim` does, without blocking the loop of asyncio."""
        await self._awaited(self.submit("trim", offset, length))

    def submit(
        self, kind: Kind, offset: int, length: int, data: bytes | None = None, *, fua: bool = False
    ) -> Operation:
        """Submit a request and return at once; any number may be in progress."""
        operation = Operation()
        operation.kind = kind
        with self._lock:
            ticket = self._core.ask(kind, offset, length, data, fua)
            self._open[ticket] = operation
            self._asked += 1
        return operation

    def wait(self) -> bool:
        """Advance virtual time to the next answers; return whether any request was in progress."""
        replies = self._core.wait()
        self._hear(replies or [])
        return replies is not None

    @property
    def now(self) -> float:
        """The simulated time of the last answer [s]."""
        return self._now_ps * PS

    def lateness(self) -> Lateness:
        """Return the lateness of answers; `is_prediction` is false if this machine could not keep up."""
        return cast("Lateness", json.loads(self._core.lateness()))

    def forget_lateness(self) -> None:
        """Restart the counting of lateness."""
        self._core.forget_lateness()

    def power_cut(self) -> tuple[int, int]:
        """Cut the power; return how many atomic units of unflushed data survived, and how many did not.

        Requests in progress, and those submitted until `power_on`, end with `DeviceError`.
        """
        return self._core.power_cut()

    def power_on(self) -> None:
        """Restore the power."""
        self._core.power_on()

    def media_error(self, offset: int, length: int) -> None:
        """Make these bytes unreadable until they are written again."""
        self._fault({"fault": "media-error", "first": offset, "bytes": length})

    def slow_die(self, die: int, dies: int, extra_us: int) -> None:
        """Make one of `dies` dies slower for each read and write [µs]."""
        self._fault({"fault": "slow-die", "die": die, "dies": dies, "extra_us": extra_us})

    def link_down(self, for_ms: int) -> None:
        """Take the link down for this time [ms]; requests wait."""
        self._fault({"fault": "link-down", "for_ms": for_ms})

    def retrain(self, for_us: int) -> None:
        """Retrain the link for this time [µs]; requests wait."""
        self._fault({"fault": "retrain", "for_us": for_us})

    def bit_errors(self, one_in: int) -> None:
        """Corrupt one bit in this many on the link; affected packets are sent again."""
        self._fault({"fault": "bit-errors", "one_in": one_in})

    def media_errors(self, one_in: int) -> None:
        """Make one read in this many fail, by chance."""
        self._fault({"fault": "media-errors", "one_in": one_in})

    def full(self) -> None:
        """Make the drive full: writes fail with ENOSPC, except for as much as is trimmed."""
        self._fault({"fault": "full"})

    def lie(self) -> None:
        """Acknowledge flushes from now on without executing them."""
        self._fault({"fault": "lie"})

    def heal(self) -> None:
        """End every fault."""
        self._fault({"fault": "none"})

    def close(self) -> None:
        """Write acknowledged data, and end the drive; requests in progress are cancelled."""
        self._core.close()
        if self._listener and self._listener is not threading.current_thread():
            self._listener.join()
        with self._lock:
            for operation in self._open.values():
                operation.cancel()
            self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fault(self, fault: dict[str, str | int]) -> None:
        self._core.fault(json.dumps(fault))

    def _done(self, operation: Operation) -> bytes:
        while self._is_virtual and not operation.done():
            self.wait()
        return operation.result()

    async def _awaited(self, operation: Operation) -> bytes:
        loop = asyncio.get_running_loop()
        if self._is_virtual and not self._is_turning:
            self._is_turning = True
            loop.call_soon(self._turn, loop, self._asked, 0)
        return await asyncio.wrap_future(operation)

    def _turn(self, loop: asyncio.AbstractEventLoop, asked: int, turns: int) -> None:
        """Advance virtual time when every task has submitted its requests."""
        if asked != self._asked:
            asked, turns = self._asked, 0
        elif turns >= IDLE_TURNS:
            self.wait()
            turns = 0
        self._is_turning = bool(self._open) or (turns < IDLE_TURNS and asked != self._asked)
        if self._is_turning:
            loop.call_soon(self._turn, loop, asked, turns + 1)

    def _listen(self) -> None:
        while True:
            try:
                replies = self._core.take(60.0)
            except LanetwinError:
                return
            self._hear(replies)

    def _hear(self, replies: list[tuple[int, str, bytes, int, int]]) -> None:
        for ticket, ended, data, latency_ps, at_ps in replies:
            with self._lock:
                operation = self._open.pop(ticket, None)
                self._now_ps = max(self._now_ps, at_ps)
            if operation is not None and operation.set_running_or_notify_cancel():
                operation._ended(ended, data, latency_ps)

    def _calibrate(self) -> None:
        """Measure the time to the drive's thread and back, by which answers then leave earlier."""
        took = []
        for _ in range(ECHOES):
            operation = Operation()
            operation.kind = "read"
            began = time.perf_counter_ns()
            with self._lock:
                self._open[self._core.echo()] = operation
            operation.result()
            took.append(time.perf_counter_ns() - began)
        self._core.set_lead(int(statistics.median(took)))


def device(
    scenario: str | PathLike[str],
    *,
    sets: Iterable[str] = (),
    variant: str | None = None,
    drive: str | None = None,
    data: str | PathLike[str] | None = None,
    size: int | None = None,
    seed: int | None = None,
    virtual_time: bool = False,
    outside: bool = False,
    awake: bool = True,
) -> Device:
    """Open a drive of a scenario.

    `variant` is by default the baseline, and `drive` the target of the workloads. `data` is a file for its
    data; without one they are in memory and lost with it. `size` [B] is for disks without a size of their
    own. With `awake`, idle cores do not sleep while the drive is used, where this user may ask for that.
    Raises `LanetwinError`.
    """
    options = {"sets": list(sets), "variant": variant, "drive": drive, "bytes": size, "seed": seed}
    options |= {"data": None if data is None else str(data), "virtual_time": virtual_time, "outside": outside}
    options["awake"] = awake and not virtual_time
    return Device(_core.Device(str(scenario), json.dumps(options)), virtual_time=virtual_time)


Entrance = Literal["nbd", "nvme-tcp", "fuse"]
"""Doors for other processes."""
AnyEntrance = Literal["nbd", "nvme-tcp", "fuse", "vfio-user"]
"""The same, and the door for a guest."""


def serve(
    scenario: str | PathLike[str],
    entrance: AnyEntrance,
    place: str | PathLike[str],
    *,
    ready: Callable[[dict[str, Any]], object] | None = None,
    sets: Iterable[str] = (),
    variant: str | None = None,
    drive: str | None = None,
    data: str | PathLike[str] | None = None,
    record: str | PathLike[str] | None = None,
    others: Iterable[tuple[str, str | PathLike[str] | None]] = (),
    keys: str | PathLike[str] | None = None,
    outside: bool = False,
    awake: bool = True,
    core: int | None = None,
) -> Lateness:
    """Serve a drive to other processes until Ctrl-C; return the lateness of answers.

    `place` is the path of a Unix socket for NBD and vfio-user, a loopback address with a port for NVMe/TCP,
    or several with commas between them, which are ports of one subsystem, and an empty folder for FUSE, in
    which the drive is the file ``drive``. With `keys`, a file of secrets, hosts by NVMe/TCP have to
    authenticate, and the address may be one that other machines reach. `ready` is called when clients can
    connect, with ``place``, ``control``, ``nqn``, ``file``, ``bytes``, ``namespaces``, ``lead_us`` and
    ``awake``. By NVMe/TCP `others` are namespaces 2 and so on: names of drives, with files for their data.
    Requests are recorded in the file `record`: a trace if the name ends in ``.csv``, otherwise a log of fio.
    With `awake`, idle cores do not sleep while the drive is used, where this user may ask for that. The
    door has the core `core` for itself, which programs should leave alone. Raises `LanetwinError`.
    """
    options: dict[str, Any] = {"sets": list(sets), "variant": variant, "drive": drive, "outside": outside}
    options |= {"awake": awake, "core": core}
    options |= {
        key: None if file is None else str(file)
        for key, file in (("data", data), ("record", record), ("keys", keys))
    }

    beside = [(name, None if file is None else str(file)) for name, file in others]
    options["others"] = [{"drive": name, "data": file} for name, file in beside]

    def hear(line: str) -> None:
        if ready:
            ready(json.loads(line))

    told = _core.serve_device(str(scenario), json.dumps(options), entrance, str(place), hear)
    return cast("Lateness", json.loads(told))


class Pong(TypedDict):
    """The result of a ping: the properties of an NVMe/TCP target, and the latencies of its reads."""

    discovered: list[str]
    nqn: str
    controller: int
    host: str
    proved: Literal["nobody", "host", "both"]
    model: str
    serial: str
    bytes: int
    block: int
    reads: int
    errors: int
    seconds: float
    min_us: float
    mean_us: float
    max_us: float
    percentiles_us: list[tuple[float, float]]
    histogram: list[tuple[float, int]]


def ping(
    address: str,
    *,
    nqn: str | None = None,
    nsid: int = 1,
    reads: int = 1000,
    size: int = 4096,
    depth: int = 1,
    digests: bool = False,
    seed: int = 1,
    host: str | None = None,
    keys: str | PathLike[str] | None = None,
) -> Pong:
    """Discover a subsystem by NVMe/TCP, connect, identify it, and read at random places.

    `size` is that of a read [B], `depth` the number in progress. The default of `nqn` is the first of the
    discovery log. `host` is the NQN of this host, `keys` a file with the secrets for its authentication.
    Raises `LanetwinError`.
    """
    asked: dict[str, Any] = {"nqn": nqn, "nsid": nsid, "reads": reads, "size": size, "depth": depth}
    asked |= {"digests": digests, "seed": seed, "host": host, "keys": None if keys is None else str(keys)}
    return cast("Pong", json.loads(_core.nvme_tcp_ping(address, json.dumps(asked))))


def new_key(hash_name: str) -> str:
    """Return a new secret by NVMe/TCP, as ``nvme connect --dhchap-secret`` takes it.

    It is for ``sha-256``, ``sha-384`` or ``sha-512``, or for ``none``: then it is the key itself. Raises
    `LanetwinError`.
    """
    return _core.nvme_tcp_key(hash_name)


def control(place: str | PathLike[str], asked: dict[str, Any], timeout: float = 10.0) -> dict[str, Any]:
    """Send a command to the drive served at this path or address; return its answer.

    The place of its control socket stands for it. Raises `LanetwinError` if none is served there, if it does
    not answer within `timeout` [s], or refuses.
    """
    place = str(place).removesuffix(".control")
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(_core.control_path(place))
            connection.sendall(json.dumps(asked).encode() + b"\n")
            answer = connection.makefile("rb").readline()
    except OSError as error:
        why = error.strerror or str(error)
        remedy = "start `lanetwin serve-device`, and name the socket, address or folder at which it serves"
        raise mistake("DO021", f"no drive is served here: {why}", remedy, place) from error
    told: dict[str, Any] = json.loads(answer or b'{"error": "the server has ended"}')
    if "error" in told:
        raise mistake("DO022", str(told["error"]), "`lanetwin device --help` says what can be done", place)
    return told
