"""Discovering a machine: the tree, findings with what they cost, pictures, a scenario."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from lanetwin import engine
from lanetwin.cli import app
from lanetwin.discovered.names import _read

End = tuple[int, int]
KINDS = {"root": 4, "upstream": 5, "downstream": 6, "drive": 0}
"""Device/Port Types (PCIe Base 6.0 §7.5.3.2)."""


def function(
    *,
    port: bool = False,
    kind: str = "",
    capable: End,
    trained: End,
    payload: int = 1,
    buses: End = (1, 1),
    bus: int = 0,
    ids: End = (0x144D, 0xA824),
    subsystem: End = (0, 0),
) -> bytes:
    """Return the configuration space of a port with these buses below it, or of an NVMe drive."""
    kind = kind or ("root" if port else "drive")
    space = bytearray(4096)

    def put(at: int, value: int, size: int) -> None:
        space[at : at + size] = value.to_bytes(size, "little")

    put(0x00, ids[0] | ids[1] << 16, 4)
    put(0x06, 0x0010, 2)
    put(0x09, 0x010802 if kind == "drive" else 0x060400, 3)
    put(0x2C, subsystem[0] | subsystem[1] << 16, 4)
    if kind != "drive":
        put(0x0E, 1, 1)
        put(0x18, bus | buses[0] << 8 | buses[1] << 16, 3)
    put(0x34, 0x40, 1)
    put(0x40, 0x10, 2)
    put(0x42, KINDS[kind] << 4 | 2, 2)
    put(0x44, 2, 4)
    put(0x48, payload << 5 | 2 << 12, 2)
    put(0x4C, capable[0] | capable[1] << 4, 4)
    put(0x52, trained[0] | trained[1] << 4, 2)
    put(0x70, capable[0], 2)
    put(0x100, 0x00010003, 4)
    put(0x104, 0x5E1F5E1F5E1F5E1F, 8)
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


def test_a_gate_that_nobody_knows_is_refused(box: Path) -> None:
    done = call("discover", box, "--fail-on", "warnign")
    assert done.exit_code == 2
    assert "warnign" in done.stderr


def test_where_there_is_nothing_to_read_or_to_write_it_is_told(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    words = tmp_path / "words.txt"
    words.write_text("just words\n")
    for source in (tmp_path / "nowhere.txt", empty, words):
        done = call("discover", source)
        assert done.exit_code == 1
        assert f"error[HW001] {source}" in done.stderr
        assert "help: " in done.stderr
    lone = tmp_path / "lone.txt"
    lone.write_text(dump({"00:01.0": function(port=True, capable=(5, 16), trained=(4, 2))}))
    done = call("discover", lone, "--scenario", tmp_path / "lone.yaml")
    assert done.exit_code == 1
    assert "error[HW002]" in done.stderr
    assert not (tmp_path / "lone.yaml").exists()


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


@pytest.fixture
def switched(tmp_path: Path) -> Path:
    """Write the dump of two Gen4 x4 drives behind a switch with an x4 link up, and one beside it."""
    x4, x16 = (4, 4), (4, 16)
    functions = {
        "00:01.0": function(kind="root", capable=x16, trained=x4, buses=(1, 4)),
        "00:02.0": function(kind="root", capable=x16, trained=x4, buses=(5, 5)),
        "01:00.0": function(kind="upstream", capable=x16, trained=x4, buses=(2, 4), bus=1),
        "02:00.0": function(kind="downstream", capable=x4, trained=x4, buses=(3, 3), bus=2),
        "02:01.0": function(kind="downstream", capable=x4, trained=x4, buses=(4, 4), bus=2),
        "03:00.0": function(capable=x4, trained=x4),
        "04:00.0": function(capable=x4, trained=x4),
        "05:00.0": function(capable=x4, trained=x4),
    }
    file = tmp_path / "switched.txt"
    file.write_text(dump(functions))
    return file


def test_drives_behind_a_switch_share_what_its_link_carries(switched: Path) -> None:
    file = switched.parent / "switched.yaml"
    assert call("discover", switched, "--scenario", file).exit_code == 0
    results = engine.run(str(file))
    rows = [row for row in results["rows"] if row["metric"] == "throughput"]
    whole: dict[tuple[str, str], float] = {}
    for row in rows:
        # the first row of a case is of all its drives
        whole.setdefault((row["variant"], row["workload"]), row["value"])
    alone = [whole["as-trained", f"ssd{nth}_alone"] for nth in range(3)]
    assert min(alone) > 0.9 * max(alone), "each alone has its link, whether through a switch or not"
    together, could = (whole[variant, "all_together"] for variant in ("as-trained", "as-capable"))
    assert together < 2.1 * max(alone), "two of them share one x4 link"
    assert could > 2.8 * max(alone)


PM9A3 = (0x144D, 0xA80A)


def of_drive(tmp_path: Path, subsystem: End, ids: End = PM9A3) -> dict[str, Any]:
    """Return the scenario of a machine with one drive of an ID, and its comments."""
    drive = function(capable=(4, 4), trained=(4, 4), ids=ids, subsystem=subsystem)
    file, scenario = tmp_path / "one.txt", tmp_path / "one.yaml"
    file.write_text(dump({"00:01.0": function(port=True, capable=(4, 16), trained=(4, 4)), "01:00.0": drive}))
    done = call("discover", file, "--scenario", scenario, "--force", "--json")
    assert done.exit_code == 0, done.output
    ssd = engine.check(str(scenario))["plan"]["machine"]["ssd0"]  # type: ignore[index]
    told = [device["part"] for device in json.loads(done.stdout)["devices"]]
    return {"part": ssd["part"], "told": told[1], "text": scenario.read_text()}


def test_a_drive_is_recognised_by_its_ids(tmp_path: Path) -> None:
    known = of_drive(tmp_path, (0x1028, 0x215B))
    assert (known["part"], known["told"]) == ("samsung-pm9a3", "samsung-pm9a3")
    assert "recognised by 144d:a80a, subsystem 1028:215b" in known["text"]
    # the same chip is in drives of another kind
    other = of_drive(tmp_path, (0x144D, 0xA801))
    assert (other["part"], other["told"]) == ("generic-tlc-gen4", None)
    assert "generic, no part has 144d:a80a, subsystem 144d:a801" in other["text"]
    assert of_drive(tmp_path, (0x1987, 0x5016), ids=(0x1987, 0x5016))["part"] == "phison-e16"


def test_a_part_of_the_users_goes_before_that_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    text = "name: mine\nabout: Mine.\nmodel: nvme-ssd\ngrade: datasheet-only\n"
    own = tmp_path / "parts" / "mine.yaml"
    own.write_text(f"{text}pci:\n  - {{id: 144d:a80a, subsystems: [1028:215b], source: my own}}\n")
    assert of_drive(tmp_path, (0x1028, 0x215B))["part"] == "mine"
    assert of_drive(tmp_path, (0x1028, 0x215C))["part"] == "samsung-pm9a3"
    own.write_text(f"{text}pci:\n  - {{id: 144d:a80a, source: my own}}\n")
    assert of_drive(tmp_path, (0x144D, 0xA801))["part"] == "mine"


def test_a_switch_is_recognised_with_its_lanes(tmp_path: Path) -> None:
    ids = (0x11F8, 0x4000)
    x8 = (4, 8)
    drive = function(capable=(4, 4), trained=(4, 4))
    functions = {
        "00:01.0": function(port=True, buses=(1, 4), capable=x8, trained=x8),
        "01:00.0": function(kind="upstream", bus=1, buses=(2, 4), ids=ids, capable=x8, trained=x8),
        "02:00.0": function(kind="downstream", bus=2, buses=(3, 3), capable=(4, 4), trained=(4, 4), ids=ids),
        "03:00.0": drive,
    }
    file, scenario = tmp_path / "box.txt", tmp_path / "box.yaml"
    file.write_text(dump(functions))
    assert call("discover", file, "--scenario", scenario).exit_code == 0
    assert "part: microchip-switchtec-gen4" in scenario.read_text()
    assert call("run", scenario, "--out", tmp_path / "out").exit_code == 0


def test_a_record_is_the_same_machine_without_serial_numbers(box: Path) -> None:
    record = box.parent / "box.json"
    first = json.loads(call("discover", box, "--record", record, "--json").stdout)
    assert "1f5e1f5e" in box.read_text().replace(" ", "")
    assert "1f5e" not in record.read_text()
    second = json.loads(call("discover", record, "--json").stdout)
    assert second == first
    assert first["findings"]
    assert "RS006" in call("discover", box, "--record", record).stderr


def test_several_files_are_one_machine(box: Path) -> None:
    nvme, numa = box.parent / "nvme.json", box.parent / "numa.txt"
    nvme.write_text(
        json.dumps(
            {"Devices": [{"DevicePath": "/dev/nvme0n1", "ModelNumber": "A drive", "PhysicalSize": 4000}]}
        )
    )
    numa.write_text("available: 1 nodes (0)\nnode 0 cpus: 0 1 2\nnode 0 size: 2048 MB\n")
    said = call("discover", box, nvme, numa).stdout
    assert "NUMA node 0: CPUs 0-2, 2 GiB" in said
    assert "NVMe drive nvme0: A drive" in said
    assert "└─ 0000:01:00.0" in said


HWLOC = """<topology><object type="Machine">
<object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-04]">%s</object></object></topology>"""
EXPANDER = """<object type="PCIDev" pci_busid="0000:0%d:00.0" pci_type="0502 [8086:0d93] [0000:0000] 01">
<object type="OSDev" name="mem%d" subtype="CXLMem"><info name="CXLRAMSize" value="%dKiB"/></object>
</object>"""


