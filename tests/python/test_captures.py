"""TLPs of a run as a capture file: its own reader, another one and tshark see what the engine has counted."""

import json
import subprocess
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from lanetwin import captures, engine, timeline
from lanetwin.cli import app

pcapng = pytest.importorskip("pcapng")
blocks = pytest.importorskip("pcapng.blocks")

SCENARIO = """about: What is on the wire?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-tlc-gen4}}
links: {slot: {from: host, to: ssd, width: x4, mps: 256B}}
workloads:
  reads: {block: {size: 4KiB, depth: 1, read: 100%, span: 1GiB, requests: 60}, on: host, target: ssd}
variants: {direct: {}, narrow: {links.slot.width: x1}}
run: {repeats: 1, seed: 1, warm-up: 0}
"""
SWITCHED = """about: What is on both sides of a switch?
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4, port.width: x4}
  card: {part: generic-dma-gen5}
links: {up: {from: host, to: sw}, slot: {from: sw, to: card}}
workloads:
  reads:
    dma: {operation: read, size: 2KiB, window: 1MiB, outstanding: 4, transfers: 400}
    on: card
    target: host
run: {repeats: 1, seed: 1}
"""
BEFORE = 24
FRAMING = 8
"""Of a TLP, beside header and payload [B]: 4 B STP, with the sequence number, and 4 B LCRC."""
PS_PER_NS = 1000
SUBMISSION_TAIL, COMPLETION_HEAD = 0x1008, 0x100C
"""Doorbells of queue pair 1 (NVM Express PCIe Transport 1.0, 3.1.2: offset 1000h + 4 B times 2 and 3)."""


class Packet(NamedTuple):
    """A TLP, decoded by this test alone."""

    interface: int
    ps: int
    sequence: int
    wire: int
    ticks: int
    original: int
    header: bytes

    @property
    def name(self) -> str:
        kind = self.header[0] & 0x1F
        data = bool(self.header[0] & 0x40)
        return {0x00: ("MRd", "MWr"), 0x0A: ("Cpl", "CplD")}[kind][data]

    @property
    def length(self) -> int:
        return (int.from_bytes(self.header[:4], "big") & 0x3FF or 1024) * 4

    @property
    def address(self) -> int:
        return int.from_bytes(self.header[8:], "big") & ~3

    @property
    def tag(self) -> tuple[int, int]:
        """Requester ID and tag."""
        upper = (self.header[1] >> 7) << 9 | (self.header[1] >> 3 & 1) << 8
        at = 8 if self.name.startswith("Cpl") else 4
        return int.from_bytes(self.header[at : at + 2], "big"), upper | self.header[at + 2]

    @property
    def byte_count(self) -> int:
        return (int.from_bytes(self.header[6:8], "big") & 0xFFF) or 4096


class Read(NamedTuple):
    """A capture file and the results beside it."""

    path: Path
    results: Any
    timeline: list[timeline.Case]
    names: list[tuple[str, str]]
    statistics: dict[int, tuple[int, int]]
    packets: list[Packet]

    def of(self, description: str, name: str) -> list[Packet]:
        """Return the packets of a direction of a link in a case."""
        which = self.names.index((name, description))
        return [packet for packet in self.packets if packet.interface == which]


def packet(block: Any) -> Packet:
    data = block.packet_data
    assert data[0] == 1
    assert data[1] == BEFORE
    return Packet(
        interface=block.interface_id,
        ps=block.timestamp_high << 32 | block.timestamp_low,
        sequence=int.from_bytes(data[8:10], "big"),
        wire=int.from_bytes(data[10:12], "big"),
        ticks=int.from_bytes(data[16:24], "big"),
        original=block.packet_len,
        header=data[BEFORE:],
    )


def opened(path: Path, results: Any, cases: list[timeline.Case]) -> Read:
    """Read a file with a library that is not the one that wrote it."""
    names, statistics, packets = [], {}, []
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the reader warns of its own tables
        for block in pcapng.FileScanner(file):
            if isinstance(block, blocks.InterfaceDescription):
                assert block.link_type == 147
                assert block.timestamp_resolution == 1e-12
                names.append((block.options["if_name"], block.options["if_description"]))
            elif isinstance(block, blocks.EnhancedPacket):
                packets.append(packet(block))
            elif isinstance(block, blocks.InterfaceStatistics):
                counts = (block.options["isb_ifrecv"], block.options["isb_ifdrop"])
                statistics[block.interface_id] = counts
    return Read(path, results, cases, names, statistics, packets)


