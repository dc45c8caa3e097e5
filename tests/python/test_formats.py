"""Formats of rows are one file and one word each, and say the same."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanetwin import formats, store
from lanetwin.cli import app
from lanetwin.formats.declaration import Format
from lanetwin.results import Results


def test_a_format_is_a_file_and_a_word() -> None:
    folder = Path(formats.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "declaration"}
    assert modules == set(formats.WORDS)
    files = [declared.file for declared in formats.FORMATS.values()]
    assert len(set(files)) == len(files)


def test_a_format_that_there_is_not_is_refused_before_anything_runs() -> None:
    done = CliRunner().invoke(app, ["run", "slot.yaml", "--format", "xls"])
    assert done.exit_code == 2
    assert "no format 'xls'" in done.output


def test_a_named_format_is_written_beside_csv(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Format(name="count", file="rows.count", write=lambda results: str(len(results["rows"])).encode())
    monkeypatch.setitem(formats.FORMATS, "count", count)
    folder = store.save(results, tmp_path / "run", ["count", "csv", "count"])
    assert (folder / "rows.count").read_text("utf-8") == str(len(results["rows"]))
    assert (folder / "rows.csv").is_file()
    assert not (store.save(results, tmp_path / "plain") / "rows.count").exists()
