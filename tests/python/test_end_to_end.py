"""The installed command and the real engine, from a file to a folder of results, as a user meets them."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest
import yaml

from lanetwin.numbers import NARROW_SPACE, significant
from lanetwin.results import load
from lanetwin.transits import passages

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from lanetwin import _core
except ImportError as error:  # pragma: no cover
    pytest.skip(f"the engine is not built (make install): {error}", allow_module_level=True)

TREE = Path(__file__).parents[2]
SCENARIOS = sorted((TREE / "scenarios").glob("*.yaml"))
TEMPLATES: list[str] = [template["name"] for template in json.loads(_core.templates())]
COMMAND = Path(sys.executable).with_name("lanetwin")

SLOT = """\
about: What does this card get out of this slot?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card}
workloads:
  read: {dma: {size: 64B, transfers: 500}, on: card}
run: {repeats: 2}
"""
"""A scenario with nothing wrong in it; its links are in line 6, its workload in line 8."""


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not installed (make install)")
    done = subprocess.run(
        [COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def folder_of_the_run(folder: Path) -> Path:
    """Return the only folder in `runs/`."""
    (only,) = (folder / "runs").iterdir()
    return only


def test_a_run_leaves_all_its_files_and_says_where(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SLOT, encoding="utf-8")
    done = call(tmp_path, "run", "slot.yaml")
    assert done.returncode == 0
    assert "Gb/s" in done.stdout
    kept = folder_of_the_run(tmp_path)
    assert f"{kept.relative_to(tmp_path)}/report.html" in done.stderr
    results = json.loads((kept / "results.json").read_text(encoding="utf-8"))
    assert results["complete"] is True
    assert kept.name == f"slot-{results['digest']}"
    assert {file.name for file in kept.iterdir()} == {"plan.yaml", "report.html", "results.json", "rows.csv"}


def test_the_plan_of_a_run_gives_the_run_again(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SLOT, encoding="utf-8")
    first = json.loads(call(tmp_path, "run", "slot.yaml", "--set", "links.slot.gen=3", "--json").stdout)
    plan = folder_of_the_run(tmp_path) / "plan.yaml"
    again = json.loads(call(tmp_path, "run", str(plan), "--json").stdout)
    assert again["digest"] == first["digest"]
    assert again["rows"] == first["rows"]


BAD_INPUT = {
    "unknown part": ("SC011", 3, "generic-host-gen4", "generic-host-gen9"),
    "wrong unit": ("SC008", 8, "size: 64B", "size: 64ns"),
    "no unit": ("SC008", 8, "size: 64B", "size: 64"),
    "impossible width": ("SC021", 6, "to: card", "to: card, width: x3"),
    "unconnected port": ("SC018", 4, "  slot: {from: host, to: card}", "  {}"),
    "duplicate name": ("SC004", 4, "  card: {part: generic-dma-gen5}", "  host: {part: generic-dma-gen5}"),
    "payload of 0 B": ("SC027", 8, "size: 64B", "size: 0B"),
    "more payload than a port supports": ("SC026", 6, "to: card", "to: card, mps: 4KiB"),
    "buffer below a TLP": ("SC041", 3, "gen4}", "gen4, port.posted-data-credits: 8}"),
    "no YAML": ("SC001", 7, "to: card}", "to: card"),
}


@pytest.mark.parametrize("mistake", BAD_INPUT)
def test_bad_input_is_told_with_code_place_and_remedy_and_nothing_is_written(
    tmp_path: Path, mistake: str
) -> None:
    code, line, right, wrong = BAD_INPUT[mistake]
    assert SLOT.count(right) == 1
    (tmp_path / "slot.yaml").write_text(SLOT.replace(right, wrong), encoding="utf-8")
    for verb in ("check", "run"):
        done = call(tmp_path, verb, "slot.yaml")
        assert (done.returncode, done.stdout) == (1, "")
        told = re.findall(r"^error\[(SC\d+)\] slot\.yaml:(\d+):\d+", done.stderr, re.MULTILINE)
        assert (code, str(line)) in told, done.stderr
        assert "help: " in done.stderr
        assert [file.name for file in tmp_path.iterdir()] == ["slot.yaml"]
    page = call(tmp_path, "explain", code)
    assert page.returncode == 0
    assert page.stdout.startswith(f"# {code}")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = SLOT.replace("to: card", "to: card, width: x3, mps: 4KiB").replace("64B", "0B")
    (tmp_path / "slot.yaml").write_text(text, encoding="utf-8")
    told = re.findall(r"^error\[(SC\d+)\]", call(tmp_path, "run", "slot.yaml").stderr, re.MULTILINE)
    assert set(told) == {"SC021", "SC026", "SC027"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = call(tmp_path, "run", "nothing.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[SC002]" in done.stderr
    assert "nothing.yaml" in done.stderr
    assert "help: " in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["run"], ["run", "a.yaml", "--seed", "minus-one"], ["run", "a.yaml", "--set", "x"], ["fly"]]
)
def test_wrong_usage_ends_with_2(tmp_path: Path, words: list[str]) -> None:
    done = call(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert list(tmp_path.iterdir()) == []


# --- Ctrl-C and progress ------------------------------------------------------------------------------------

LONG = SLOT.replace("size: 64B, transfers: 500", "size: [64B, 128B, 256B, 512B], transfers: 20000").replace(
    "repeats: 2", "repeats: 100"
)
PATIENCE = 60.0
"""Nothing that is waited for here takes as long [s]."""


def screen(terminal: int) -> Iterator[str]:
    """Give what a program writes to its terminal, piece by piece, until it ends."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux: the other end has been closed
            return
        if not piece:
            return
        yield piece.decode(errors="replace")
    pytest.fail("the program neither ends nor says anything more")


