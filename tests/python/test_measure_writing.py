"""Writing measurements: what is refused, what is told before, what reaches a device and what does not."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.measure import jobs, opened, permitted, read_tests, writing
from lanetwin.measure.burden import burdens
from lanetwin.measure.disk import Disk, Store
from lanetwin.measure.signatures import MARKS, ZFS_LABEL, signatures, told_by_wipefs

SIZE = 80 << 20
SCENARIO = """about: What does this disk do?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-nvme-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
  reads: {fio: {rw: randread, bs: 4k, iodepth: 1, requests: 100}, on: host, target: ssd}
  writes: {fio: {rw: randwrite, bs: 4k, iodepth: 4, requests: 100}, on: host, target: ssd}
  mix: {fio: {rw: randrw, rwmixread: 70, bs: 4k, iodepth: 4, requests: 100}, on: host, target: ssd}
"""


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def tools_of_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")


@pytest.fixture
def bay(tmp_path: Path) -> Path:
    file = tmp_path / "bay.yaml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data"
    file.write_bytes(b"\xa5" * (8 << 20))
    return file


def why_not(path: Path, *named: str) -> str:
    """Return the code and the reasons of the refusal to write to a target."""
    with pytest.raises(LanetwinError) as refused, permitted([opened("as-is", path)], named):
        pass
    (found,) = refused.value.diagnostics
    return f"{found.code} {found.message}"


def marks_of(file: Path, size: int = SIZE) -> list[str]:
    handle = os.open(file, os.O_RDONLY)
    try:
        return signatures(handle, size)
    finally:
        os.close(handle)


def blank(file: Path, place: int, magic: bytes) -> None:
    """Write a file of zeroes with some bytes at a place."""
    with file.open("wb") as out:
        out.seek(place if place >= 0 else SIZE + place)
        out.write(magic)
        out.truncate(SIZE)


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: f"{mark.what} {mark.offset}")
def test_each_mark_is_found_where_it_may_be(tmp_path: Path, mark: Any) -> None:
    for nth in range(mark.times + 1):
        blank(tmp_path / "drive", mark.offset + nth * mark.step, mark.magic)
        assert mark.what in marks_of(tmp_path / "drive")


def test_a_pool_of_zfs_is_found_by_any_of_its_labels(tmp_path: Path) -> None:
    for label in (0, ZFS_LABEL, SIZE - 2 * ZFS_LABEL, SIZE - ZFS_LABEL):
        for magic in (0x00BAB10C.to_bytes(8, "little"), 0x00BAB10C.to_bytes(8, "big")):
            blank(tmp_path / "drive", label + ZFS_LABEL // 2 + 7 * 1024, magic)
            assert marks_of(tmp_path / "drive") == ["ZFS"]


@pytest.mark.parametrize("size", [0, 1, 511, 512, 4096, 70000])
def test_what_is_blank_or_short_has_no_mark(tmp_path: Path, size: int) -> None:
    (tmp_path / "drive").write_bytes(b"\xa5" * size)
    assert marks_of(tmp_path / "drive", size) == []


@pytest.mark.parametrize("command", [["mke2fs", "-q", "-F"], ["mkswap"]])
def test_what_a_maker_has_made_is_found_by_us_and_by_wipefs(tmp_path: Path, command: list[str]) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    file = tmp_path / "drive"
    blank(file, 0, b"")
    file.chmod(0o600)
    subprocess.run([*command, str(file)], check=True, capture_output=True)
    assert marks_of(file)
    assert "MR005" in why_not(file, str(file))
    if shutil.which("wipefs"):
        assert told_by_wipefs(file)


def test_a_file_is_refused_for_what_it_is_and_who_uses_it(data: Path) -> None:
    assert "MR006" in why_not(data)
    assert f"its path is `{data}`, and not elsewhere" in why_not(data, "elsewhere")
    data.chmod(0o755)
    (data.parent / "other").hardlink_to(data)
    said = why_not(data, str(data))
    assert "it can be executed" in said
    assert "it has 2 names" in said
    data.chmod(0o644)
    (data.parent / "other").unlink()
    with data.open("rb") as held, subprocess.Popen(["sleep", "60"], stdin=held) as other:
        try:
            assert f"it is open in process {other.pid}" in why_not(data, str(data))
        finally:
            other.kill()
    with permitted([opened("as-is", data)], [str(data)]) as owned:
        assert owned[0].serial == str(data)


def disk(**more: Any) -> Disk:
    """Return what the kernel would say of a drive that nobody uses."""
    plain: dict[str, Any] = {"name": "d", "made_of": None, "serial": "S1", "model": "A drive", "bytes": SIZE}
    plain |= {"read_only": False, "stores": [store("d")]}
    return cast("Disk", plain | more)


def store(name: str, *users: str, root: bool = False) -> Store:
    return {"name": name, "users": list(users), "root": root}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (disk(made_of="it is a partition"), "it is a partition: name the whole drive"),
        (disk(made_of="it is an array (md)"), "it is an array (md)"),
        (disk(read_only=True), "it is read-only"),
        (disk(stores=[store("d", "mounted on /data")]), "d is in use: mounted on /data"),
        (disk(stores=[store("d", "swap")]), "d is in use: swap"),
        (disk(stores=[store("d", "md0 (md)")]), "d is in use: md0 (md)"),
        (disk(stores=[store("d", root=True)]), "the root file system is on d"),
        (disk(stores=[store("d"), store("d1")]), "it has partitions: d1"),
        (None, "the kernel tells nothing of it"),
    ],
)
def test_a_device_is_refused_for_each_reason(found: Disk | None, reason: str) -> None:
    assert any(reason in one for one in writing._of_device(found))


def test_our_own_look_at_a_device_is_no_reason() -> None:
    assert writing._of_device(disk(stores=[store("d", f"open in process {os.getpid()}")])) == []


def test_writes_are_left_out_unless_they_are_asked_for_and_trims_always(bay: Path, data: Path) -> None:
    tests, _ = read_tests(bay, [], [])
    assert [test.workload for test in tests] == ["reads"]
    tests, left = read_tests(bay, [], [], writing=True)
    assert [test.workload for test in tests] == ["reads", "writes", "mix"]
    assert left == []
    assert "rwmixread=70" in tests[2].text(opened("as-is", data), seconds=1, ramp=0)
    bay.write_text(SCENARIO + "  trims: {fio: {rw: randtrim, requests: 100}, on: host, target: ssd}\n")
    with pytest.raises(LanetwinError, match="FI021"):
        read_tests(bay, [], [], writing=True)
    assert not any("trim" in word for word in jobs.READS | jobs.WRITES)


def test_what_will_be_written_is_told_first(bay: Path, data: Path) -> None:
    before = data.read_bytes()
    options = ["--write", "--destroy", data, "--dry-run", "--seconds", 2, "--repeats", 3]
    done = call("measure", bay, "--on", data, *options)
    assert done.exit_code == 0, done.output
    assert "what is on it will be lost" in done.stderr
    assert "in 6 runs of 3 s at" in done.stderr
    assert "rw=randwrite" in done.stdout
    assert data.read_bytes() == before
    tests, _ = read_tests(bay, [], [], writing=True)
    with permitted([opened("as-is", data)], [str(data)]) as owned:
        (burden,) = burdens(owned, tests, seconds=3.0, repeats=3)
    assert burden.bytes == round(6 * 3.0 * burden.rate_gb_s * 1e9)
    refused = call("measure", bay, "--on", data, "--destroy", data)
    assert refused.exit_code == 2, "--destroy alone is a mistake"


def test_a_file_is_written_to_within_its_size(
    bay: Path, data: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("fio")
    out = data.parent / "out"
    size, number, before = data.stat().st_size, data.stat().st_ino, data.read_bytes()
    refused = call("measure", bay, "--on", data, "--write", "--out", out)
    assert refused.exit_code == 1
    assert "MR006" in refused.stderr
    assert data.read_bytes() == before
    options = ["--seconds", 0.3, "--ramp", 0, "--repeats", 1, "--out", out]
    done = call("measure", bay, "--on", data, "--write", "--destroy", data, *options)
    assert done.exit_code == 0, done.output
    assert (data.stat().st_size, data.stat().st_ino) == (size, number)
    assert data.read_bytes() != before
    assert "write throughput" in (out / "rows.csv").read_text()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Give a loop device and the file behind it."""
    file = tmp_path / "behind"
    file.write_bytes(b"\xa5" * (16 << 20))
    tool = shutil.which("losetup")
    if not tool or os.geteuid() != 0:
        pytest.skip("no loop device without losetup and root")
    done = subprocess.run([tool, "--find", "--show", str(file)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no loop device here: {done.stderr}")
    device = Path(done.stdout.strip())
    try:
        yield device, file
    finally:
        subprocess.run([tool, "--detach", str(device)], check=True)


def test_a_device_is_written_to_when_it_is_named_and_is_had_alone(loop: tuple[Path, Path]) -> None:
    device, file = loop
    assert "a loop device is made of it" in why_not(file, str(file))
    assert "MR006" in why_not(device, "another")
    with permitted([opened("as-is", device)], [str(file)]) as owned:
        assert owned[0].serial == str(file)
        with pytest.raises(OSError, match="busy"):
            os.open(device, os.O_RDWR | os.O_EXCL)
    os.close(os.open(device, os.O_RDWR | os.O_EXCL))
    if shutil.which("mke2fs"):
        subprocess.run(["mke2fs", "-q", "-F", str(device)], check=True)
        assert "it holds ext2, ext3 or ext4" in why_not(device, str(file))
