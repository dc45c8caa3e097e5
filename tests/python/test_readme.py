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

import accuracy
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
    "drives",
    "eye",
    "h3-nvmeof",
    "latency-vs-size",
    "link-stability",
    "mqsim-xv2",
    "pm1743-random-write",
    "pm1743-retimer",
    "retimer-ab-pm1743",
    "steady-state",
)
AT_NIGHT = (*LONG, "retimer-ab", "idt-16t4g2")
"""And two that are short in a release, but take twenty seconds with the assertions of a build for tests."""
TABLES = {README: accuracy.README, CLAIMS: accuracy.CLAIMS}


@pytest.fixture(scope="module", name="validation")
def validation_fixture() -> engine.Validation:
    """Run every claim but those of the night, once."""
    return engine.validate([claim["claim"] for claim in engine.claims() if claim["claim"] not in AT_NIGHT])


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


def test_the_first_picture_is_a_report_that_a_command_takes() -> None:
    page = README.read_text(encoding="utf-8")
    first = page.split("](", 1)[1].split(")")[0]
    assert first == "docs/images/report.png"
    picture = (ROOT / first).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 1280
    assert "docs/images/shoot.py" in page.split("## ")[0]
    assert page.index("make demo") < page.index("report.png") < page.index("## Try it")


def test_the_scenario_is_whole_and_right(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    file = tmp_path / "scenario.yaml"
    file.write_text(example, encoding="utf-8")
    assert engine.check(str(file))["diagnostics"] == []


@pytest.mark.parametrize("page", TABLES)
def test_every_claim_has_a_row(page: Path) -> None:
    assert accuracy.claims_of(page.read_text(encoding="utf-8")) == [
        claim["claim"] for claim in engine.claims()
    ]


def test_long_claims_are_those_that_quick_leaves_out() -> None:
    assert sorted(claim["claim"] for claim in engine.claims() if claim["cpu_seconds"] > QUICK) == sorted(LONG)


@pytest.mark.parametrize("page", TABLES)
def test_figures_of_accuracy_are_those_of_this_version(page: Path, validation: engine.Validation) -> None:
    hold(page, validation)


@pytest.mark.long
@pytest.mark.parametrize("claim", AT_NIGHT)
def test_figures_of_long_claims_are_those_of_this_version(claim: str) -> None:
    validation = engine.validate([claim])
    for page in TABLES:
        hold(page, validation)
    if claim == "latency-vs-size":
        plateaus = [row for row in validation["rows"] if row["role"] == "calibrated"]
        assert all(abs(row["error_pct"]) < 5.0 for row in plateaus), plateaus


def hold(page: Path, validation: engine.Validation) -> None:
    """Hold the rows of a page to what these claims came to; ACCEPT=1 rewrites them."""
    text = page.read_text(encoding="utf-8")
    order = [claim["claim"] for claim in engine.claims()]
    now = accuracy.rewritten(text, TABLES[page], accuracy.figures(validation), order)
    if os.environ.get("ACCEPT"):
        page.write_text(now, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == now, (
        "if the change is meant: make accept, or for long claims make claims ACCEPT=1"
    )


def test_what_is_not_modelled_is_admitted(tmp_path: Path) -> None:
    results = engine.run(str(ROOT / "scenarios" / "demo.yaml"), sets=["run.repeats=1"])
    admitted = README.read_text(encoding="utf-8").split("what is not\n")[1].split("\n## ")[0].lower()
    told = json.dumps(results["not_modelled"]).lower()
    for word in ("training", "power states", "signal integrity", "multicast", "software above the driver"):
        assert word in told, word
        assert word in admitted, word