def test_ctrl_c_keeps_what_is_finished_and_marks_it(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(LONG, encoding="utf-8")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    words = [str(COMMAND), "run", "slot.yaml", "--threads", "1"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
    ) as program:
        os.close(theirs)
        seen, interrupted = "", False
        for piece in screen(ours):
            seen += piece
            done = [int(number) for number in re.findall(r"(\d+)/400", seen)]
            # the first case has 100 repeats: after them there is something to keep
            if not interrupted and done and done[-1] > 100:
                program.send_signal(signal.SIGINT)
                interrupted = True
        assert program.stdout is not None
        shown = program.stdout.read()
        status = program.wait(PATIENCE)
    os.close(ours)
    assert interrupted, seen
    # progress went up and named what was being done
    assert done == sorted(done)
    assert "as-is · read · 64 B" in seen
    assert "stopping" in seen
    assert status == 130, seen
    assert "partial result: interrupted" in shown
    kept = folder_of_the_run(tmp_path)
    assert kept.name.endswith("-partial")
    results = json.loads((kept / "results.json").read_text(encoding="utf-8"))
    assert (results["complete"], results["stopped"]) == (False, "interrupted")
    cases = {row["case"] for row in results["rows"]}
    assert "64 B" in cases
    assert "512 B" not in cases
    assert "interrupted" in (kept / "report.html").read_text(encoding="utf-8")
    again = call(tmp_path, "compare", str(kept), str(kept))
    assert "64 B" in again.stdout, again.stderr


def test_there_is_no_progress_where_nobody_watches(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SLOT, encoding="utf-8")
    done = call(tmp_path, "run", "slot.yaml")
    assert done.stderr.startswith("Report: ")
    assert "\x1b" not in done.stderr + done.stdout
    assert "events in" not in done.stderr


def test_what_a_run_took_is_told_if_asked_and_changes_no_digest(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SLOT, encoding="utf-8")
    done = call(tmp_path, "run", "slot.yaml", "--cost", "--quiet", "--out", "one")
    events, rest = done.stderr.split(" events in ")
    assert int(events.replace(NARROW_SPACE, "")) > 1000
    assert rest.startswith(tuple("0123456789"))
    assert "s of CPU time" in rest
    call(tmp_path, "run", "slot.yaml", "--out", "two")
    one, two = (json.loads((tmp_path / name / "results.json").read_text("utf-8")) for name in ("one", "two"))
    assert one["digest"] == two["digest"]
    if sys.platform == "linux":
        assert "peak memory" in rest
        assert 1e7 < one["cost"]["peak_memory_bytes"] < 1e10


# --- the schema, read by somebody else ----------------------------------------------------------------------

SCHEMA: dict[str, Any] = json.loads(_core.schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


RESOLVERS = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:bool"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Yaml12: Any = type("Yaml12", (yaml.SafeLoader,), {"yaml_implicit_resolvers": RESOLVERS})
"""PyYAML reads YAML 1.1; in YAML 1.2 `on` and `off` are words, only `true` and `false` are truth values."""
Yaml12.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def mistakes(text: str) -> list[str]:
    """Return what the schema has against a document."""
    document = yaml.load(text, Yaml12)  # noqa: S506 - a SafeLoader
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: cast("Path", path).stem)
def test_every_scenario_is_valid(scenario: Path) -> None:
    assert mistakes(scenario.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_valid(name: str) -> None:
    assert mistakes(_core.template(name)) == []


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("about: What does this card get out of this slot?\n", "", "$"),
        ("workloads:", "work:", "$"),
        ("{from: host, to: card}", "{from: host}", "$.links.slot"),
        ("to: card", "to: card, width: x3", "$.links.slot.width"),
        ("to: card", "to: card, gen: 9", "$.links.slot.gen"),
        ("to: card", "to: card, colour: red", "$.links.slot"),
        ("size: 64B", "size: 64ns", "$.workloads.read.dma.size"),
        ("transfers: 500", "transfers: many", "$.workloads.read.dma.transfers"),
        ("part: generic-host-gen4", "part: [generic-host-gen4]", "$.machine.host.part"),
    ],
)
def test_broken_scenarios_are_not_valid(right: str, wrong: str, place: str) -> None:
    assert mistakes(SLOT) == []
    assert SLOT.count(right) == 1
    found = mistakes(SLOT.replace(right, wrong))
    assert any(mistake.startswith(f"{place}:") for mistake in found), found


