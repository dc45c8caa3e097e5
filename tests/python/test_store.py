"""The folder of a run is written whole or not at all, and never over something else."""

import csv
import json
import os
from pathlib import Path

import pytest
import yaml

from lanetwin import report, store
from lanetwin.errors import LanetwinError
from lanetwin.results import Results, load


def test_the_folder_holds_what_the_run_found(results: Results, tmp_path: Path) -> None:
    folder = store.save(results, tmp_path / "runs" / "slot")
    assert sorted(path.name for path in folder.iterdir()) == [
        "plan.yaml",
        "report.html",
        "results.json",
        "rows.csv",
    ]
    assert load(folder) == results == load(folder / "results.json")
    assert yaml.safe_load((folder / "plan.yaml").read_text(encoding="utf-8")) == results["plan"]
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(results["rows"])
    tail = next(row for row in rows if row["metric"] == "latency")
    assert float(tail["p50"]) < float(tail["value"]) < float(tail["p99.9"])


def test_attachments_lie_beside_the_document_and_nowhere_else(results: Results, tmp_path: Path) -> None:
    names = ["iometer.csv", "fio/a/4k/randread-1-1.json", "../escaped.csv", "fio/../../up.csv", "/root.csv"]
    names += ["results.json", ".hidden", ""]
    results["attachments"] = [{"name": name, "text": "'Test Type\r\n"} for name in names]
    folder = store.save(results, tmp_path / "run")
    own = {"fio", "iometer.csv", "plan.yaml", "report.html", "results.json", "rows.csv"}
    assert {path.name for path in folder.iterdir()} == own
    assert (folder / "iometer.csv").read_bytes() == b"'Test Type\r\n"
    assert (folder / "fio/a/4k/randread-1-1.json").is_file()
    assert load(folder) == results
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_folder_is_readable_as_the_user_wishes(results: Results, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        folder = store.save(results, tmp_path / "run")
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o750


def test_a_run_replaces_its_own_folder(results: Results, tmp_path: Path) -> None:
    store.save(results, tmp_path / "run")
    results["seed"] = 2
    store.save(results, tmp_path / "run")
    assert load(tmp_path / "run")["seed"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_of_something_else_is_left_alone(results: Results, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(LanetwinError, match="not the folder of a run"):
        store.save(results, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_failure_while_rendering_writes_nothing(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Results) -> str:
        raise RuntimeError

    monkeypatch.setattr(report, "render", fail)
    with pytest.raises(RuntimeError):
        store.save(results, tmp_path / "runs" / "slot")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_keeps_the_old_folder(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(results, tmp_path / "run")
    results["seed"] = 2

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_swap", fail)
    with pytest.raises(LanetwinError, match="No space left"):
        store.save(results, tmp_path / "run")
    assert load(tmp_path / "run")["seed"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("slot", "slot-7c19e04b5d2f8a36"),
        ("../../etc/passwd", "etc-passwd-7c19e04b5d2f8a36"),
        ("Gen4 — ob das lohnt?", "Gen4-ob-das-lohnt-7c19e04b5d2f8a36"),
        ("…", "run-7c19e04b5d2f8a36"),
        ("x" * 500, "x" * 80 + "-7c19e04b5d2f8a36"),
    ],
)
def test_a_name_cannot_leave_the_folder(results: Results, name: str, expected: str) -> None:
    results["name"] = name
    assert store.folder_name(results) == expected


def test_a_partial_result_has_a_folder_of_its_own(partial: Results) -> None:
    assert store.folder_name(partial) == "slot-7c19e04b5d2f8a36-partial"


@pytest.mark.parametrize("text", ["{", "[]", "{}", json.dumps({"schema": "lanetwin-results/99"})])
def test_what_is_no_result_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text, encoding="utf-8")
    with pytest.raises(LanetwinError, match=r"results\.json is not"):
        load(tmp_path)


def test_a_missing_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LanetwinError, match="cannot read"):
        load(tmp_path / "nothing")


def test_the_rows_of_devices_name_them(several: Results, tmp_path: Path) -> None:
    folder = store.save(several, tmp_path / "run")
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["device"] for row in rows] == [row.get("device", "") for row in several["rows"]]
    assert {row["p100"] for row in rows if row["device"] == "card2" and row["metric"] == "latency"} == {
        "9000.0"
    }
