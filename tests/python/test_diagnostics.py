"""Mistakes are shown where they were made, with what to do about them."""

from pathlib import Path

import pytest

from lanetwin.cli.diagnostics import mark_length, print_diagnostics, render
from lanetwin.errors import Diagnostic, LanetwinError

SOURCE = "about: x\nmachine:\n  cpu: {part: intel-foo}\n\tcard: {part: 'a b'}\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Write a scenario with mistakes."""
    path = tmp_path / "slot.yaml"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


def diagnostic(file: str, line: int = 3, column: int = 15) -> Diagnostic:
    """Make a mistake at a place."""
    return Diagnostic(
        code="SC001",
        severity="error",
        message="unknown part `intel-foo`",
        help="`lanetwin parts list` names all parts",
        file=file,
        line=line,
        column=column,
        path="machine.cpu.part",
    )


def test_the_place_is_marked_as_a_compiler_would(file: str) -> None:
    assert render(diagnostic(file)).plain == (
        f"error[SC001] {file}:3:15  machine.cpu.part\n"
        "  |\n"
        "3 |   cpu: {part: intel-foo}\n"
        "  |               ^^^^^^^^^\n"
        "  unknown part `intel-foo`\n"
        "  help: `lanetwin parts list` names all parts"
    )


def test_tabs_before_the_place_do_not_move_the_mark(file: str) -> None:
    lines = render(diagnostic(file, 4, 15)).plain.splitlines()
    assert lines[2] == "4 |     card: {part: 'a b'}"
    assert lines[3] == "  |                  ^^^^^"


@pytest.mark.parametrize(("line", "column"), [(0, 0), (99, 1), (3, 900)])
def test_a_place_that_is_not_there_is_no_bug(file: str, line: int, column: int) -> None:
    assert "unknown part" in render(diagnostic(file, line, column)).plain


def test_a_file_that_is_not_there_is_no_bug(tmp_path: Path) -> None:
    text = render(diagnostic(str(tmp_path / "missing.yaml"))).plain
    assert " | " not in text
    assert "missing.yaml:3:15" in text


def test_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "evil.yaml"
    path.write_text("part: \x1b]0;owned\x07 [red]x[/red]\n", encoding="utf-8")
    text = render(diagnostic(str(path), 1, 7)).plain
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/red]" in text


def test_a_long_line_is_cut_around_the_place(tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text("x" * 5000 + " bad " + "y" * 5000, encoding="utf-8")
    lines = render(diagnostic(str(path), 1, 5002)).plain.splitlines()
    assert max(map(len, lines[1:])) < 200
    assert lines[2][lines[3].index("^") :].startswith("bad")


def test_all_are_counted(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    warning = Diagnostic(code="SC020", severity="warning", message="unused part")
    print_diagnostics([diagnostic(file), diagnostic(file), warning])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2 errors, 1 warning; `lanetwin explain SC001` says more on the first" in captured.err
    assert "warning[SC020]\n  unused part" in captured.err


def test_the_exception_carries_every_diagnostic() -> None:
    error = LanetwinError.from_json(
        '[{"code": "SC001", "severity": "error", "file": "a", "line": 2, "column": null,'
        ' "message": "m", "help": "h"}, {"code": "SC002", "message": "n"}]',
    )
    assert [d.code for d in error.diagnostics] == ["SC001", "SC002"]
    assert error.diagnostics[0].where == "a:2"
    option = Diagnostic("SC030", "error", "", file="--vary a=1", line=1, column=1)
    assert option.where == "--vary a=1", "an option has no lines to look up"
    assert str(error) == "error[SC001] a:2: m (h)\nerror[SC002] n"


def test_the_mark_covers_a_value_and_no_more() -> None:
    assert mark_length("x8, gen: 3") == 2
    assert mark_length("gen: 3") == 3
    assert mark_length("'unclosed") == 9
