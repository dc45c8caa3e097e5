"""The answer on a terminal: short, in units that fit, with what limits it; every table on request."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fake_core import FakeCore
from lanetwin import engine
from lanetwin.cli import app
from lanetwin.fit import brief, fitting
from lanetwin.results import Results
from test_report_in_browser import SCENARIOS, TWO_BY_TWO

MOST_LINES = 25
"""Two variants of two cases are answered in so many lines."""
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
    said = " ".join(" ".join(line[17:42].split()) for line in numbers[4:])
    assert said == "4 KiB random reads + 16 KiB log + 128 KiB sequential reads + 128 KiB sequential writes"


def test_a_sweep_of_one_variant_is_a_line_for_each_value(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    Path("s.yaml").write_text(DEPTHS, encoding="utf-8")
    lines = call(runner, "run", "s.yaml").stdout.splitlines()
    assert len(lines) <= MOST_LINES
    told = [line for line in lines if "in flight" in line and "NOT SETTLED" not in line]
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
    for file, code in (("x.json", "RS002"), ("y.json", "RS005"), ("nothing.json", "RS001")):
        done = call(runner, "report", file)
        assert done.exit_code == 1
        assert f"error[{code}] {file}" in done.stderr


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
