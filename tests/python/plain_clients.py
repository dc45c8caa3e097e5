"""Clients of doors that are no more than bytes: NBD, NVMe/TCP with one I/O queue, a driver by vfio-user."""

from __future__ import annotations

import mmap
import os
import socket
import struct
import time
from contextlib import suppress

LONG_S = 60.0
BLOCK = 512
IN_CAPSULE = 0x01
BY_TRANSPORT = 0x5A
SCENARIO = """
about: A drive for a door.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 1GiB, medium: cross-point}
links:
  slot: {from: cpu, to: ssd}
workloads:
  w: {block: {size: 4KiB, requests: 100}, on: cpu, target: ssd}
"""
"""What they are clients of."""


class Nbd:
    """A client of NBD with simple replies."""

    def __init__(self, path: str) -> None:
        """Connect to the export ``drive``."""
        self._socket = socket.socket(socket.AF_UNIX)
        # one that does not block is refused while others wait to be accepted (unix(7))
        self._socket.connect(path)
        self._socket.settimeout(LONG_S)
        self._wire = self._socket.makefile("rwb")
        assert self._wire.read(18)[:8] == b"NBDMAGIC"
        # fixed newstyle without zeroes; NBD_OPT_EXPORT_NAME
        self._wire.write(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 5) + b"drive")
        self._wire.flush()
        self.size = int.from_bytes(self._wire.read(10)[:8], "big")

    def ask(self, *, writes: bool, first: int, count: int) -> int:
        """Read or write; the error that the answer has, 0 for none. Raises `OSError` if there is none."""
        data = bytes(count) if writes else b""
        self._wire.write(struct.pack(">IHHQQI", 0x25609513, 0, int(writes), 7, first, count) + data)
        self._wire.flush()
        told = self._wire.read(16)
        if len(told) < 16:
            raise ConnectionResetError
        magic, error, cookie = struct.unpack(">IIQ", told)
        assert (magic, cookie) == (0x67446698, 7)
        if error == 0 and not writes:
            assert len(self._wire.read(count)) == count
        return int(error)

    def close(self) -> None:
        """Go away."""
        # what was not sent cannot be sent any more
        with suppress(OSError):
            self._wire.close()
        self._socket.close()


class _Queue:
    """A queue of NVMe/TCP (NVMe/TCP Transport 1.0, section 3.6) with one command at a time."""

    def __init__(self, address: str, nqn: str, number: int, controller: int) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), LONG_S)
        self._wire = self._socket.makefile("rwb")
        self._wire.write(bytes([0, 0, 128, 0, 128]) + bytes(123))
        self._wire.flush()
        assert self._exactly(128)[0] == 1
        sent = bytearray(1024)
        sent[:18] = bytes(15) + b"\x01" + struct.pack("<H", controller)
        sent[256 : 256 + len(nqn)] = nqn.encode()
        sent[512:533] = b"nqn.2026-01.test:host"
        fields = struct.pack("<HHHBBI", 0, number, 31, 0, 0, 0)
        status, self.result = self.command(0x7F, 1, fields, bytes(sent))
        assert status == 0

    def command(
        self, opcode: int, nsid: int, fields: bytes, data: bytes = b"", takes: int = 0
    ) -> tuple[int, int]:
        """Send a command with its dwords from 10 on; status (type and code), and dword 0."""
        kind, length = (IN_CAPSULE, len(data)) if data else (BY_TRANSPORT, takes)
        entry = struct.pack("<BBHI", opcode, 0x40, 1, nsid) + bytes(16)
        entry += struct.pack("<QI3xB", 0, length, kind) + fields.ljust(24, b"\0")
        head = struct.pack("<BBBBI", 4, 0, 72, 72 if data else 0, 72 + len(data))
        self._wire.write(head + entry + data)
        self._wire.flush()
        while True:
            kind, flags, header, offset, whole = struct.unpack("<BBBBI", self._exactly(8))
            rest = self._exactly(whole - 8)
            if kind == 7 and flags & 8:
                return 0, 0
            if kind == 5:
                result, _, _, _, status = struct.unpack("<QHHHH", rest[:16])
                return status >> 1 & 0x7FF, result
            assert kind == 7, (kind, header, offset)

    def _exactly(self, count: int) -> bytes:
        told = self._wire.read(count)
        if len(told) < count:
            raise ConnectionResetError
        return told

    def close(self) -> None:
        # what was not sent cannot be sent any more
        with suppress(OSError):
            self._wire.close()
        self._socket.close()


