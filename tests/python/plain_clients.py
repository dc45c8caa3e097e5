"""Clients of doors that are no more than bytes: NBD at a Unix socket, NVMe/TCP with one I/O queue."""

from __future__ import annotations

import socket
import struct
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
