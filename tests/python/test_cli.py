"""The command line: the result on one stream, the rest on the other, and a status that tells."""

import json
import os
import re
import shutil
import subprocess
import sys
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from fake_core import FakeCore
from lanetwin.cli import app
from lanetwin.cli.app import BRANCHES, commands_of
from lanetwin.errors import Diagnostic, EngineBug, LanetwinError
from lanetwin.results import Results

FOLDER = Path("runs/slot-7c19e04b5d2f8a36")


def call(runner: CliRunner, *words: str) -> Result:
    """Run the command."""
    return runner.invoke(app, list(words))


def test_run_prints_the_result_and_says_where_the_report_lies(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "run", "slot.yaml")
    assert done.exit_code == 0
    assert "read-sweep" in done.stdout
    assert "card: DMA engine" in done.stdout
    assert "report.html" not in done.stdout
    assert str(FOLDER / "report.html") in done.stderr
    assert (FOLDER / "report.html").is_file()


def test_run_passes_on_what_was_asked(core: FakeCore, runner: CliRunner) -> None:
    words = [
        "--set",
        "links.slot.gen=4",
        "-s",
        "a.b=x=y",
        "--seed",
        "7",
        "-g",
        "tlp",
        "--threads",
        "2",
        "--out",
        "here",
    ]
    assert call(runner, "run", "slot.yaml", *words).exit_code == 0
    options = {
        "sets": ["links.slot.gen=4", "a.b=x=y"],
        "seed": 7,
        "granularity": "tlp",
        "threads": 2,
        "outside": False,
        "exports": {},
    }
    assert core.asked == [("run", "slot.yaml", options)]
    assert Path("here/report.html").is_file()


def test_run_as_json_prints_the_document_and_nothing_else(
    core: FakeCore, runner: CliRunner, results: Results
) -> None:
    done = call(runner, "run", "slot.yaml", "--json", "--quiet")
    assert json.loads(done.stdout) == results
    assert done.stderr == ""


def test_there_is_no_progress_where_nobody_watches(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "run", "slot.yaml")
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.output


def test_an_interrupted_run_keeps_what_it_has_and_says_so(
    core: FakeCore, runner: CliRunner, partial: Results
) -> None:
    core.answer = partial
    done = call(runner, "run", "slot.yaml")
    assert done.exit_code == 130
    assert "partial result: interrupted" in done.stdout
    assert json.loads(Path(f"{FOLDER}-partial/results.json").read_text(encoding="utf-8"))["complete"] is False


def test_an_aborted_run_leaves_nothing(core: FakeCore, runner: CliRunner) -> None:
    core.raises = KeyboardInterrupt()
    assert call(runner, "run", "slot.yaml").exit_code == 130
    assert list(Path().iterdir()) == []


def test_a_mistake_is_told_with_its_code_and_nothing_is_written(core: FakeCore, runner: CliRunner) -> None:
    core.raises = LanetwinError(
        "", [Diagnostic("SC001", "error", "unknown part", "see the list", "slot.yaml", 3, 4)]
    )
    done = call(runner, "run", "slot.yaml")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "error[SC001] slot.yaml:3:4" in done.stderr
    assert "help: see the list" in done.stderr
    assert list(Path().iterdir()) == []


def test_a_bug_of_ours_is_not_blamed_on_the_user(core: FakeCore, runner: CliRunner) -> None:
    core.raises = EngineBug("host/root-port-0 at 5 ns, seed 1")
    done = call(runner, "run", "slot.yaml")
    assert done.exit_code == 1
    assert done.stderr.startswith("bug in lanetwin: host/root-port-0 at 5 ns, seed 1")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "slot.yaml", "--set", "nonsense"],
        ["run", "slot.yaml", "--set", "=4"],
        ["run", "slot.yaml", "--seed", "-1"],
        ["run", "slot.yaml", "--granularity", "atoms"],
        ["run", "slot.yaml", "--threads", "0"],
        ["dance"],
        ["calc", "link-throughput"],
        ["calc", "nothing"],
    ],
)
def test_wrong_usage_is_told_apart(core: FakeCore, runner: CliRunner, words: list[str]) -> None:
    assert call(runner, *words).exit_code == 2
    assert core.asked == []