class NvmeTcp:
    """A host of NVMe/TCP with one I/O queue."""

    def __init__(self, address: str, nqn: str) -> None:
        """Connect, enable, and connect an I/O queue."""
        self._admin = _Queue(address, nqn, 0, 0xFFFF)
        # Property Set of CC: EN, and the sizes of entries
        set_cc = struct.pack("<IIQ", 0, 0x14, 0x460001)
        assert self._admin.command(0x7F, 0, set_cc)[0] == 0
        self._io = _Queue(address, nqn, 1, self._admin.result & 0xFFFF)

    def ask(self, *, writes: bool, first: int, count: int) -> int:
        """Read or write; status type and code, 0 for success. Raises `OSError` if there is no answer."""
        fields = struct.pack("<QI", first // BLOCK, count // BLOCK - 1)
        if writes:
            return self._io.command(1, 1, fields, bytes(count))[0]
        return self._io.command(2, 1, fields, takes=count)[0]

    def close(self) -> None:
        """Go away."""
        self._io.close()
        self._admin.close()


class AwayError(ConnectionResetError):
    """The drive is not there, and its text says how that shows."""


class VfioUser:
    """A driver of a PCIe function by vfio-user, with one I/O queue, that polls for completions."""

    CC, CSTS, AQA, ASQ, ACQ, DOORBELLS = 0x14, 0x1C, 0x24, 0x28, 0x30, 0x1000
    ONES = 0xFFFFFFFF
    ENTRIES, PAGE, PAGES, DATA, LIST = 8, 4096, 16, 8, 7
    """Queues are in pages 0 to 3: submission and completion queue of the admin queue, then of the other."""

    def __init__(self, path: str) -> None:
        """Attach, map memory, and start the controller."""
        file = os.memfd_create("driver")
        os.ftruncate(file, self.PAGES * self.PAGE)
        self._memory = mmap.mmap(file, self.PAGES * self.PAGE)
        self._socket = self._attached(path)
        body = struct.pack("<IIQQQ", 32, 3, 0, 0, self.PAGES * self.PAGE)
        socket.send_fds(self._socket, [self._message(2, body)], [file])
        self._reply()
        os.close(file)
        self._tails, self._heads = [0, 0], [0, 0]
        self._start()

    def _attached(self, path: str) -> socket.socket:
        # one guest has it at a time: the door sees a little later that the last one is gone
        for _ in range(1000):
            end = socket.socket(socket.AF_UNIX)
            end.settimeout(LONG_S)
            with suppress(OSError):
                end.connect(path)
                end.sendall(self._message(1, bytes(2) + b"\x01\0"))
                if end.recv(1, socket.MSG_PEEK):
                    self._socket = end
                    self._reply()
                    return end
            end.close()
            time.sleep(0.01)
        raise TimeoutError

    def _start(self) -> None:
        end = time.monotonic() + LONG_S
        while self._register(self.CSTS) == self.ONES and time.monotonic() < end:
            time.sleep(0.01)
        self._set(self.CC, 0)
        entries = self.ENTRIES - 1
        for register, value in ((self.AQA, entries | entries << 16), (self.ASQ, 0), (self.ACQ, self.PAGE)):
            self._set(register, value)
        self._set(self.CC, 0x460001)
        while not self._register(self.CSTS) & 1:
            assert time.monotonic() < end
            time.sleep(0.001)
        queue = 1 | entries << 16
        # Create I/O Completion Queue and Submission Queue: contiguous, without interrupts
        for opcode, page, flags in ((5, 3, 1), (1, 2, 1 | 1 << 16)):
            assert self._command(0, opcode, 0, struct.pack("<II", queue, flags), page * self.PAGE) == 0

    def ask(self, *, writes: bool, first: int, count: int) -> int:
        """Read or write; status type and code, 0 for success. Raises `OSError` if there is no answer."""
        fields = struct.pack("<QI", first // BLOCK, count // BLOCK - 1)
        return self._command(1, 1 if writes else 2, 1, fields, self.DATA * self.PAGE)

    def _command(self, queue: int, opcode: int, nsid: int, fields: bytes, address: int) -> int:
        """Ring for a command with its dwords from 10 on; status type and code."""
        tail, head = self._tails[queue], self._heads[queue]
        entry = struct.pack("<BBHI16xQQ", opcode, 0, tail, nsid, address, address + self.PAGE)
        at = 2 * queue * self.PAGE + tail * 64
        self._memory[at : at + 64] = (entry + fields).ljust(64, b"\0")
        round_, slot = divmod(head, self.ENTRIES)
        at = (2 * queue + 1) * self.PAGE + slot * 16
        self._tails[queue] = (tail + 1) % self.ENTRIES
        self._set(self.DOORBELLS + 8 * queue, self._tails[queue])
        end = time.monotonic() + LONG_S
        while True:
            status: int = struct.unpack_from("<H", self._memory, at + 14)[0]
            if status & 1 == 1 - round_ % 2:
                break
            told = self._register(self.CSTS)
            if told == self.ONES:
                raise AwayError("registers read as ones, then the controller is reset")
            if not told & 1:
                raise AwayError("the controller is reset")
            assert time.monotonic() < end
            time.sleep(0.001)
        self._heads[queue] = head + 1
        self._set(self.DOORBELLS + 8 * queue + 4, (head + 1) % self.ENTRIES)
        return status >> 1 & 0x7FF

    def _register(self, offset: int) -> int:
        return int.from_bytes(self._ask(9, struct.pack("<QII", offset, 0, 4))[-4:], "little")

    def _set(self, offset: int, value: int) -> None:
        self._ask(10, struct.pack("<QIII", offset, 0, 4, value))

    @staticmethod
    def _message(code: int, body: bytes) -> bytes:
        return struct.pack("<HHIII", 1, code, 16 + len(body), 0, 0) + body

    def _ask(self, code: int, body: bytes) -> bytes:
        self._socket.sendall(self._message(code, body))
        return self._reply()

    def _reply(self) -> bytes:
        head = self._exactly(16)
        _, _, size, flags, error = struct.unpack("<HHIII", head)
        assert flags & 1, flags
        if error:
            raise OSError(error, os.strerror(error))
        return self._exactly(size - 16)

    def _exactly(self, count: int) -> bytes:
        told = b""
        while len(told) < count:
            more = self._socket.recv(count - len(told))
            if not more:
                raise ConnectionResetError
            told += more
        return told

    def close(self) -> None:
        """Go away."""
        self._socket.close()
        self._memory.close()