def test_a_sample_of_iometer_is_shown_without_a_doubt(tmp_path: Path) -> None:
    sample = TREE / "scenarios/iometer/idt-2004.07.30.icf"
    shown = call(tmp_path, "iometer", "show", str(sample))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "2 MiB sequential reads" in shown.stdout
    config = json.loads(call(tmp_path, "iometer", "show", str(sample), "--json").stdout)["config"]
    assert [line["share"] for line in config["specs"][2]["lines"]] == [67, 33]
    missing = call(tmp_path, "iometer", "show", "missing.icf")
    assert missing.returncode == 1
    assert "IO001" in missing.stderr


ADAPTERS = """\
about: Does Iometer notice the switch?
machine:
  hba: {part: emulex-lpe12002}
  host: {part: supermicro-x7dwn-intel-5400}
  sw: {part: idt-89pes16t4g2}
links:
  slot: {from: sw, to: hba}
  up: {from: host, to: sw}
workloads:
  disks:
    iometer: {file: idt.icf, spec: 2 MiB sequential reads, requests: 8}
    on: host
    target: [hba.lun0, hba.lun1]
variants:
  direct: {machine.sw: null, links.up: null, links.slot.from: host}
  switched: {}
run: {repeats: 1, warm-up: 2}
"""
"""Two drives of Iometer, with and without a switch."""


