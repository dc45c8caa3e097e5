"""Predictions beside published numbers: which claims are run, what they cost, what assumptions do."""

import json
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from fake_core import FakeCore
from lanetwin.cli import app
from lanetwin.errors import Diagnostic, LanetwinError


def call(runner: CliRunner, *words: str) -> Result:
    """Run the command."""
    return runner.invoke(app, ["validate", *words])


def asked(core: FakeCore) -> list[list[str]]:
    """Return the claims of each run."""
    return [said[1] for said in core.asked if said[0] == "validate"]


def test_predictions_are_told_from_fits(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "pcie-bench")
    assert done.exit_code == 0
    assert asked(core) == [["pcie-bench"]]
    lines = {line.split("  ")[0].strip(): line for line in done.stdout.splitlines()}
    assert "beats baseline (+4.50 %)" in lines["bdw read 64 B"]
    assert "not a prediction" in lines["snb read 64 B"]
    assert "1.23 %" in done.stdout


def test_the_claims_are_listed_without_running_them(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "--list")
    assert done.exit_code == 0
    assert core.asked == [("claims_list",)]
    assert "within 8 %" in done.stdout
    assert "2 min" in done.stdout
    assert json.loads(call(runner, "--list", "--json").stdout)[0]["claim"] == "cmm-h"


def test_it_fails_when_a_claim_misses_its_bar(core: FakeCore, runner: CliRunner) -> None:
    core.validation["claims"][0]["met"] = False
    done = call(runner, "pcie-bench", "--json")
    assert done.exit_code == 3
    assert json.loads(done.stdout) == core.validation["rows"]
    assert "missed: pcie-bench" in done.stderr


def test_all_are_run_the_shortest_first_and_the_cost_is_said_before(
    core: FakeCore, runner: CliRunner
) -> None:
    done = call(runner)
    assert asked(core) == [["section-i", "pcie-bench", "cmm-h"]]
    assert "3 claims: about 2 min of CPU time; --quick leaves the long ones out" in done.stderr
    assert "CPU time" not in call(runner, "--quiet").stderr


def test_long_ones_can_be_left_out(core: FakeCore, runner: CliRunner) -> None:
    done = call(runner, "--quick")
    assert asked(core) == [["section-i", "pcie-bench"]]
    assert "CPU time" not in done.stderr


def test_what_is_named_is_run_in_the_order_of_the_names_however_long(
    core: FakeCore, runner: CliRunner
) -> None:
    done = call(runner, "--quick", "cmm-h", "section-i")
    assert asked(core) == [["cmm-h", "section-i"]]
    assert "2 claims: about 2 min of CPU time" in done.stderr
    assert "--quick" not in done.stderr


def test_a_claim_that_there_is_not_is_refused_before_any_is_run(
    core: FakeCore, runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(claims: list[str], _progress: object) -> str:
        assert claims == ["no-such"]
        raise LanetwinError("", [Diagnostic(code="VA001", severity="error", message="no such claim")])

    monkeypatch.setattr(core, "validate", refuse)
    done = call(runner, "pcie-bench", "no-such")
    assert done.exit_code == 1
    assert "VA001" in done.stderr


def test_what_is_finished_is_kept_when_it_is_stopped(core: FakeCore, runner: CliRunner) -> None:
    core.validation["complete"] = False
    done = call(runner)
    assert done.exit_code == 130
    assert "beats baseline" in done.stdout
    assert "stopped: 1 of 3 claims" in done.stderr


def with_effects(core: FakeCore, rows: int) -> None:
    """Make the claim one of so many predicted rows, with four numbers, moved in all rows but the last."""
    row = core.validation["rows"][0]
    case = "two memories at six to one, threads that read in order"
    core.validation["rows"] = [row | {"case": f"{case}, row {n}"} for n in range(rows)]
    claim: dict[str, Any] = core.validation["claims"][0]
    changes = {"a": 0.1, "b": -30.0, "c": 4.0, "d": 2.0}
    claim["effects"] = [
        {
            "mechanism": f"a-part-with-a-name: a.number-that-is-called-{name}",
            "end": end,
            "changes_pct": [change * (n + 1) * sign for n in range(rows - 1)] + [None],
        }
        for name, change in changes.items()
        for end, sign in (("half", 1), ("double", -1))
    ]


@pytest.mark.parametrize(("columns", "named"), [(100, 1), (150, 2), (200, 3)])
def test_effects_fit_on_a_terminal(
    core: FakeCore, runner: CliRunner, monkeypatch: pytest.MonkeyPatch, columns: int, named: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with_effects(core, 16)
    shown = call(runner, "pcie-bench").stdout.split("What assumptions do")[1].splitlines()
    assert all(cell_len(line) <= columns for line in shown)
    # the one that moves a row most comes first, with both ends; the last row was not moved
    head, first = shown[1:3] if "assumption" in shown[1] else shown[2:4]
    assert head.count("then") == named - 1
    whole = " ".join(" ".join(shown).split())
    order = [whole.index(f"called-{name}") for name in "bcda"]
    assert order == sorted(order)
    assert "half" in whole
    assert "-450.0 … +450.0" in whole.replace("−", "-")
    assert first
    # a line for each number, and not a column for each row: at most four lines once names are folded
    assert len([line for line in shown if "called-" in line or "number-that-is" in line]) <= 8


def test_every_effect_can_be_had(core: FakeCore, runner: CliRunner) -> None:
    with_effects(core, 3)
    every = json.loads(call(runner, "pcie-bench", "--effects", "--json").stdout)
    assert len(every) == 4 * 2 * 2, "each end of each number in the rows in which it was moved"
    assert every[0]["change_pct"] == 0.1
    assert every[0]["case"].endswith("row 0")
    assert "change [%]" in call(runner, "pcie-bench", "--effects").stdout
