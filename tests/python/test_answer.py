"""The answer on a terminal: short, in units that fit, with what limits it; every table on request."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner, Result

from fake_core import FakeCore
from lanetwin import engine
from lanetwin.cli import app
from lanetwin.fit import brief, fitting
from lanetwin.measured.document import document_of
from lanetwin.results import Results
from lanetwin.summary import unique
from test_report_in_browser import SCENARIOS, TWO_BY_TWO

MOST_LINES = 25
"""Two variants of two cases are answered in so many lines."""
SMALL = (
    "hot-plug",
    "iometer-connections",
    "iometer-managers",
    "iometer-network",
    "page-status",
    "slots",
    "two-cards",
)
"""Shipped scenarios of at most two variants and two cases."""
FIRST_SCREEN = 30
"""Three variants of four workloads, which is what the demo has."""
DEPTHS = """
about: From which queue depth on is the drive full?
machine:
  cpu: {part: amd-epyc-9554}
  ssd: {part: intel-p5800x}
links:
  slot: {from: cpu, to: ssd}
workloads:
  rand:
    block: {size: 4KiB, depth: [1, 2, 4, 8, 16, 32, 64, 128], span: 100GB, requests: 300}
    on: cpu
    target: ssd
run: {repeats: 1}
"""


def call(runner: CliRunner, *words: str) -> Result:
    """Run the command."""
    return runner.invoke(app, list(words))


LONG_NAMES = {
    "  read:": "  reads-of-the-card-from-memory-at-once:",
    "x16: {}": "all-of-the-lanes-of-that-slot: {}",
}
LONG_NAMES |= {"  x8: {links": "  half-of-the-lanes-of-that-slot: {links"}
LONG_NAMES |= {"baseline: x16": "baseline: all-of-the-lanes-of-that-slot"}


def test_names_of_thirty_characters_take_no_more_lines(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = TWO_BY_TWO
    for short, long in LONG_NAMES.items():
        assert short in text
        text = text.replace(short, long)
    Path("s.yaml").write_text(text, encoding="utf-8")
    done = call(runner, "run", "s.yaml")
    lines = done.stdout.splitlines()
    assert len(lines) <= MOST_LINES, done.stdout
    assert "A all-of-the-lanes-of-that-slot, B half-of-the-lanes-of-that-slot" in " ".join(lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [80, 100, 160])
def test_two_variants_of_two_cases_take_few_lines(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Path("s.yaml").write_text(TWO_BY_TWO, encoding="utf-8")
    done = call(runner, "run", "s.yaml")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert len(lines) <= MOST_LINES
    assert lines[0].rstrip() == "Does this card need all the lanes of this slot?"
    for words in (
        "x16",
        "x8",
        "64 B",
        "4 KiB",
        "throughput",
        "latency",
        "p99",
        "limited by",
        "closest behind it",
    ):
        assert words in done.stdout, words


@pytest.mark.parametrize("name", SMALL)
def test_shipped_scenarios_of_two_by_two_take_few_lines(
    name: str, runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = engine.run(str(SCENARIOS / f"{name}.yaml"), outside=True)
    cases = {(row["workload"], row["case"]) for row in results["rows"]}
    assert len({row["variant"] for row in results["rows"]}) <= 2, "it is not of this class any more"
    assert len(cases) <= 2, "it is not of this class any more"
    monkeypatch.setattr(engine, "run", lambda *_, **__: results)
    for width in (80, 100, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = call(runner, "run", str(SCENARIOS / f"{name}.yaml")).stdout.splitlines()
        assert 0 < len(lines) <= MOST_LINES, lines
        assert lines[0].startswith(results["about"].split()[0]), "first of all, what is asked"


def test_long_names_of_cases_go_on_from_line_to_line(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    scenario = str(SCENARIOS / "iometer-managers.yaml")
    lines = call(runner, "run", scenario, "--set", "run.repeats=1").stdout.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 120
    numbers = [line for line in lines if line.rstrip().endswith("worse")]
    assert len(numbers) == 8, "a line for each metric of each case, both variants in it"
    start = next(line for line in lines if line.startswith("workload")).index("case")
    said = " ".join(" ".join(line[start : start + 25].split()) for line in numbers[4:])
    assert said == "4 KiB random reads + 16 KiB log + 128 KiB sequential reads + 128 KiB sequential writes"


def test_a_sweep_of_one_variant_is_a_line_for_each_value(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    Path("s.yaml").write_text(DEPTHS, encoding="utf-8")
    lines = call(runner, "run", "s.yaml").stdout.splitlines()
    assert len(lines) <= MOST_LINES
    numbers = lines[: next(n for n, line in enumerate(lines) if "limited by" in line)]
    told = [line for line in numbers if "in flight" in line]
    assert [line.split()[:2] for line in told][1:] == [["4", "KiB,"]] * 7
    # 300 requests, five times over
    assert [line for line in lines if "p99 NOT SETTLED (latency: " in line]
    assert all("GB/s" in line or "MB/s" in line for line in told)


def test_long_names_of_variants_and_workloads_are_not_cut(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    block = "block: {size: 4KiB, span: 1GiB, requests: 50}, on: cpu, target: ssd"
    jobs = "".join(f"  an-uncommonly-long-name-{nth}: {{{block}}}\n" for nth in range(6))
    widths = {"not-changed": "x4", "half-of-the-lanes-only": "x2", "one-lane": "x1"}
    variants = "variants:\n" + "".join(
        f"  {name}: {{links.slot.width: {width}}}\n" for name, width in widths.items()
    )
    head = DEPTHS.split("workloads:")[0]
    Path("s.yaml").write_text(f"{head}workloads:\n{jobs}{variants}", encoding="utf-8")
    shown = call(runner, "run", "s.yaml").stdout
    for name in (
        "half-of-the-lanes-only",
        "one-lane",
        *(f"an-uncommonly-long-name-{nth}" for nth in range(6)),
    ):
        assert name in shown, name
    assert "…" not in shown.split("workload ")[1]


@pytest.mark.parametrize("name", ["demo", "pm1743", "retimer", "oversubscription", "cxl-expander", "cmm-h"])
def test_no_value_is_in_a_unit_that_does_not_fit(name: str, runner: CliRunner) -> None:
    done = call(runner, "run", str(SCENARIOS / f"{name}.yaml"), "--set", "run.repeats=1")
    assert done.exit_code == 0
    assert not re.search(r"\d\u202f\d{3}(?!\u202f%)", done.stdout), (
        "four digits before the point have a larger unit"
    )
    assert max(map(len, done.stdout.splitlines())) <= 120


THREE = """
about: Which slot does the card need?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card, width: x16}
workloads:
  read: {dma: {operation: read, size: [64B, 4KiB], outstanding: 64, transfers: 300}, on: card, target: host}