def test_a_configuration_of_iometer_runs_and_leaves_its_results_file(tmp_path: Path) -> None:
    sample = (TREE / "scenarios/iometer/idt-2004.07.30.icf").read_bytes()
    (tmp_path / "idt.icf").write_bytes(sample)
    (tmp_path / "disks.yaml").write_text(ADAPTERS, encoding="utf-8")
    done = call(tmp_path, "run", "disks.yaml", "--full")
    assert done.returncode == 0, done.stderr
    assert "Iometer's metrics" in done.stdout
    kept = folder_of_the_run(tmp_path)
    results = json.loads((kept / "results.json").read_text(encoding="utf-8"))
    assert results["scenario"]["files"] == {"idt.icf": sample.decode()}
    assert any("run time" in text for text in results["not_modelled"])

    metrics = {(m["variant"], m["metric"]): m for m in results["iometer"]}
    rows = {(row["variant"], row["metric"]): row["value"] for row in results["rows"] if not row.get("device")}
    for variant in ("direct", "switched"):
        decimal = metrics[variant, "Total MBs per Second (Decimal)"]["value"]
        binary = metrics[variant, "Total MBs per Second (Binary)"]["value"]
        assert decimal == pytest.approx(binary * 2**20 / 10**6)
        assert decimal == pytest.approx(rows[variant, "throughput"], rel=0.05)
        lines = (kept / f"iometer-{variant}.csv").read_bytes().decode().split("\r\n")
        heads = next(line for line in lines if line.startswith("'Target Type")).split(",")
        cells = next(line for line in lines if line.startswith("ALL,")).split(",")
        assert len(heads) == 56
        # what this version of Iometer calls MB has 2^20 B
        assert float(cells[heads.index("MBps")]) == pytest.approx(binary, abs=1e-6)
        assert sum(line.startswith("DISK,hba.lun") for line in lines) == 2

    page = (kept / "report.html").read_text(encoding="utf-8")
    section = page.split('<section id="iometer">')[1].split("</section>")[0]
    assert section.index("Total MBs per Second (Decimal) [MB/s]") < section.index("Total Error Count")
    assert re.search("Connections per Second.{,120}No worker tests connections", section, re.DOTALL)

    # the plan has the text of the file: the run needs it no longer
    (tmp_path / "idt.icf").unlink()
    again = json.loads(call(tmp_path, "run", str(kept / "plan.yaml"), "--json").stdout)
    assert (again["digest"], again["iometer"]) == (results["digest"], results["iometer"])
    assert again["attachments"] == results["attachments"]


def test_a_worker_of_iometer_opens_and_closes_its_drive_and_all_seven_families_have_values(
    tmp_path: Path,
) -> None:
    """Connections are counted and timed; cores tell their modes, and adapters of NVMe/TCP their packets."""
    shutil.copytree(TREE / "scenarios/iometer", tmp_path / "iometer")
    scenario = (TREE / "scenarios/iometer-connections.yaml").read_text("utf-8")
    (tmp_path / "s.yaml").write_text(scenario.replace("requests: 4000", "requests: 1200"), "utf-8")
    done = call(tmp_path, "run", "s.yaml", "--set", "run.repeats=1", "--json")
    assert done.returncode == 0, done.stderr
    assert "IO106" not in done.stderr
    told = {
        (one["variant"], one["metric"]): one
        for one in json.loads(done.stdout)["iometer"]
        if not one.get("of")
    }

    def value(variant: str, metric: str) -> float:
        found = told[variant, metric]["value"]
        assert found is not None, told[variant, metric]
        return float(found)

    for variant in ("in-the-server", "nvme-tcp"):
        # forty transactions to each connection, but for those that the ends of the window cut
        rate = value(variant, "Total I/Os per Second") / value(variant, "Connections per Second")
        assert rate == pytest.approx(40, rel=0.05)
        # each begins when the one before has ended
        average = value(variant, "Average Connection Time") / 1e3
        assert average * value(variant, "Connections per Second") == pytest.approx(1, rel=0.05)
        assert value(variant, "Maximum Connection Time") >= value(variant, "Average Connection Time")
        assert value(variant, "Packet Errors") == 0
        assert value(variant, "TCP Segments Retransmitted per Second") == 0
        assert 0 < value(variant, "% CPU Utilization (total)") < 100
    near = "in-the-server"
    busy = value(near, "% CPU Utilization (total)")
    assert value(near, "% User Time") + value(near, "% Privileged Time") == pytest.approx(busy, rel=0.05)
    within = value(near, "% DPC Time") + value(near, "% Interrupt Time")
    assert 0 < within < value(near, "% Privileged Time")
    # an interrupt is told of one completion or of several
    assert 0.5 < value(near, "Interrupts per Second") / value(near, "Total I/Os per Second") <= 1.01
    assert value(near, "Network Packets per Second") == 0
    # a command and an answer at least
    assert value("nvme-tcp", "Network Packets per Second") > 2 * value("nvme-tcp", "Total I/Os per Second")
    for mode in ("% User Time", "Interrupts per Second"):
        assert "Only drivers of NVMe drives" in told["nvme-tcp", mode]["not_modelled"]
    sheet = (folder_of_the_run(tmp_path) / "iometer-nvme-tcp.csv").read_bytes().decode().split("\r\n")
    heads = next(line for line in sheet if line.startswith("'Target Type")).split(",")
    cells = next(line for line in sheet if line.startswith("WORKER,")).split(",")
    assert int(cells[heads.index("Connections")]) > 0
    assert cells[heads.index("Transactions per Connection")] == "40"