def test_each_cxl_memory_has_a_port_of_the_host(tmp_path: Path) -> None:
    file, scenario = tmp_path / "box.xml", tmp_path / "box.yaml"
    file.write_text(HWLOC % "".join(EXPANDER % (nth, nth, nth << 18) for nth in (1, 2, 3)))
    done = call("discover", file, "--scenario", scenario)
    assert done.exit_code == 0, done.output
    assert "mem2 0.5 GiB" in done.stdout
    assert "its link is not told; taken as Gen5 x16" in scenario.read_text()
    plan = engine.check(str(scenario))["plan"]
    assert plan is not None
    assert [plan["machine"][f"cxl{nth}"]["capacity"] for nth in range(3)] == ["256MiB", "512MiB", "768MiB"]


HOSTILE = "<script>alert(1)</script> \"]; x [\\ =cmd|' /C calc'!A0"


@pytest.mark.parametrize("picture", ["svg", "html", "dot", "mermaid"])
def test_no_name_gets_out_of_a_picture(tmp_path: Path, picture: str) -> None:
    text = f"00:01.0 PCI bridge: {HOSTILE}\n\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n"
    (tmp_path / "box.txt").write_text(text + f"01:00.0 Something new: {HOSTILE}\n")
    done = call("discover", tmp_path / "box.txt", "--picture", picture)
    assert done.exit_code == 0, done.output
    assert "script" in done.stdout
    assert picture == "dot" or "<script" not in done.stdout
    if picture in ("svg", "html"):
        assert '"]' not in done.stdout
        assert done.stdout.count("=cmd") == done.stdout.count("script&gt; &quot;]") > 0
    else:
        # quotation marks stand around names alone
        lines = [line for line in done.stdout.splitlines() if "script" in line]
        assert lines
        assert all(line.count('"') == (4 if picture == "dot" else 2) for line in lines)


