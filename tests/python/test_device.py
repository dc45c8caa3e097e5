"""A drive in this process: the same bytes, and in virtual time the same latencies as a run."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import pytest

import lanetwin

SCENARIO = """
about: A drive for a door.
machine:
  cpu: {model: root-complex}
  # a door knows no load that would say what the drive has lived through
  ssd:
    {model: nvme-ssd, capacity: 8GiB, medium: nand, ftl.initial: steady-state,
     buffer.protected: false, buffer.volatile: true}
links:
  slot: {from: cpu, to: ssd}
workloads:
  w: {block: {size: 4KiB, requests: 500, depth: [1, 8, 32], pattern: sequential}, on: cpu, target: ssd}
variants:
  direct: {}
  retimer: {links.slot.via: [montage-m88rt51632]}
compare: {baseline: direct}
run: {repeats: 1, warm-up: 0}
"""
BLOCK = 4096


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "door.yaml"
    path.write_text(SCENARIO)
    return path


def test_in_virtual_time_latencies_are_those_of_a_run(scenario: Path) -> None:
    results = lanetwin.run(str(scenario))
    rows = [row for row in results["rows"] if row["metric"] == "latency" and not row.get("device")]
    assert len(rows) == 6
    for row in rows:
        assert row["x"] is not None
        depth, count = int(row["x"]["value"]), row["operations"]
        with lanetwin.device(scenario, variant=row["variant"], virtual_time=True) as drive:
            latencies = closed_loop(drive, depth, count)
        assert sum(latencies) / count * 1e9 == pytest.approx(row["value"], rel=1e-12)
        for percent, value in row["percentiles"]:
            rank = sorted(latencies)[max(0, -(-count * int(percent * 10) // 1000) - 1)] * 1e9
            assert rank <= value * (1 + 1e-9) <= rank * 1.002


def test_the_drive_of_the_template_is_one_that_doors_serve(tmp_path: Path) -> None:
    path = tmp_path / "block.yaml"
    path.write_text(lanetwin.engine.template("block"), encoding="utf-8")
    with lanetwin.device(path, variant="retimer", virtual_time=True) as drive:
        drive.write(0, b"x" * BLOCK)
        assert drive.read(0, BLOCK) == b"x" * BLOCK


def closed_loop(drive: lanetwin.Device, depth: int, count: int) -> list[float]:
    """Read one block after the other, so many at a time; the latencies of the first answers [s]."""
    asked = [drive.submit("read", place * BLOCK, BLOCK) for place in range(depth)]
    latencies: list[float] = []
    place = depth
    while len(latencies) < count:
        assert drive.wait()
        for done in [operation for operation in asked if operation.done()]:
            asked.remove(done)
            latencies.append(done.latency)
            asked.append(drive.submit("read", place * BLOCK, BLOCK))
            place += 1
    return latencies[:count]


@pytest.mark.parametrize("virtual_time", [True, False])
def test_what_is_written_is_read(scenario: Path, virtual_time: bool) -> None:
    with lanetwin.device(scenario, virtual_time=virtual_time) as drive:
        assert drive.facts["bytes"] == 8 << 30
        drive.write(BLOCK, b"a" * BLOCK)
        drive.write(2 * BLOCK, b"b" * BLOCK, fua=True)
        drive.flush()
        assert drive.read(0, 3 * BLOCK) == bytes(BLOCK) + b"a" * BLOCK + b"b" * BLOCK
        assert drive.compare(BLOCK, b"a" * 512)
        assert not drive.compare(BLOCK, b"b" * 512)
        drive.trim(BLOCK, BLOCK)
        drive.write_zeroes(2 * BLOCK, BLOCK)
        assert drive.read(BLOCK, 2 * BLOCK) == bytes(2 * BLOCK)
        told = drive.lateness()
        assert told["answers"] == 9
        assert told["late_share"] == 0 or not virtual_time


@pytest.mark.parametrize("virtual_time", [True, False])
def test_a_loop_of_asyncio_has_many_requests_in_progress(scenario: Path, virtual_time: bool) -> None:
    async def all_at_once(drive: lanetwin.Device) -> list[bytes]:
        await asyncio.gather(*(drive.awrite(place * BLOCK, bytes([place]) * BLOCK) for place in range(32)))
        await drive.aflush()
        await drive.atrim(0, BLOCK)
        return await asyncio.gather(*(drive.aread(place * BLOCK, BLOCK) for place in range(32)))

    with lanetwin.device(scenario, virtual_time=virtual_time) as drive:
        found = asyncio.run(all_at_once(drive))
        took = drive.now
    assert found == [bytes([place]) * BLOCK for place in range(32)]
    assert not virtual_time or took < 0.01


def test_bytes_outlive_the_drive_in_a_file(scenario: Path, tmp_path: Path) -> None:
    data = tmp_path / "drive"
    with lanetwin.device(scenario, data=data, virtual_time=True) as drive:
        drive.write(BLOCK, b"x" * BLOCK)
    with lanetwin.device(scenario, data=data, virtual_time=True) as drive:
        assert drive.read(BLOCK, BLOCK) == b"x" * BLOCK
    assert data.stat().st_blocks < 1000, "the file has holes"


def test_a_power_cut_ends_what_is_in_progress_and_keeps_what_was_flushed(scenario: Path) -> None:
    with lanetwin.device(scenario, virtual_time=True) as drive:
        drive.write(0, b"s" * BLOCK)
        drive.flush()
        drive.write(BLOCK, b"u" * BLOCK)
        open_one = drive.submit("write", 2 * BLOCK, BLOCK, b"o" * BLOCK)
        kept, lost = drive.power_cut()
        assert kept + lost == 16, "blocks of 512 B of two writes"
        drive.wait()
        with pytest.raises(lanetwin.DeviceError, match="no power") as error:
            open_one.result()
        assert error.value.errno == errno.EIO
        with pytest.raises(lanetwin.DeviceError):
            drive.read(0, BLOCK)
        drive.power_on()
        assert drive.read(0, BLOCK) == b"s" * BLOCK


def test_faults_are_errors_or_delays(scenario: Path) -> None:
    with lanetwin.device(scenario, virtual_time=True) as drive:
        drive.media_error(0, BLOCK)
        with pytest.raises(lanetwin.DeviceError, match="unrecovered read error"):
            drive.read(0, BLOCK)
        drive.link_down(2000)
        before = drive.now
        drive.read(BLOCK, BLOCK)
        assert drive.now - before > 1.9
        drive.slow_die(0, 1, 7000)
        before = drive.now
        drive.read(BLOCK, BLOCK)
        assert 0.007 < drive.now - before < 0.008
        drive.heal()
        drive.read(0, BLOCK)
        assert drive.lateness()["faulted"] == 2


def test_what_cannot_be_is_refused_with_its_code(scenario: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "letter"
    foreign.write_text("Dear friend")
    for code, options in {
        "DO001": {"variant": "retmier"},
        "DO002": {"drive": "cpu"},
        "DO006": {"data": foreign},
        "SC030": {"sets": ["machine.sdd.capacity=8GiB"]},
    }.items():
        with pytest.raises(lanetwin.LanetwinError) as error:
            lanetwin.device(scenario, **options)  # type: ignore[arg-type]
        assert [found.code for found in error.value.diagnostics] == [code]
    with pytest.raises(lanetwin.LanetwinError, match="there is none to serve"):
        lanetwin.device(Path(__file__).parents[2] / "scenarios" / "demo.yaml")
    assert foreign.read_text() == "Dear friend"
    drive = lanetwin.device(scenario, virtual_time=True)
    with pytest.raises(lanetwin.LanetwinError) as error:
        drive.read(100, 512)
    assert [found.code for found in error.value.diagnostics] == ["DO010"]
    drive.close()
    with pytest.raises(lanetwin.LanetwinError, match="closed"):
        drive.read(0, 512)
