"""Formats of rows are one file and one word each, and say the same."""

import csv
import importlib
import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanetwin import formats, store
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
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


def test_ndjson_has_the_rows_of_the_document(results: Results, tmp_path: Path) -> None:
    folder = store.save(results, tmp_path / "run", ["ndjson"])
    lines = (folder / "rows.ndjson").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert {(line.pop("run"), line.pop("digest"), line.pop("kind")) for line in found} == {
        (results["name"], results["digest"], results["kind"])
    }
    assert found == json.loads(json.dumps(results["rows"]))


def test_parquet_has_the_rows_of_csv_with_types(results: Results, tmp_path: Path) -> None:
    parquet = importlib.import_module("pyarrow.parquet")
    results["rows"][0]["samples"] = [1.5, 2.5]
    folder = store.save(results, tmp_path / "run", ["parquet"])
    rows = parquet.read_table(folder / "rows.parquet").to_pylist()
    with io.StringIO((folder / "rows.csv").read_text("utf-8"), newline="") as text:
        told = list(csv.DictReader(text))
    assert len(rows) == len(told) > 0
    for row, line in zip(rows, told, strict=True):
        assert [row["variant"], row["case"], row["metric"]] == [line["variant"], line["case"], line["metric"]]
        assert row["value"] == float(line["value"])
        assert (row["x_value"] is None) == (line["x_value"] == "")
        assert all(float(line[f"p{percent:g}"]) == value for percent, value in row["percentiles"])
    assert [rows[0]["samples"], rows[1]["samples"]] == [[1.5, 2.5], None]


def test_without_pyarrow_parquet_is_a_coded_error(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LanetwinError) as caught:
        store.save(results, tmp_path / "run", ["parquet"])
    assert [found.code for found in caught.value.diagnostics] == ["RS007"]
    assert list(tmp_path.iterdir()) == []
