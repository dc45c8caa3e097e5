"""Does the page on coverage tell the truth? Every command runs, and what has none is not said to work."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lanetwin import _core, engine
from lanetwin.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
STATES = ("works", "partly", "not yet")


@dataclass(frozen=True)
class Row:
    """One row of the page."""

    number: int
    state: str
    command: str
    is_long: bool
    remark: str


def rows() -> list[Row]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 6 and cells[0].isdigit():
            shown = re.fullmatch(r"(?:`([^`]*)`( \*)?)?", cells[4])
            assert shown, line
            found.append(Row(int(cells[0]), cells[3], shown[1] or "", bool(shown[2]), cells[5]))
    return found


def commands(*, long: bool) -> list[str]:
    return list(dict.fromkeys(row.command for row in rows() if row.command and row.is_long == long))


DEAR = (
    "study",
    "validate",
    "run scenarios/idt-16t4g2.yaml",
    "run scenarios/nvmeof-offload.yaml",
    "run scenarios/gets-and-sets.yaml",
    "run scenarios/link-cycles-drive.yaml",
    "run scenarios/nvmeof.yaml",
    "link eye scenarios/link/redriver.yaml",
)
"""Commands that simulate for more than five seconds of a checked build, or several scenarios: for the night.

With every change `crates/world/tests/determinism.rs` runs the first repeat of each scenario, `test_readme.py`
claims, `test_study.py` a study of its own, and `crates/link-lab/tests` eyes with a redriver.
"""


def is_dear(command: str) -> bool:
    words = command.removeprefix("lanetwin ")
    return any(words == dear or words.startswith(f"{dear} ") for dear in DEAR)


def test_rows_are_counted_and_nothing_works_without_a_command() -> None:
    found = rows()
    assert [row.number for row in found] == list(range(1, 214))
    for row in found:
        assert row.state in STATES, row
        assert row.command or row.state != "works", row
        assert row.remark or row.command or row.state == "not yet", row
        assert not (row.command and row.state == "not yet"), row
        assert row.remark or row.state == "works", row
    total = re.search(r"^\| all \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.M)
    assert total
    counts = Counter(row.state for row in found)
    assert [int(number) for number in total.groups()] == [len(found), *(counts[state] for state in STATES)]


ANSWERS: dict[tuple[str, ...], str] = {}
"""What the engine has said, by what it was asked."""
ONE = "run.repeats=1"


def asks_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the engine compute once what several commands ask for, as a study does in another language."""
    compute = getattr(_core, name)

    def answer(*asked: object) -> str:
        *what, progress = asked
        key = (name, *map(str, what))
        if key not in ANSWERS:
            ANSWERS[key] = compute(*what, progress)
        return ANSWERS[key]

    monkeypatch.setattr(_core, name, answer)


def runs_with_one_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each scenario simulated with one repeat: tests of Rust run all of them, and so does the night."""
    compute = _core.run

    def answer(path: str, options: str, progress: Callable[[str], object] | None = None) -> str:
        asked = json.loads(options)
        asked["sets"] = [change for change in asked["sets"] if not change.startswith("run.repeats=")] + [ONE]
        return compute(path, json.dumps(asked), progress)

    monkeypatch.setattr(_core, "run", answer)


def play(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *words = shlex.split(command)
    assert program == "lanetwin"
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    (folder / "studies").symlink_to(ROOT / "studies")
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, words)
    # a claim that misses its bar ends with 3, and says so
    assert done.exit_code in ((0, 3) if words[0] == "validate" else (0,)), done.output[-2000:]
    assert done.stdout.strip()


def named(group: Any, words: list[str]) -> Any:
    """Return the command that words name."""
    command = group.get_command(None, words[0])
    assert command, words
    return named(command, words[1:]) if hasattr(command, "commands") else command


@pytest.mark.parametrize("command", commands(long=True) + commands(long=False))
def test_every_command_is_one_and_asks_for_what_there_is(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have its words read as the command line does, and find the file, study or claim that it names."""
    program, *words = shlex.split(command)
    monkeypatch.chdir(ROOT)
    whole: Any = get_command(app)
    read: list[dict[str, object]] = []
    monkeypatch.setattr(named(whole, words), "callback", lambda **options: read.append(options))
    whole.main(words, prog_name=program, standalone_mode=False)
    assert read or "--help" in words
    if words[0] == "study":
        assert (ROOT / "studies" / words[1] / "study.yaml").exists()
    elif words[0] == "validate":
        assert words[1] in {claim["claim"] for claim in engine.claims()}
    elif words[0] == "run":
        sets = [after for word, after in pairwise(words) if word == "--set"]
        found = engine.check(words[1], sets=sets, outside="--outside" in words)["diagnostics"]
        assert [one for one in found if one["severity"] == "error"] == []
    elif words[0] == "link" and words[2:]:
        assert (ROOT / words[2]).exists()


def test_what_is_left_to_the_night_is_on_the_page() -> None:
    told = [command.removeprefix("lanetwin ") for command in commands(long=False)]
    assert [dear for dear in DEAR if not any(command.startswith(dear) for command in told)] == []


@pytest.mark.parametrize("command", [command for command in commands(long=False) if not is_dear(command)])
def test_every_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scenario runs whole in `crates/world/tests/determinism.rs`; here it is asked for and told."""
    runs_with_one_repeat(monkeypatch)
    for name in ("run", "link_cycle", "link_eye"):
        asks_once(name, monkeypatch)
    play(command, tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("command", commands(long=True) + commands(long=False))
def test_every_command_runs_whole(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(command, tmp_path, monkeypatch)