def ran(folder: Path, *options: str, text: str = SCENARIO) -> tuple[Path, Any, str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reads.yaml").write_text(text)
    path = folder / "run.pcapng"
    told = ["--pcap", str(path), "--out", str(folder / "out"), *options]
    done = CliRunner().invoke(app, ["run", str(folder / "reads.yaml"), *told])
    assert done.exit_code == 0, done.output
    return path, json.loads((folder / "out" / "results.json").read_text()), done.stderr


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    folder = tmp_path_factory.mktemp("captures")
    path, results, _ = ran(folder, "--quiet")
    followed = engine.run(str(folder / "reads.yaml"), exports=["timeline"])
    return opened(path, results, timeline.take(followed))


def test_there_are_as_many_packets_as_the_engine_counts(read: Read) -> None:
    assert len(read.packets) == read.results["cost"]["tlp_hops"]
    counted = Counter(packet.interface for packet in read.packets)
    assert len(read.names) == len(set(read.names)) == 4
    assert read.statistics == {which: (counted[which], 0) for which in range(4)}


def test_bytes_and_numbers_are_those_of_the_wire(read: Read) -> None:
    for which in range(len(read.names)):
        own = [packet for packet in read.packets if packet.interface == which]
        assert [packet.sequence for packet in own] == [n % 4096 for n in range(len(own))]
        starts = [packet.ticks for packet in own]
        assert starts == sorted(set(starts))
        for packet in own:
            assert packet.original - BEFORE + FRAMING == packet.wire
            assert packet.ps == -(-packet.ticks // 1024)
            payload = packet.length if packet.name in {"MWr", "CplD"} else 0
            assert packet.original == BEFORE + len(packet.header) + payload


def answered(packets: list[Packet]) -> tuple[int, int]:
    """Return how many reads on a link had all their bytes, and how many not."""
    missing: dict[tuple[int, int], int] = {}
    whole = 0
    for packet in sorted(packets, key=lambda packet: packet.ticks):
        if packet.name == "MRd":
            assert packet.tag not in missing, "a tag has one request"
            missing[packet.tag] = packet.length
        elif packet.name == "CplD":
            assert packet.byte_count == missing[packet.tag]
            missing[packet.tag] -= packet.length
            if not missing[packet.tag]:
                del missing[packet.tag]
                whole += 1
    return whole, len(missing)


def test_every_completion_has_its_request_and_every_read_all_its_bytes(read: Read) -> None:
    for case in {case for _, case in read.names}:
        up, down = (read.of(case, f"slot {way}") for way in ("ssd → host", "host → ssd"))
        whole, open_ = answered(up + down)
        assert whole >= 60
        assert open_ <= 1, "the end of the run may cut one off"


def test_behind_a_switch_each_tlp_is_the_same(tmp_path: Path) -> None:
    path, results, _ = ran(tmp_path, "--quiet", text=SWITCHED)
    read = opened(path, results, [])
    assert len(read.packets) == results["cost"]["tlp_hops"]
    [case] = {case for _, case in read.names}
    for ends in (("slot card → sw", "up sw → host"), ("up host → sw", "slot sw → card")):
        before, behind = (read.of(case, name) for name in ends)
        assert len(before) > 1000
        assert 0 <= len(before) - len(behind) < 40, "what is in the switch at the end has not left"
        pairs = list(zip(before, behind, strict=False))
        assert all(one.header == other.header and one.ps < other.ps for one, other in pairs)
    tags = {packet.tag[1] for packet in read.of(case, "slot card → sw")}
    assert tags == set(range(16)), "four reads at once, of four requests each"
    for link, ends in (("slot", ("card → sw", "sw → card")), ("up", ("sw → host", "host → sw"))):
        whole, open_ = answered([packet for way in ends for packet in read.of(case, f"{link} {way}")])
        assert whole > 1000
        assert open_ <= 16


def operations(read: Read, variant: str) -> Iterator[tuple[timeline.Operation, int, int]]:
    """Yield the operations of a variant, and from when to when each was under way [ps]."""
    [case] = [case for case in read.timeline if case["variant"] == variant]
    assert len(case["operations"]) >= 60
    for one in case["operations"]:
        yield one, one["at"], one["at"] + sum(ps for _, ps in one["stages"])


@pytest.mark.parametrize("variant", ["direct", "narrow"])
def test_a_read_of_4_kib_is_on_the_wire_what_nvme_says(read: Read, variant: str) -> None:
    case = next(case for _, case in read.names if case.startswith(variant))
    up, down = (read.of(case, f"slot {way}") for way in ("ssd → host", "host → ssd"))
    for _, begin, end in list(operations(read, variant))[1:]:  # before the first, the controller starts
        asked = [packet for packet in down if begin <= packet.ps < end and packet.address != COMPLETION_HEAD]
        assert [(packet.name, packet.length) for packet in asked] == [("MWr", 4), ("CplD", 64)]
        assert asked[0].address == SUBMISSION_TAIL
        sent = [packet for packet in up if begin <= packet.ps < end]
        assert [(packet.name, packet.length) for packet in sent] == [
            ("MRd", 64),
            *[("MWr", 256)] * 16,
            ("MWr", 16),  # the completion queue entry
            ("MWr", 4),  # MSI-X
        ]
        addresses = [packet.address for packet in sent[1:17]]
        assert addresses == [addresses[0] + 256 * n for n in range(16)]
        assert asked[1].tag == sent[0].tag


@pytest.mark.parametrize("variant", ["direct", "narrow"])
def test_packets_start_when_operations_go_onto_the_wire(read: Read, variant: str) -> None:
    case = next(case for _, case in read.names if case.startswith(variant))
    starts = {name: {packet.ps for packet in read.of(case, name)} for name, of in read.names if of == case}
    compared = 0
    for one, begin, _ in operations(read, variant):
        at = begin
        for stage, ps in one["stages"]:
            place, _, what = stage.partition(": ")
            if what == "wire":
                near = min(abs(at - start) for start in starts[place])
                assert near <= PS_PER_NS, (stage, at, near)
                compared += 1
            at += ps
    assert compared >= 180


def test_the_same_run_leaves_the_same_bytes_and_no_other_results(read: Read, tmp_path: Path) -> None:
    again, results, _ = ran(tmp_path, "--quiet", "--threads", "1")
    assert again.read_bytes() == read.path.read_bytes()
    plain = engine.run(str(tmp_path / "reads.yaml"))
    assert plain["digest"] == results["digest"] == read.results["digest"]
    assert not [file for file in results.get("attachments", []) if file["name"].startswith("tlps")]


def test_of_too_many_the_first_are_there_and_the_rest_is_told(read: Read, tmp_path: Path) -> None:
    path, results, said = ran(tmp_path, "--pcap-packets", "100")
    some = opened(path, results, [])
    assert f"the first 100 of {len(read.packets)} TLPs" in " ".join(said.split())
    assert str(captures.DISSECTOR) in said
    for case in {case for _, case in read.names}:
        whole = [packet for packet in read.packets if read.names[packet.interface][1] == case]
        assert [p for p in some.packets if some.names[p.interface][1] == case] == whole[:50]
    for which, (started, dropped) in some.statistics.items():
        assert started == read.statistics[which][0]
        assert started - dropped == sum(packet.interface == which for packet in some.packets)


def test_a_capture_is_not_written_over_anything(read: Read) -> None:
    scenario = read.path.parent / "reads.yaml"
    done = CliRunner().invoke(app, ["run", str(scenario), "--pcap", str(read.path)])
    assert done.exit_code == 1
    assert "RS006" in done.stderr


FIELDS = [
    "frame.interface_name",
    "frame.interface_description",
    "frame.time_epoch",
    "lanetwin.start",
    "lanetwin.sequence",
    "pcie_tlp.name",
    "pcie_tlp.length",
    "pcie_tlp.requester_id",
    "pcie_tlp.tag",
    "pcie_tlp.address",
    "pcie_tlp.byte_count",
    "pcie_tlp.completion_status",
    "pcie_tlp.first_be",
    "pcie_tlp.last_be",
    "frame.len",
    "_ws.expert.message",
]


def dissected(tshark: str, path: Path) -> list[dict[str, str]]:
    """Return what tshark and the dissector make of each packet."""
    asked = [word for field in FIELDS for word in ("-e", field)]
    script = f"lua_script:{captures.DISSECTOR}"
    command = [tshark, "-X", script, "-r", str(path), "-T", "fields", "-E", "separator=|", *asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "Error" not in done.stderr, done.stderr
    return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in done.stdout.splitlines()]


def test_tshark_sees_what_the_engine_has_counted(read: Read, require_tool: Callable[[str], str]) -> None:
    told = dissected(require_tool("tshark"), read.path)
    assert len(told) == len(read.packets) == read.results["cost"]["tlp_hops"]
    for one, packet in zip(told, read.packets, strict=True):
        name, case = read.names[packet.interface]
        assert (one["frame.interface_name"], one["frame.interface_description"]) == (name, case)
        seconds, _, fraction = one["frame.time_epoch"].partition(".")
        ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        assert abs(ns * PS_PER_NS - packet.ps) <= PS_PER_NS
        assert int(one["lanetwin.start"]) == packet.ticks
        assert int(one["lanetwin.sequence"]) == packet.sequence
        assert one["pcie_tlp.name"] == packet.name
        assert int(one["pcie_tlp.length"]) * 4 == packet.length
        assert int(one["pcie_tlp.tag"]) == packet.tag[1]
        assert one["pcie_tlp.requester_id"] == f"{packet.tag[0] >> 8:02x}:00.0"
        assert int(one["frame.len"]) == packet.original
        assert not one["_ws.expert.message"]
        if packet.name == "CplD":
            assert int(one["pcie_tlp.byte_count"]) == packet.byte_count
            assert int(one["pcie_tlp.completion_status"]) == 0
        else:
            assert int(one["pcie_tlp.address"], 16) == packet.address
            assert int(one["pcie_tlp.first_be"], 16) == 0xF
            assert int(one["pcie_tlp.last_be"], 16) == (0xF if packet.length > 4 else 0)
