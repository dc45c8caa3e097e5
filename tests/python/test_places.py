"""Where files go, and which files a command reads: refused before the work, never replaced unasked."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fake_core import FakeCore
from lanetwin import store
from lanetwin.cli import app
from lanetwin.errors import LanetwinError

SHARES = [("nan", 2), ("inf", 2), ("-0.1", 2), ("2 per cent", 2), ("2%", 0), ("0.02", 0)]
CHANNEL = "about: x\ngen: 5\nchain: []\n"


def call(runner: CliRunner, *words: str) -> Result:
    """Run the command."""
    return runner.invoke(app, list(words))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--out", "file/below"], "RS018"),
        (["--out", "mine", "--force"], "RS006"),
        (["--trace", "file/below"], "RS018"),
        (["--trace", "empty"], "RS006"),
        (["--pcap", "mine", "--force"], "RS006"),
        (["--trace", "one", "--pcap", "one"], "RS006"),
        (["--out", "kept", "--trace", "kept/one"], "RS006"),
        (["--trace", "pipe", "--force"], "RS006"),
    ],
)
def test_a_place_that_fails_in_the_end_is_refused_before_the_run(
    words: list[str], code: str, core: FakeCore, runner: CliRunner
) -> None:
    Path("file").write_text("dear", encoding="utf-8")
    Path("mine").mkdir()
    Path("mine/letter").write_text("dear", encoding="utf-8")
    Path("empty").mkdir()
    os.mkfifo("pipe")
    done = call(runner, "run", "slot.yaml", *words)
    assert done.exit_code == 1
    assert f"error[{code}]" in done.stderr
    assert core.asked == []
    assert Path("pipe").is_fifo()
    assert not Path("kept").exists()


def test_a_folder_that_may_not_be_written_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(LanetwinError) as told:
        store.require_place(tmp_path / "a" / "b")
    assert [found.code for found in told.value.diagnostics] == ["RS018"]
    assert not (tmp_path / "a").exists()


def test_a_file_that_cannot_be_written_whole_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(_path: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(LanetwinError):
        store.write_file(tmp_path / "one", "text")
    assert list(tmp_path.iterdir()) == []


def test_a_report_of_a_link_replaces_no_file_but_a_page_of_lanetwin(runner: CliRunner) -> None:
    assert call(runner, "link", "new", "-o", "drive.yaml").exit_code == 0
    before = Path("drive.yaml").read_bytes()
    done = call(runner, "link", "budget", "drive.yaml", "--report", "drive.yaml")
    assert (done.exit_code, "error[RS006] drive.yaml" in done.stderr) == (1, True)
    assert Path("drive.yaml").read_bytes() == before
    for _ in range(2):
        assert call(runner, "link", "budget", "drive.yaml", "--report", "a.html").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "jobs.fio"], "lanetwin new --from jobs.fio"),
        (["run", "kept"], "lanetwin report kept"),
        (["check", "kept/results.json"], "lanetwin report kept/results.json"),
        (["run", "kept/report.html"], "results.json beside it"),
        (["run", "drive.yaml"], "lanetwin link budget drive.yaml"),
        (["link", "eye", "slot.yaml"], "lanetwin run slot.yaml"),
        (["link", "cycle", "--channel", "slot.yaml"], "lanetwin run slot.yaml"),
        (["report", "slot.yaml"], "lanetwin run slot.yaml"),
        (["compare", "kept", "slot.yaml"], "lanetwin run slot.yaml"),
        (["study", "slot.yaml"], "lanetwin run slot.yaml"),
        (["study", "kept"], "lanetwin report kept"),
        (["sweep", "swept", "--vary", "a=1,2"], "lanetwin sweep --resume swept"),
        (["run", "back.s4p"], "lanetwin link touchstone back.s4p"),
    ],
)
def test_a_file_of_another_kind_is_told_with_the_command_for_it(
    words: list[str], said: str, core: FakeCore, runner: CliRunner
) -> None:
    call(runner, "run", "slot.yaml", "--out", "kept")
    core.asked.clear()
    Path("slot.yaml").write_text("about: x\nmachine: {}\n", encoding="utf-8")
    Path("drive.yaml").write_text(CHANNEL, encoding="utf-8")
    Path("jobs.fio").write_text("[a]\nrw=read\n", encoding="utf-8")
    Path("back.s4p").write_text("# GHz S RI R 50\n", encoding="utf-8")
    Path("swept").mkdir()
    Path("swept/sweep.json").write_text("{}", encoding="utf-8")
    done = call(runner, *words)
    assert done.exit_code == 1
    assert "error[RS019]" in done.stderr
    assert said in done.stderr
    assert core.asked == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "slot.yaml", "--seed", str(2**64)], "64 bits"),
        (["run", "slot.yaml", "--set", "links.slot.gen="], "path=value"),
        (["parts", "list", "--beside", "nosuch.yaml"], "does not exist"),
        (["link", "train", "drive.yaml", "--width", "-1"], "not in the range"),
        (["link", "cycle", "-c", "drive.yaml", "--count", "-5"], "not in the range"),
        (["c"], "'c' may be check, compare, calc"),
        (["rnu", "slot.yaml"], "Did you mean 'run'?"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    words: list[str], said: str, core: FakeCore, runner: CliRunner
) -> None:
    done = call(runner, *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert core.asked == []


@pytest.mark.parametrize(("words", "unit"), [(["exec"], "[s]"), (["device", "fault"], "[ms]")])
def test_units_stand_in_the_help(words: list[str], unit: str, runner: CliRunner) -> None:
    assert unit in call(runner, *words, "--help").stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["explain", "XX999"], "CL001"),
        (["new", "slots"], "CL002"),
        (["replay", "slot.yaml"], "CL003"),
        (["replay", "nowhere"], "CL003"),
        (["new", "--from", "nowhere"], "CL004"),
        (["new", "--from", "slot.yaml"], "CL004"),
        (["new", "--from", "jobs.fio", "--drive", "samsung-pm1734"], "CL007"),
        (["parts", "show", "samsung-pm9a4"], "SC011"),
        (["device", "status", "nowhere"], "DO021"),
        (["ui", "slot.yaml"], "UI001"),
    ],
)
def test_what_is_named_and_not_there_has_a_code_a_place_and_a_remedy(
    words: list[str], code: str, runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slot.yaml").write_text("about: x\n", encoding="utf-8")
    Path("jobs.fio").write_text("[a]\nrw=read\ndirect=1\nsize=1m\n", encoding="utf-8")
    done = call(runner, *words)
    assert done.exit_code == 1
    place = words[-1] if words[0] in ("replay", "ui", "device") or "slot.yaml" in words else ""
    assert f"error[{code}] {place}" in done.stderr
    assert "\n  help: " in done.stderr


@pytest.mark.parametrize(
    "words", [["run", ""], ["check", ""], ["compare", "", "x"], ["run", "x", "--out", ""]]
)
def test_no_path_is_not_the_current_folder(words: list[str], runner: CliRunner) -> None:
    done = call(runner, *words)
    assert done.exit_code == 2
    assert "'' is no path" in done.stderr


@pytest.mark.parametrize(("share", "status"), SHARES)
def test_a_margin_is_a_number_or_a_percentage(share: str, status: int, runner: CliRunner) -> None:
    results = Path(__file__).parent / "data" / "results.json"
    done = call(runner, "compare", str(results), str(results), "--within", share)
    assert done.exit_code == status, done.output


def test_results_of_one_name_are_told_apart_by_their_folders(runner: CliRunner, tmp_path: Path) -> None:
    text = (Path(__file__).parent / "data" / "results.json").read_text(encoding="utf-8")
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "results.json").write_text(text, encoding="utf-8")
    done = call(runner, "compare", str(tmp_path / "before"), str(tmp_path / "after"), "--json")
    compared = json.loads(done.stdout)
    assert {row["variant"].partition(": ")[0] for row in compared["rows"]} == {"before", "after"}
    assert compared["about"].startswith("after against before: ")