variants:
  sixteen-lanes: {}
  eight-lanes: {links.slot.width: x8}
  four-lanes: {links.slot.width: x4}
compare: {baseline: sixteen-lanes, equivalent_within: 2%}
run: {repeats: 2}
"""


@pytest.mark.parametrize(("width", "has_values"), [(80, False), (120, True)])
def test_three_variants_take_as_few_lines_as_two(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch, width: int, *, has_values: bool
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Path("s.yaml").write_text(THREE, encoding="utf-8")
    lines = call(runner, "run", "s.yaml").stdout.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= width
    throughput = next(line for line in lines if " throughput " in line)
    assert throughput.count("▼") == 2
    assert throughput.count("Gb/s") == (3 if has_values else 1)
    legend = next(line for line in lines if "▲ better" in line)
    assert ("their change from sixteen-lanes" in legend) != has_values


@pytest.mark.parametrize("width", [80, 100, 160])
def test_the_first_command_of_a_newcomer_fits_a_screen(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call(runner, "run", str(SCENARIOS / "demo.yaml"), "--set", "run.repeats=2").stdout.splitlines()
    assert len(lines) <= FIRST_SCREEN
    assert max(map(len, lines)) <= width
    numbers = [line for line in lines if re.search("(throughput|latency) +[0-9]", line)]
    assert len(numbers) == 8, "a line for each metric of each workload, all variants in it"


def test_how_long_many_workloads_were_measured_is_one_line(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    scenario = str(SCENARIOS / "retimer.yaml")
    shown = call(runner, "run", scenario, "--set", "run.repeats=2").stdout
    assert re.search(r"^Measured: each workload \S+ … \S+\sk operations in .* … .*\sms *$", shown, re.M)
    # of too few for a tail, as of all but one
    assert len(re.findall("p99 NOT SETTLED", shown)) == 1
    assert "Why: --full" in shown
    assert "all but x2: NOT STEADY" in shown


def test_cases_that_were_not_steady_are_named_wherever_they_stand(core: FakeCore, runner: CliRunner) -> None:
    call(runner, "run", "slot.yaml", "--out", "kept")
    stored = Path("kept/results.json")
    results = json.loads(stored.read_text(encoding="utf-8"))
    sweep = [row for row in results["rows"] if row["workload"] == "read-sweep"]
    cases = unique(row["case"] for row in sweep)
    before = call(runner, "report", "kept").stdout
    for row in sweep:
        row["steady"] = {"condition": "not-steady", "of": "rate", "range": 0.3, "slope": 0.2}
    stored.write_text(json.dumps(results), encoding="utf-8")
    shown = call(runner, "report", "kept").stdout
    telling = re.search(r"^read-sweep, (.*): NOT STEADY", shown, re.M)
    assert telling is not None
    others = [case for case in cases if case != telling[1]]
    assert len(others) > 0
    assert "NOT STEADY in other cases" not in before
    assert f"read-sweep: NOT STEADY in other cases: {'; '.join(others[:3])}" in shown


def test_a_limit_that_changes_from_case_to_case_is_told_of_each(core: FakeCore, runner: CliRunner) -> None:
    rows = [row for row in core.answer["rows"] if row["variant"] == core.answer["rows"][0]["variant"]]
    workload, variant = rows[0]["workload"], rows[0]["variant"]
    cases = list(dict.fromkeys(row["case"] for row in rows if row["workload"] == workload))
    assert len(cases) > 2
    core.answer["rows"] = [row for row in rows if row["workload"] == workload]
    core.answer["verdicts"] = []
    core.answer["bottlenecks"] = [
        {
            "variant": variant,
            "workload": workload,
            "case": case,
            "name": "slot: up" if nth < len(cases) - 1 else "card: engines",
            "why": "all are busy",
        }
        for nth, case in enumerate(cases)
    ]
    told = call(runner, "run", "slot.yaml", "--force").stdout.split("limited by", 1)[1]
    assert f"{cases[0]} … {cases[-2]}" in told
    assert "slot: up" in told
    assert told.count(cases[-1]) == 1
    assert "card: engines" in told


def test_every_table_is_printed_on_request(core: FakeCore, runner: CliRunner) -> None:
    short, full = (call(runner, "run", "slot.yaml", *words).stdout for words in ([], ["--full"]))
    assert "read-sweep: throughput [Gb/s]" in full
    assert "read-sweep: throughput [Gb/s]" not in short
    assert len(short.splitlines()) < len(full.splitlines())


def test_many_variants_take_a_line_each(runner: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    scenario = str(SCENARIOS / "retimer.yaml")
    shown = call(runner, "run", scenario, "--set", "run.repeats=1").stdout
    lines = [line for line in shown.splitlines() if line.startswith(("montage ", "montage-twice ", "x2 "))]
    assert len(lines) == 3
    assert "▲ better" in shown


def test_stored_results_are_shown_again(core: FakeCore, runner: CliRunner, results: Results) -> None:
    shown = call(runner, "run", "slot.yaml", "--out", "kept").stdout
    before = Path("kept/results.json").read_bytes()
    Path("kept/report.html").write_text('<meta name="generator" content="lanetwin 0.0.1">', encoding="utf-8")
    done = call(runner, "report", "kept")
    assert (done.exit_code, done.stdout) == (0, shown)
    assert results["about"] in Path("kept/report.html").read_text(encoding="utf-8")
    assert Path("kept/results.json").read_bytes() == before
    assert json.loads(call(runner, "report", "kept/results.json", "--json").stdout) == results
    done = call(runner, "report", "kept", "--out", "again")
    assert done.exit_code == 0
    assert json.loads(Path("again/results.json").read_text(encoding="utf-8")) == results


def test_a_page_that_is_not_ours_is_not_replaced(core: FakeCore, runner: CliRunner) -> None:
    call(runner, "run", "slot.yaml", "--out", "kept")
    Path("kept/report.html").write_text("mine", encoding="utf-8")
    done = call(runner, "report", "kept")
    assert done.exit_code == 1
    assert "error[RS006]" in done.stderr
    assert Path("kept/report.html").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("verb", ["run", "compare", "report"])
def test_out_overwrites_nothing_silently(verb: str, core: FakeCore, runner: CliRunner) -> None:
    call(runner, "run", "slot.yaml", "--out", "kept")
    before = {file.name: file.read_bytes() for file in Path("kept").iterdir()}
    core.asked.clear()
    words = {"run": ["slot.yaml"], "compare": ["kept", "kept"], "report": ["kept"]}[verb]
    done = call(runner, verb, *words, "--out", "kept")
    assert done.exit_code == 1
    assert "error[RS006] kept" in done.stderr
    assert core.asked == []  # nothing was computed in vain
    assert {file.name: file.read_bytes() for file in Path("kept").iterdir()} == before
    assert call(runner, verb, *words, "--out", "kept", "--force").exit_code == 0
    Path("empty").mkdir()
    assert call(runner, verb, *words, "--out", "empty").exit_code == 0


def test_a_file_that_is_no_result_is_told_with_its_place(runner: CliRunner) -> None:
    Path("x.json").write_text("{", encoding="utf-8")
    Path("y.json").write_text('{"schema": "lanetwin-results/1"}', encoding="utf-8")
    whole = json.loads((Path(__file__).parent / "data" / "results.json").read_text("utf-8"))
    del whole["plan"]
    Path("z.json").write_text(json.dumps(whole), encoding="utf-8")
    wrong = {"x.json": "RS002", "y.json": "RS005", "nothing.json": "RS001", "z.json": "RS005"}
    for file, code in wrong.items():
        done = call(runner, "report", file)
        assert done.exit_code == 1
        assert f"error[{code}] {file}" in done.stderr


def test_a_run_that_finished_nothing_has_a_report_that_says_so(runner: CliRunner) -> None:
    results = json.loads((Path(__file__).parent / "data" / "results.json").read_text("utf-8"))
    for part in ("rows", "waterfalls", "utilisation", "components", "bottlenecks", "verdicts", "switches"):
        results[part] = []
    results |= {"complete": False, "stopped": "interrupted"}
    Path("stopped.json").write_text(json.dumps(results), encoding="utf-8")
    done = call(runner, "report", "stopped.json", "--out", "shown")
    assert done.exit_code == 0, done.output
    assert "Nothing was finished before the run stopped." in Path("shown/report.html").read_text("utf-8")


def test_what_is_not_ours_is_never_replaced(core: FakeCore, runner: CliRunner) -> None:
    call(runner, "run", "slot.yaml", "--out", "kept")
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear", encoding="utf-8")
    Path("file").write_text("dear", encoding="utf-8")
    for place in ("mine", "file"):
        done = call(runner, "report", "kept", "--out", place, "--force")
        assert done.exit_code == 1
        assert f"error[RS006] {place}" in done.stderr
    assert Path("mine/letter.txt").read_text(encoding="utf-8") == "dear"
    unwritable = call(runner, "report", "kept", "--out", "file/below")
    assert unwritable.exit_code == 1
    assert (
        "error[RS018] file/below\n  cannot write there: a file is where a folder would be\n"
        in unwritable.stderr
    )
    assert "Errno" not in unwritable.stderr


@pytest.mark.parametrize("words", [["new", "-o"], ["new", "study", "-o"], ["link", "new", "-o"]])
def test_a_new_file_that_cannot_be_written_is_told_with_its_place(
    words: list[str], runner: CliRunner
) -> None:
    Path("file").write_text("dear", encoding="utf-8")
    done = call(runner, *words, "file/below.yaml")
    assert done.exit_code == 1
    assert (
        "error[RS018] file/below.yaml\n  cannot write there: a file is where a folder would be\n"
        in done.stderr
    )
    done = call(runner, *words, "file")
    assert done.exit_code == 1
    assert "error[RS006] file" in done.stderr
    assert Path("file").read_text(encoding="utf-8") == "dear"


@pytest.mark.parametrize("name", ["ZH", "zh_CN.UTF-8", "zh-Hans"])
def test_a_language_is_known_by_the_names_that_systems_give_it(
    core: FakeCore, runner: CliRunner, name: str
) -> None:
    assert "工作负载" in call(runner, "run", "slot.yaml", "--lang", name).stdout


@pytest.mark.parametrize(
    ("value", "unit", "metric", "told"),
    [
        (999.4, "ns", "latency", "999 ns"),
        (999.6, "ns", "latency", "1.00 µs"),
        (28_734.0, "MB/s", "throughput", "28.7 GB/s"),
        (0.0, "MB/s", "throughput", "0 MB/s"),
        (0.4, "GB/s", "throughput", "400 MB/s"),
        (1_500.0, "k/s", "read IOPS", "1.50 M IOPS"),
        (12.0, "W", "power", "12.0 W"),
        (float("inf"), "ns", "latency", "∞ ns"),
    ],
)
def test_values_are_told_in_units_that_fit(value: float, unit: str, metric: str, told: str) -> None:
    assert brief(value, unit, metric).replace("\u202f", " ") == told


def test_a_fitting_unit_changes_no_quantity() -> None:
    sizes = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
    for power in range(-3, 10):
        fit = fitting(3.0 * 10.0**power, "ns")
        assert fit.scale * sizes.get(fit.unit, 1e-12) == pytest.approx(1e-9)


def test_the_next_limit_is_not_what_limits(results: Results) -> None:
    from lanetwin.binding import bindings

    answer: Any = engine.run(str(SCENARIOS / "oversubscription.yaml"), sets=["run.repeats=1"])
    found = bindings(answer)
    assert found
    for binding in found.values():
        assert binding.next is not None
        assert binding.next.name != binding.name
        if binding.share is not None:
            assert binding.next.share < binding.share


def test_what_programs_measured_has_a_report_without_a_question(runner: CliRunner) -> None:
    value = {
        "variant": "as-is",
        "workload": "w",
        "case": "c",
        "x": None,
        "metric": "operations",
        "unit": "k/s",
    }
    row = value | {"better": "higher", "value": 1.5, "low": 1.4, "high": 1.6, "n": 2}
    measured = document_of([cast("Any", row)], {}, "databases", engine.version())
    Path("m.json").write_text(json.dumps(measured), encoding="utf-8")
    done = call(runner, "report", "m.json", "--out", "shown")
    assert done.exit_code == 0, done.output
    assert "operations" in done.stdout