def test_the_drawing_has_each_link_as_trained_of_what_it_can(box: Path) -> None:
    drawn = call("discover", box, "--picture", "svg").stdout
    root = ElementTree.fromstring(drawn)  # noqa: S314 - drawn here
    bars = {
        one.get("class"): float(one.get("width", 0)) for one in root.iter("{http://www.w3.org/2000/svg}rect")
    }
    # a Gen5 x4 drive at Gen4 x2 has a quarter, and the widest link of the machine is x16
    assert bars == {"can": 45.0, "lacks": 11.2}
    page = call("discover", box, "--picture", "html").stdout
    assert page.startswith("<!doctype html>")
    assert "HW102" in page
    assert "src=" not in page


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


@pytest.mark.parametrize(
    "text", ["", "nothing\n", "00:01.0 x\n00: 11 22\n", "<svg/>", "{}", "available: 1 nodes\n"]
)
def test_text_that_is_no_dump_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "text.txt"
    file.write_text(text)
    done = call("discover", file)
    assert done.exit_code == 1
    assert str(file) in done.stderr.replace("\n", "")


def test_names_come_from_the_list_of_ids() -> None:
    text = "# a comment\n144d  Samsung Electronics Co Ltd\n\ta824  NVMe SSD\n\t\t144d a001  Some\n"
    text += "C 01  Storage\n\t06  SATA\n"
    assert _read(text) == {(0x144D, 0xA824): "Samsung Electronics Co Ltd NVMe SSD"}
