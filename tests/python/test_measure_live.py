"""Measuring NVMe drives of a guest of QEMU: read, written to where they may be, refused elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from guest import OUT, Hardware, booted, python_and_lanetwin, require_guest

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent
LONG_S = 900.0
"""Longer than any step takes of a guest whose programs are translated, on a machine that is busy."""
SIZE = 16 << 20
SCENARIO = """about: What does this drive do?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-nvme-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
  reads: {fio: {rw: randread, bs: 4k, iodepth: 1, requests: 100}, on: host, target: ssd}
  writes: {fio: {rw: randwrite, bs: 4k, iodepth: 4, requests: 100}, on: host, target: ssd}
"""
CHECKS = (
    "measured",
    "asked for its name",
    "a file system is seen",
    "a mount is seen",
    "swap is seen",
    "our own look is no use",
    "an open device is seen",
    "told what it would write",
    "and did not",
    "wrote",
    "where it may",
)


def hardware(folder: Path, serials: tuple[str, ...]) -> Hardware:
    """Return NVMe drives, each behind a root port, whose contents are files of this name."""
    options = []
    for nth, serial in enumerate(serials):
        options += ["-drive", f"if=none,format=raw,id={serial},file={folder / serial}"]
        options += ["-device", f"pcie-root-port,id=rp{nth},chassis={nth + 1},slot={nth + 1}"]
        options += ["-device", f"nvme,bus=rp{nth},drive={serial},serial={serial}"]
    return Hardware(memory_mib=1536, options=tuple(options))


def test_drives_are_measured_and_written_to_if_they_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("fio", "mke2fs")
    for serial in ("readable", "lost"):
        (tmp_path / serial).write_bytes(os.urandom(SIZE))
    with (tmp_path / "precious").open("wb") as file:
        file.truncate(SIZE)
    subprocess.run([tools["mke2fs"], "-q", "-F", "-t", "ext4", str(tmp_path / "precious")], check=True)
    (tmp_path / "bay.yaml").write_text(SCENARIO)
    python, files = python_and_lanetwin()
    files |= {"/bay.yaml": tmp_path / "bay.yaml", "/measure.py": HERE / "measure_in_guest.py"}
    script = f"stty -F {OUT} raw\nmkdir /out /tmp\nenv {python} /measure.py && tar c -C /out . > {OUT}\n"
    with booted(
        tmp_path, tools, script, hardware(tmp_path, ("readable", "lost", "precious")), files
    ) as guest:
        for check in CHECKS:
            assert guest.said("CHECK", LONG_S) == check
        assert guest.said("ENDED", LONG_S) == "0"

    with tarfile.open(tmp_path / "out") as tar:
        tar.extractall(tmp_path / "seen", filter="data")
    read, written = (
        json.loads((tmp_path / "seen" / name / "results.json").read_text(encoding="utf-8"))
        for name in ("read", "written")
    )
    assert read["kind"] == written["kind"] == "measured"
    assert {row["workload"] for row in read["rows"]} == {"reads"}
    assert {row["workload"] for row in written["rows"]} == {"reads", "writes"}
    assert all(row["value"] > 0 for row in (*read["rows"], *written["rows"]))
    device = read["options"]["environment"]["before"]["as-is"]
    assert device["device"]["model"] == "QEMU NVMe Ctrl"
    assert device["link"]["current_link_speed"].startswith("2.5 GT/s")
    wrote = written["options"]["written"]["as-is"]
    assert 0 < wrote["by the device"] < wrote["at most"], wrote
    assert not (tmp_path / "seen" / "none").exists()
    told = json.dumps([read, written])
    assert not any(serial in told for serial in ("readable", "precious"))