@pytest.mark.parametrize(("gate", "status"), [("better", 3), ("inconclusive", 3), ("worse", 0)])
def test_a_gate_fails_on_its_verdict_only(core: FakeCore, runner: CliRunner, gate: str, status: int) -> None:
    done = call(runner, "run", "slot.yaml", "--fail-on", gate)
    assert done.exit_code == status
    assert ("gate failed" in done.stderr) == (status == 3)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_tables_keep_cases_and_verdicts_on_any_width(
    core: FakeCore, runner: CliRunner, results: Results, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    third: Any = [{**verdict, "variant": "gen2"} for verdict in results["verdicts"]]
    rows: Any = [{**row, "variant": "gen2"} for row in results["rows"] if row["variant"] == "gen4"]
    core.answer = {**results, "rows": results["rows"] + rows, "verdicts": results["verdicts"] + third}
    shown = call(runner, "run", "slot.yaml", "--quiet", "--full").stdout
    assert max(map(cell_len, shown.splitlines())) <= width
    tables, limits = shown.split("What limits it")
    assert "latency" in limits
    for row in results["rows"]:
        assert f"\n{row['case']} " in tables
    said = [line for line in tables.splitlines() if any(v["verdict"] in line for v in results["verdicts"])]
    assert len(said) >= len(results["verdicts"])


def test_compare_reads_folders_and_files(core: FakeCore, runner: CliRunner, results: Results) -> None:
    call(runner, "run", "slot.yaml")
    shutil.copy(FOLDER / "results.json", "b.json")
    core.asked.clear()
    done = call(runner, "compare", str(FOLDER), "b.json", "--within", "0.01", "--out", "ab")
    assert done.exit_code == 0
    assert core.asked == [
        ("compare", "slot", "slot", {"margin": 0.01, "names": ["slot-7c19e04b5d2f8a36", "b"]})
    ]
    assert Path("ab/report.html").is_file()


def test_compare_names_the_file_that_is_at_fault(core: FakeCore, runner: CliRunner) -> None:
    Path("b.json").write_text("{}", encoding="utf-8")
    Path("c.json").write_bytes(b"\xff")
    core.raises = LanetwinError("", [Diagnostic(code="RS003", severity="error", message="foreign", file="B")])
    done = call(runner, "compare", "b.json", "b.json")
    assert done.exit_code == 1
    assert "error[RS003] b.json" in done.stderr
    for absent in ("nothing.json", "c.json"):
        done = call(runner, "compare", "b.json", absent)
        assert done.exit_code == 1
        assert f"error[RS001] {absent}" in done.stderr


def test_check_prints_all_mistakes_and_fails_on_errors_only(core: FakeCore, runner: CliRunner) -> None:
    warning = {"code": "SC020", "severity": "warning", "message": "unused part"}
    core.checked = {"diagnostics": [warning], "plan": {"links": {}}}
    done = call(runner, "check", "slot.yaml")
    assert (done.exit_code, done.stdout) == (0, "slot.yaml: ok, 1 warning\n")
    core.checked = {
        "diagnostics": [warning, {"code": "SC001", "severity": "error", "message": "no"}],
        "plan": None,
    }
    done = call(runner, "check", "slot.yaml", "--plan")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "1 error, 1 warning" in done.stderr


def test_check_prints_the_tree_of_each_variant_that_has_its_own(core: FakeCore, runner: CliRunner) -> None:
    tree = "-[0000:00]---00.0  host\n\n01:00.0 Endpoint: card\n"
    done = call(runner, "check", "slot.yaml", "--tree")
    assert (done.exit_code, done.stdout) == (0, tree)
    alone = (core.trees or [])[0]
    core.trees = [alone | {"variants": ["a", "b"]}, alone | {"variants": ["none"], "hosts": []}]
    done = call(runner, "check", "slot.yaml", "--tree")
    assert done.stdout == f"# variant a, b\n{tree}\n# variant none\nno PCIe links\n"
    found = json.loads(call(runner, "check", "slot.yaml", "--tree", "--json").stdout)
    assert found["trees"] == core.trees
    assert found["plan"] == core.checked["plan"]


def test_a_scenario_that_is_wrong_has_no_tree(core: FakeCore, runner: CliRunner) -> None:
    wrong = {"code": "SC064", "severity": "error", "message": "no number", "help": "fewer", "file": "s.yaml"}
    core.checked = {"diagnostics": [wrong], "plan": None}
    core.trees = None
    done = call(runner, "check", "slot.yaml", "--tree")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "SC064" in done.stderr


def test_check_prints_the_plan(core: FakeCore, runner: CliRunner) -> None:
    assert call(runner, "check", "slot.yaml", "--plan").stdout == "links:\n  slot:\n    gen: 3\n"


def test_new_writes_a_template_and_never_over_a_file(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "new")
    assert (done.exit_code, done.stdout) == (0, "slot.yaml\n")
    Path("slot.yaml").write_text("mine", encoding="utf-8")
    assert call(runner, "new", "slot").exit_code == 1
    assert Path("slot.yaml").read_text(encoding="utf-8") == "mine"
    assert call(runner, "new", "slot", "--force").exit_code == 0
    assert Path("slot.yaml").read_text(encoding="utf-8") == "about: a question\n"
    assert call(runner, "new", "slot", "-o", "-").stdout == "about: a question\n"
    assert "one card in one slot" in call(runner, "new", "--list").stdout


def test_help_fills_the_lines_and_leaves_examples(runner: CliRunner) -> None:
    page = call(runner, "exec", "--help").stdout
    assert "in\n LANETWIN_DEVICE: by NBD a URI, by NVMe/TCP" in re.sub(r" +\n", "\n", page)
    assert "  lanetwin exec bay.yaml --all -- fio" in page


def test_closed_forms_are_commands_with_the_engines_own_parameters(core: FakeCore, runner: CliRunner) -> None:
    assert "littles-law" in call(runner, "calc", "--help").stdout
    page = call(runner, "calc", "link-throughput", "--help").stdout
    assert "--max-payload" in page
    assert "default: 256B" in page
    assert "such as [512B]" in page
    assert "payload = raw · MPS" in page
    done = call(runner, "calc", "link-throughput", "--gen", "4", "--max-payload", "512B")
    assert done.exit_code == 0
    assert core.asked == [("calc", "link-throughput", {"gen": "4", "max_payload": "512B"})]
    assert "26.73" in done.stdout
    assert "raw × 256/280" in done.stdout
    answer = call(runner, "calc", "link", "--gen", "4", "--json").stdout
    assert json.loads(answer)["rows"][0]["value"] == 26.7263


def test_a_closed_form_answers_for_every_value_of_a_list(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "calc", "link-throughput", "--gen", "4, 5", "--max-payload", "256B,512B")
    assert done.exit_code == 0, done.output
    asked = [arguments for _, _, arguments in core.asked]
    assert asked == [{"gen": gen, "max_payload": size} for gen in "45" for size in ("256B", "512B")]
    assert done.stdout.count("26.73") == 4
    answers = json.loads(call(runner, "calc", "link-throughput", "--gen", "4,5", "--json").stdout)
    assert [answer["of"]["gen"] for answer in answers] == ["4", "5"]


def test_parts_are_listed_and_shown_and_their_words_are_no_markup(core: FakeCore, runner: CliRunner) -> None:
    for words in (["parts"], ["parts", "list"]):
        assert "An FPGA-like [bold] card" in call(runner, *words).stdout
    shown = call(runner, "parts", "show", "nfp-6000").stdout
    assert shown.startswith("name: nfp-6000\n")
    heading = next(line for line in shown.splitlines() if line.startswith("parameter "))
    assert heading.split() == ["parameter", "value", "kind", "origin"]
    for origin in ("80 ns", "a [guess]", "fitted to 64 B reads"):
        assert origin in shown
    assert json.loads(call(runner, "parts", "list", "--json").stdout)[0]["name"] == "nfp-6000"


def test_explain_prints_the_page_of_a_code_or_the_list(core: FakeCore, runner: CliRunner) -> None:
    assert call(runner, "explain", "sc001").stdout == "# SC001\n\nA part is not in the catalogue.\n"
    assert "unknown part" in call(runner, "explain").stdout


def test_schema_and_replay_are_printed(core: FakeCore, runner: CliRunner) -> None:
    assert json.loads(call(runner, "schema").stdout)["$schema"].startswith("https://json-schema.org/")
    assert call(runner, "replay", "c.json").stdout == "path: host/root-port-0\ntime: 1 ns\n"


def test_a_job_file_of_fio_is_shown_with_what_is_not_modelled(core: FakeCore, runner: CliRunner) -> None:
    shown = call(runner, "fio", "show", "a.fio").stdout
    for words in ("small [bold] reads", "randread", "zipf", "not modelled: fsync, verify"):
        assert words in shown
    found = json.loads(call(runner, "fio", "show", "a.fio", "--json").stdout)
    assert found["file"]["jobs"][0]["numjobs"] == 16


def test_a_configuration_of_iometer_is_shown_with_every_line_and_target(
    core: FakeCore, runner: CliRunner
) -> None:
    shown = call(runner, "iometer", "show", "a.icf").stdout
    assert "run time: 1 minutes 30 seconds" in shown
    assert "four [bold] loads" in shown
    for words in ("67", "65536", "Worker 1", "E:", "F:"):
        assert words in shown
    assert json.loads(call(runner, "iometer", "show", "a.icf", "--json").stdout) == core.configuration


def test_a_configuration_with_mistakes_is_not_shown(core: FakeCore, runner: CliRunner) -> None:
    mistake = {
        "code": "IO011",
        "severity": "error",
        "message": "shares add to 99",
        "file": "a.icf",
        "line": 3,
    }
    core.configuration = {"diagnostics": [mistake], "config": None}
    done = call(runner, "iometer", "show", "a.icf")
    assert done.exit_code == 1
    assert "IO011" in done.stderr
    assert done.stdout == ""


def test_commands_may_be_shortened_while_it_is_clear_which(core: FakeCore, runner: CliRunner) -> None:
    assert call(runner, "val").exit_code == 0
    assert call(runner, "c").exit_code == 2


@pytest.mark.parametrize(
    "command", [[], ["run"], ["check"], ["compare"], ["report"], ["validate"], ["new"], ["explain"]]
)
def test_every_command_explains_itself_with_an_example(
    core: FakeCore, runner: CliRunner, command: list[str]
) -> None:
    done = call(runner, *command, "-h")
    assert done.exit_code == 0
    assert not command or f"lanetwin {command[0]}" in done.stdout


def lanetwin(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a user does."""
    program = [sys.executable, "-m", "lanetwin", *words]
    return subprocess.run(
        program, capture_output=True, text=True, check=False, env=os.environ | environment, timeout=60
    )


def test_the_installed_command_knows_its_version() -> None:
    assert lanetwin("--version").stdout.startswith("lanetwin 0.")


def test_an_error_ends_without_a_traceback(tmp_path: Path) -> None:
    done = lanetwin("run", str(tmp_path / "missing.yaml"), NO_COLOR="1")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error")
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


def test_colour_is_off_when_it_is_not_wanted(core: FakeCore, runner: CliRunner) -> None:
    forced: dict[str, Any] = {"FORCE_COLOR": "1", "TERM": "xterm"}
    coloured = runner.invoke(app, ["run", "slot.yaml", "--full"], env=forced)
    plain = runner.invoke(app, ["run", "slot.yaml", "--full"], env=forced | {"NO_COLOR": "1"})
    assert "\x1b[32m" in coloured.stdout
    assert "\x1b[32m" not in plain.stdout


def test_run_prints_what_each_of_several_devices_got(
    several: Results, core: FakeCore, runner: CliRunner
) -> None:
    core.answer = several
    lines = call(runner, "run", "slot.yaml", "--full").stdout.splitlines()
    start = lines.index("load: by device")
    assert re.split(r" {2,}", lines[start + 1].strip()) == [
        *("case", "variant", "device", "throughput [Gb/s]", "mean [ns]", "p99 [ns]", "max [ns]")
    ]
    first, second = (re.split(r" {2,}", line.strip()) for line in lines[start + 3 : start + 5])
    assert first[:3] == ["1 outstanding", "as-is", "card1"]
    assert first[-1].startswith("8\u202f000")
    assert second[0] == "card2"
    assert second[-1].startswith("9\u202f000")
    assert lines.index("load: throughput [Gb/s]") < start


def test_a_long_table_of_devices_shows_its_ends(several: Results, core: FakeCore, runner: CliRunner) -> None:
    core.answer = several
    for row in [row for row in several["rows"] if row.get("device") == "card2"]:
        several["rows"] += [{**row, "device": f"card{n}"} for n in range(3, 7)]
    shown = call(runner, "run", "slot.yaml", "--full").stdout
    table = shown.split("read-sweep: by device (first and last case; the report has all)")[1].split("\n\n")[0]
    assert "16 B" in table
    assert "2048 B" in table
    assert "card6" in table
    assert "64 B" not in table


def test_every_module_has_the_commands_that_the_trunk_knows_of_it() -> None:
    for modules in BRANCHES.values():
        for module, commands in modules.items():
            assert tuple(commands_of(module)) == commands


def test_a_command_imports_no_report_that_it_does_not_write() -> None:
    code = "import sys, lanetwin.cli as cli\ntry: cli.main()\nfinally: print([*sys.modules], file=sys.stderr)"
    program = [sys.executable, "-c", code, "schema"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    imported = set(literal_eval(done.stderr.splitlines()[-1]))
    assert "lanetwin.cli.documents" in imported
    assert not {"jinja2", "lanetwin.report", "lanetwin.ui"} & imported
