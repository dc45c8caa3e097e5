"""Discovering a machine: the tree, findings with what they cost, pictures, a scenario."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lanetwin import engine
from lanetwin.cli import app
from lanetwin.discovered.names import _read


def function(*, port: bool, capable: tuple[int, int], trained: tuple[int, int], payload: int = 1) -> bytes:
    """Return the configuration space of a root port with bus 1 below it, or of an NVMe drive."""
    space = bytearray(4096)

    def put(at: int, value: int, size: int) -> None:
        space[at : at + size] = value.to_bytes(size, "little")

    put(0x00, 0xA824144D, 4)
    put(0x06, 0x0010, 2)
    put(0x09, 0x060400 if port else 0x010802, 3)
    if port:
        put(0x0E, 1, 1)
        put(0x18, 0x010100, 3)
    put(0x34, 0x40, 1)
    put(0x40, 0x10, 2)
    put(0x42, (4 << 4 if port else 0) | 2, 2)
    put(0x44, 2, 4)
    put(0x48, payload << 5 | 2 << 12, 2)
    put(0x4C, capable[0] | capable[1] << 4, 4)
    put(0x52, trained[0] | trained[1] << 4, 2)
    put(0x70, capable[0], 2)
    return bytes(space)


def dump(functions: dict[str, bytes]) -> str:
    lines = []
    for address, space in functions.items():
        lines.append(f"{address} Something: made")
        lines += [f"{at:02x}: {space[at : at + 16].hex(' ')}" for at in range(0, len(space), 16)]
        lines.append("")
    return "\n".join(lines)


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """Write the dump of a Gen5 drive that runs at Gen4 x2."""
    file = tmp_path / "box.txt"
    drive = function(port=False, capable=(5, 4), trained=(4, 2))
    file.write_text(dump({"00:01.0": function(port=True, capable=(5, 16), trained=(4, 2)), "01:00.0": drive}))
    return file


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_tree_tells_what_trained_and_what_could(box: Path) -> None:
    done = call("discover", box)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("0000:00:01.0 root port")
    assert lines[1].startswith("└─ 0000:01:00.0 NVMe drive")
    assert lines[1].endswith("16 GT/s x2 (can do 32 GT/s x4)")
    assert "warning[HW102]" in done.stdout
    assert "Link Status 0024: 16 GT/s x2" in done.stdout


def test_a_short_link_costs_what_it_lacks(box: Path) -> None:
    finding = json.loads(call("discover", box, "--json").stdout)["findings"][0]

    def payload(gen: str, width: str) -> float:
        rows = engine.calculate("link", {"gen": gen, "width": width, "mps": "256B"})["rows"]
        return next(float(row["value"]) for row in rows if row["name"] == "payload" and row["unit"] == "GB/s")

    assert finding["costs_gb_s"] == pytest.approx(payload("5", "x4") - payload("4", "x2"))
    assert finding["costs_gb_s"] > 10


@pytest.mark.parametrize(
    ("gates", "status"), [((), 0), (("warning",), 3), (("HW102",), 3), (("HW101",), 0), (("note",), 0)]
)
def test_findings_fail_on_demand(box: Path, gates: tuple[str, ...], status: int) -> None:
    options = [option for gate in gates for option in ("--fail-on", gate)]
    assert call("discover", box, *options).exit_code == status


def test_the_scenario_runs_and_says_what_the_slot_costs(box: Path) -> None:
    file = box.parent / "box.yaml"
    assert call("discover", box, "--scenario", file).exit_code == 0
    text = file.read_text()
    assert "# ssd0: 0000:01:00.0 NVMe drive" in text
    results = engine.run(str(file))
    rate = {row["variant"]: row["value"] for row in results["rows"] if row["metric"] == "throughput"}
    assert rate["as-trained"] < 4000 < 7000 < rate["as-capable"]
    refused = call("discover", box, "--scenario", file)
    assert "RS006" in refused.stderr


def test_pictures_have_every_function_and_link(box: Path) -> None:
    dot = call("discover", box, "--picture", "dot").stdout
    assert '"0000:00:01.0" -- "0000:01:00.0"' in dot
    assert 'color="red"' in dot
    mermaid = call("discover", box, "--picture", "mermaid").stdout
    assert mermaid.startswith("graph LR\n")
    assert "f0 -- " in mermaid
    assert "16 GT/s x2" in mermaid


def test_this_machine_is_drawn_whatever_it_lacks() -> None:
    if not any(Path("/sys/bus/pci/devices").glob("*")):
        pytest.skip("this machine has no PCI functions")
    done = call("discover")
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) >= len(list(Path("/sys/bus/pci/devices").glob("*")))


@pytest.mark.parametrize("text", ["", "nothing\n", "00:01.0 x\n00: 11 22\n"])
def test_text_that_is_no_dump_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "text.txt"
    file.write_text(text)
    done = call("discover", file)
    assert done.exit_code == 1
    assert "lspci -xxxx" in done.stderr


def test_names_come_from_the_list_of_ids() -> None:
    text = "# a comment\n144d  Samsung Electronics Co Ltd\n\ta824  NVMe SSD\n\t\t144d a001  Some\n"
    text += "C 01  Storage\n\t06  SATA\n"
    assert _read(text) == {(0x144D, 0xA824): "Samsung Electronics Co Ltd NVMe SSD"}
