"""Does the first page tell the truth? Its picture, its output and its figures are those of this version."""

import importlib.util
import json
import os
import re
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lanetwin import engine
from lanetwin.cli.validation import QUICK
from transcript import play, steps

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CLAIMS = ROOT / "CLAIMS.md"
DRAWER = ROOT / "docs" / "images" / "draw.py"


# claims that take minutes: `make claims` runs them, `make test` the others
LONG = (
    "cmm-h",
    "cmm-h-apps",
    "cxl-link",
    "dram-curves",
    "eye",
    "idt-16t4g2",
    "latency-vs-size",
    "link-stability",
    "mqsim-xv2",
    "pm1743-random-write",
    "pm1743-retimer",
    "retimer-ab-pm1743",
)
NAMED = re.compile(r"^\| `([a-z0-9-]+)`:", re.M)


def claimed() -> list[str]:
    """Name the claims that CLAIMS.md has a line on."""
    return NAMED.findall(CLAIMS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", name="validation")
def validation_fixture() -> engine.Validation:
    """Run every claim but the long ones, once."""
    return engine.validate([claim for claim in claimed() if claim not in LONG])


def drawer() -> ModuleType:
    """Import the program that draws the picture."""
    spec = importlib.util.spec_from_file_location("draw", DRAWER)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recipe(verb: str) -> str:
    """Return the last command of a verb of the Makefile, which is what it does once all is built."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").split(f"\n{verb}:", 1)[1].splitlines()[1:]
    commands = list(takewhile(lambda line: line.startswith("\t"), lines))
    return commands[-1].strip().removeprefix("@").replace("$(BIN)/", "")


def test_make_demo_prints_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    assert recipe("demo").startswith("lanetwin run ")
    assert play(README, tmp_path, {"make demo": recipe("demo")}) == []
    assert [step.command for step in steps(README.read_text(encoding="utf-8"))] == ["make demo"]


def test_the_picture_is_what_the_claim_says(validation: engine.Validation) -> None:
    draw: Any = drawer()
    drawn = draw.picture(validation["rows"])
    if os.environ.get("ACCEPT"):
        draw.PICTURE.write_text(drawn, encoding="utf-8")
    assert draw.PICTURE.read_text(encoding="utf-8") == drawn
    assert f"]({draw.PICTURE.relative_to(ROOT)})" in README.read_text(encoding="utf-8")


def test_the_scenario_is_whole_and_right(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    file = tmp_path / "scenario.yaml"
    file.write_text(example, encoding="utf-8")
    assert engine.check(str(file))["diagnostics"] == []


def worst(rows: list[engine.ValidationRow]) -> float:
    """Return the largest error of what is predicted [%]."""
    return max(abs(row["error_pct"]) for row in rows if row["role"] == "predicted")


def test_every_claim_has_a_line() -> None:
    assert sorted(claimed()) == sorted(claim["claim"] for claim in engine.claims())


def test_long_claims_are_those_that_quick_leaves_out() -> None:
    assert sorted(claim["claim"] for claim in engine.claims() if claim["cpu_seconds"] > QUICK) == sorted(LONG)


@pytest.mark.parametrize("page", [README, CLAIMS])
def test_figures_of_accuracy_are_those_of_this_version(page: Path, validation: engine.Validation) -> None:
    hold(page, validation)


@pytest.mark.long
@pytest.mark.parametrize("claim", LONG)
def test_figures_of_long_claims_are_those_of_this_version(claim: str) -> None:
    validation = engine.validate([claim])
    for page in (README, CLAIMS):
        hold(page, validation)
    if claim == "latency-vs-size":
        plateaus = [row for row in validation["rows"] if row["role"] == "calibrated"]
        assert all(abs(row["error_pct"]) < 5.0 for row in plateaus), plateaus


def hold(page: Path, validation: engine.Validation) -> None:
    """Hold a page to claims: a line says how many values were predicted, and how far off they are."""
    text = page.read_text(encoding="utf-8")
    for claim in validation["claims"]:
        (line,) = [
            line for line in text.splitlines() if line.startswith("|") and f"`{claim['claim']}`" in line
        ]
        rows = [row for row in validation["rows"] if row["claim"] == claim["claim"]]
        assert claim["met"] == ("missed" not in line), line
        assert f"{claim['predicted_rows']} " in line
        bounds = [float(bound) for bound in re.findall(r"within ([0-9.]+) %", line)]
        means = re.findall(r"([0-9.]+) % on average", line)
        assert bounds or means, line
        for bound in bounds:
            assert worst(rows) <= bound, line
        for mean in means:
            known = (claim["mape_pct"], claim["baseline_mape_pct"])
            assert mean in [f"{value:.1f}" for value in known if value is not None], line


def test_what_is_not_modelled_is_admitted(tmp_path: Path) -> None:
    results = engine.run(str(ROOT / "scenarios" / "demo.yaml"), sets=["run.repeats=1"])
    admitted = README.read_text(encoding="utf-8").split("## What is not")[1].split("##")[0].lower()
    told = json.dumps(results["not_modelled"]).lower()
    for word in ("training", "power states", "signal integrity", "switches", "software above the driver"):
        assert word in told, word
        assert word in admitted, word