def test_a_mistake_in_a_configuration_of_iometer_is_told_with_its_place(tmp_path: Path) -> None:
    text = (TREE / "scenarios/iometer/idt-2004.07.30.icf").read_text(encoding="utf-8")
    (tmp_path / "disks.yaml").write_text(ADAPTERS, encoding="utf-8")
    missing = call(tmp_path, "check", "disks.yaml")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "error[IO001] idt.icf" in missing.stderr
    assert "workloads.disks.iometer.file" in missing.stderr
    (tmp_path / "idt.icf").write_text(text.replace("65536,33,0,", "65536,34,0,"), encoding="utf-8")
    line = 1 + next(n for n, line in enumerate(text.splitlines()) if "67 % 2 MiB" in line)
    wrong = call(tmp_path, "run", "disks.yaml")
    assert wrong.returncode == 1
    assert f"error[IO011] idt.icf:{line}:" in wrong.stderr, wrong.stderr
    assert list((tmp_path).glob("runs")) == []


def test_the_guide_shows_the_times_in_switches_that_are_there(tmp_path: Path) -> None:
    guide = (TREE / "docs" / "report.md").read_text(encoding="utf-8")
    shown = guide[guide.index("In the switches [ns]") :]
    shown = shown[: shown.index("```")]
    scenario = TREE / "scenarios" / "switch-latency.yaml"
    (tmp_path / scenario.name).write_text(scenario.read_text(encoding="utf-8"), encoding="utf-8")
    done = call(tmp_path, "run", scenario.name, "--full")
    assert "In the switches [ns]" in done.stdout
    found = {}
    for passage in passages(load(folder_of_the_run(tmp_path))):
        one = passage.transit
        numbers = [significant(value) for value in (one["idle"], one["median"], one["p99"], one["longest"])]
        words = (one["workload"], one["variant"], passage.way, passage.tlp, one["widths"], *numbers)
        found[one["workload"], one["variant"]] = " ".join(words)
    lines = [" ".join(line.split()) for line in shown.splitlines() if "cut-through" in line]
    assert lines == [found[workload, "cut-through"] for workload in ("alone", "together", "busy")]


def test_the_tree_of_a_scenario_has_every_drive_and_its_bus() -> None:
    done = call(TREE, "check", "scenarios/hot-plug.yaml", "--tree")
    assert done.returncode == 0
    buses = re.findall(r"-\[([0-9a-f]{2})\]----00\.0  (ssd\d)", done.stdout)
    assert buses == [("03", "ssd1"), ("04", "ssd2"), ("05", "ssd3"), ("06", "ssd4")]
    assert "Memory behind bridge: 80000000-803fffff" in done.stdout
    assert "# variant" not in done.stdout  # an outage changes no number
