"""A machine that is there: a guest of QEMU with root ports, a switch, NVMe drives and CXL memory."""

from __future__ import annotations

import json
import os
import socket
import tarfile
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from guest import OUT, Hardware, booted, python_and_lanetwin, require_guest
from lanetwin import engine
from lanetwin.cli import app

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LONG_S = 900.0
"""Longer than a guest takes whose programs are translated, on a machine that is busy."""
DEVICES = (
    "pcie-root-port,id=rp0,chassis=1,slot=1",
    "nvme,bus=rp0,drive=a,serial=behind-port",
    "pcie-root-port,id=rp1,chassis=2,slot=2",
    "x3130-upstream,id=up,bus=rp1",
    "xio3130-downstream,id=dn0,bus=up,chassis=3,slot=3",
    "nvme,bus=dn0,drive=b,serial=behind-switch",
    "pxb-cxl,bus_nr=12,bus=pcie.0,id=bridge",
    "cxl-rp,port=0,bus=bridge,id=rp2,chassis=0,slot=4",
    "cxl-type3,bus=rp2,memdev=cxl,lsa=lsa,id=memory",
)
SCRIPT = f"""
modprobe -a cxl_acpi cxl_pci cxl_mem
stty -F {OUT} raw
mkdir /out && cd /out
echo "WANT an error"
sleep 5
$LANETWIN discover > tree.txt 2> notes.txt || echo FAILED
$LANETWIN discover --json --record record.json --scenario box.yaml > found.json || echo FAILED
tar c . > {OUT}
"""


def hardware(folder: Path) -> Hardware:
    """Return two NVMe drives, one behind a switch, and a CXL memory behind a host bridge of its own."""
    options = ["-monitor", f"unix:{folder / 'monitor'},server,nowait"]
    for name, size in (("a", 64 << 20), ("b", 64 << 20), ("cxl", 256 << 20), ("lsa", 1 << 20)):
        with (folder / name).open("wb") as file:
            file.truncate(size)
    for name in ("a", "b"):
        options += ["-drive", f"if=none,format=raw,id={name},file={folder / name}"]
    for name, size in (("cxl", 256), ("lsa", 1)):
        options += [
            "-object",
            f"memory-backend-file,id={name},share=on,mem-path={folder / name},size={size}M",
        ]
    for device in DEVICES:
        options += ["-device", device]
    machine = "q35,accel=tcg,cxl=on,cxl-fmw.0.targets.0=bridge,cxl-fmw.0.size=4G"
    # the kernel's own handling of errors (AER) would clear the register before anybody looks
    return Hardware(machine, 1536, tuple(options), "pci=noaer")


def tell(monitor: Path, line: str) -> None:
    """Give a command to QEMU."""
    with socket.socket(socket.AF_UNIX) as line_to:
        line_to.connect(str(monitor))
        line_to.sendall(f"{line}\n".encode())
        line_to.settimeout(10.0)
        said = b""
        while said.count(b"(qemu)") < 2:
            said += line_to.recv(4096)


def test_a_live_machine_is_told_and_its_scenario_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest()
    python, files = python_and_lanetwin()
    script = f"export LANETWIN='env {python} -m lanetwin'\n{SCRIPT}"
    with booted(tmp_path, tools, script, hardware(tmp_path), files) as guest:
        guest.said("WANT", LONG_S)
        # Bad TLP, at the root port of the first drive
        tell(tmp_path / "monitor", "pcie_aer_inject_error -c rp0 0x40")
        assert guest.said("ENDED", LONG_S) == "0"
    out = tmp_path / "seen"
    with tarfile.open(tmp_path / "out") as tar:
        tar.extractall(out, filter="data")

    tree = (out / "tree.txt").read_text(encoding="utf-8")
    for line in (
        "0000:00:02.0 root port 1b36:000c",
        "└─ 0000:01:00.0 NVMe drive 1b36:0010 (nvme0 QEMU NVMe Ctrl), 2.5 GT/s x1",
        "└─ 0000:02:00.0 upstream port of a switch 104c:8232, 2.5 GT/s x1",
        "   └─ 0000:03:00.0 downstream port of a switch 104c:8233",
        "      └─ 0000:04:00.0 NVMe drive 1b36:0010 (nvme1 QEMU NVMe Ctrl), 2.5 GT/s x1",
        "0000:0c:00.0 root port 8086:7075",
        "└─ 0000:0d:00.0 CXL memory 8086:0d93 (mem0 0.25 GiB), 2.5 GT/s x1",
        "warning[HW105] 0000:00:02.0: errors of its link were corrected by replay",
    ):
        assert line in tree.splitlines(), tree

    found = json.loads((out / "found.json").read_text(encoding="utf-8"))
    assert [finding["code"] for finding in found["findings"]] == ["HW105"]
    assert found["findings"][0]["evidence"][0]["value"] == "00000040"
    memory = next(device for device in found["devices"] if device["address"] == "0000:0d:00.0")
    # a CXL device, General Purpose Flush, register locator (CXL 3.1 §8.1.3, §8.1.7, §8.1.9)
    assert {tuple(one["vendor"]) for one in memory["extended"] if one["vendor"]} == {
        (0x1E98, 0),
        (0x1E98, 5),
        (0x1E98, 8),
    }

    record = CliRunner().invoke(app, ["discover", str(out / "record.json"), "--json"])
    assert json.loads(record.stdout) == found
    assert "behind-" not in (out / "record.json").read_text(encoding="utf-8")

    results = engine.run(str(out / "box.yaml"))
    rates: dict[tuple[str, str], float] = {}
    for row in results["rows"]:
        if row["metric"] == "throughput":
            # the first row of a case is of all its drives
            rates.setdefault((row["workload"], row["case"]), row["value"])
    alone, together = rates["ssd1_alone", "ssd1_alone"], rates["all_together", "all_together"]
    assert 200 < alone < 250 < together, "a lane of 2.5 GT/s each"
    assert rates["cxl0_latency", "cxl0"] < rates["cxl0_latency", "dram"]
