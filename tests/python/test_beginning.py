"""A scenario that is written around jobs of fio or Iometer is right, and runs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanetwin import Scenario, beginning, engine
from lanetwin.cli import app
from lanetwin.errors import LanetwinError

SCENARIOS = Path(__file__).parents[2] / "scenarios"
BARE = SCENARIOS / "iometer" / "specs.icf"
"""Access specifications without workers."""
NETWORK = SCENARIOS / "iometer" / "network.icf"
"""Network workers alone."""
FILES = sorted({*(SCENARIOS / "fio").glob("*.fio"), *(SCENARIOS / "iometer").glob("*.icf")} - {BARE, NETWORK})


@pytest.mark.parametrize("name", ["jobs.fio", "on: ä # {b}.fio"])
def test_jobs_run_on_each_drive_that_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(
        "[reads]\nrw=randread\ndirect=1\nbs=4k\niodepth=4\nnumber_ios=300\n", encoding="utf-8"
    )
    written = CliRunner().invoke(
        app,
        ["new", "--from", str(tmp_path / name), "--drive", "intel-p5800x", "--drive", "samsung-pm9a3"],
    )
    assert written.exit_code == 0, written.output
    path = (tmp_path / name).with_suffix(".yaml")
    assert engine.check(str(path), [])["diagnostics"] == []
    run = Scenario(path).run()
    assert {row["variant"] for row in run.rows} == {"intel-p5800x", "samsung-pm9a3"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_scenario_around_every_file_that_is_shipped_is_right(tmp_path: Path, file: Path) -> None:
    shutil.copytree(file.parent, tmp_path / "jobs")
    path = tmp_path / "jobs" / "around.yaml"
    path.write_text(beginning.around(tmp_path / "jobs" / file.name, ["intel-900p", "phison-e16"]), "utf-8")
    found = engine.check(str(path), [])["diagnostics"]
    assert [each for each in found if each["severity"] == "error"] == []


def test_each_target_of_iometer_is_a_drive(tmp_path: Path) -> None:
    file = shutil.copy(SCENARIOS / "iometer" / "idt-1.1.0.icf", tmp_path)
    text = beginning.around(Path(file))
    assert "ssd1..5: {part: samsung-pm9a3}" in text


def test_network_workers_send_between_hosts_and_ask_no_drive(tmp_path: Path) -> None:
    file = Path(shutil.copy(NETWORK, tmp_path))
    path = tmp_path / "around.yaml"
    path.write_text(beginning.around(file), encoding="utf-8")
    assert engine.check(str(path), [])["diagnostics"] == []
    with pytest.raises(LanetwinError, match="ask no drive such as intel-900p"):
        beginning.around(file, ["intel-900p"])


@pytest.mark.parametrize(
    "part", sorted(part["name"] for part in engine.parts() if part["kind"] in beginning.DRIVES)
)
def test_every_drive_of_the_catalogue_fits(tmp_path: Path, part: str) -> None:
    (tmp_path / "jobs.fio").write_text("[reads]\nrw=randread\ndirect=1\nsize=64k\n", encoding="utf-8")
    (tmp_path / "jobs.yaml").write_text(beginning.around(tmp_path / "jobs.fio", [part]), encoding="utf-8")
    assert engine.check(str(tmp_path / "jobs.yaml"), [])["diagnostics"] == []


def test_what_is_no_drive_and_no_file_of_jobs_is_told(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.fio"
    with pytest.raises(LanetwinError) as missing:
        beginning.around(jobs)
    assert [each.code for each in missing.value.diagnostics] == ["FI001"]
    jobs.write_text("[reads]\nrw=randread\ndirect=1\nsize=64k\n", encoding="utf-8")
    with pytest.raises(LanetwinError, match="did you mean `samsung-pm1743`"):
        beginning.around(jobs, ["samsung-pm1733"])
    with pytest.raises(LanetwinError, match="no worker"):
        beginning.around(BARE)
    with pytest.raises(LanetwinError, match=r"\*\.fio"):
        beginning.around(tmp_path / "jobs.txt")


def test_two_beginnings_and_drives_of_a_template_are_refused() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["new", "slot", "--from", "jobs.fio"]).exit_code == 2
    assert runner.invoke(app, ["new", "slot", "--drive", "samsung-pm9a3"]).exit_code == 2


@pytest.mark.parametrize("verb", ["run", "check", "sweep"])
def test_jobs_where_a_scenario_is_asked_for_are_told_what_they_lack(tmp_path: Path, verb: str) -> None:
    (tmp_path / "jobs.fio").write_text("[reads]\nrw=randread\n", encoding="utf-8")
    done = CliRunner().invoke(app, [verb, str(tmp_path / "jobs.fio")])
    assert done.exit_code == 1
    assert "lanetwin new --from" in done.stderr.replace("\n", " ")
