"""Results that a study keeps: what programs measured, and figures of them in the words of a study."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import pytest

from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.measured.document import document_of
from lanetwin.study import evidence, parse
from test_study import codes, placed, table_of, written

if TYPE_CHECKING:
    from pathlib import Path

    from lanetwin.results import Row


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return placed(tmp_path)


def kept(study: Path, *, published: str = "") -> Path:
    """Write a study with results that a program left on an emulated drive."""
    row: dict[str, Any] = {
        "variant": "direct",
        "workload": "db",
        "case": "all",
        "x": None,
        "metric": "latency",
    }
    row |= {"unit": "ns", "better": "lower", "value": 2e6, "low": 1e6, "high": 3e6, "n": 2}
    row |= {"percentiles": [], "samples": [1.5e6, 2.5e6]}
    document = document_of([cast("Row", row)], {"doors": [{"late_share": 0.25}]}, "db", engine.version())
    (study.parent / "db.json").write_text(json.dumps(document | {"kind": "emulated"}), encoding="utf-8")
    block = f"""\
results:
  - table: 9
    title: A database
    unit: ms
    cells: {{run: db, metric: latency}}
    columns: [{{name: direct}}]
    rows: [{{name: all{published}}}]
"""
    whole = study.read_text(encoding="utf-8").replace("results:\n", block, 1)
    study.write_text(whole.replace("runs:\n", "runs:\n  db: {results: db.json}\n", 1), "utf-8")
    return study


def test_what_programs_measured_is_never_called_predicted(study: Path) -> None:
    paper = written(kept(study))
    table = table_of(paper, "9")
    assert table.rows[0][1].text.startswith("2.0")
    assert any("apart by 50.0" in note for note in table.rows[0][1].notes)
    assert any("not predicted" in note and "25.0" in note for note in table.notes)
    (cite,) = table.cites
    assert re.fullmatch(r"[0-9a-f]{16}", cite.digest)
    assert cite.command.startswith("lanetwin report ")


def test_figures_in_words_are_those_of_the_results(study: Path) -> None:
    file = kept(study).parent / "db.json"
    own = json.loads(file.read_text("utf-8"))
    own["options"] |= {"repeats": 2, "command": ["db.py", "run", "30"], "made": "2026-11-02"}
    file.write_text(json.dumps(own), encoding="utf-8")
    words = "known to {{within db latency direct}}, {{runs db}} on {{made db}}"
    note = f'    unit: ms\n    note: {{en: "{words}", zh: "{words}"}}\n'
    whole = study.read_text("utf-8").replace("    unit: ms\n", note, 1)
    study.write_text(whole, "utf-8")
    assert (
        "known to ±\u202f50\u202f%, 2 × 30\u202fs on 2 November 2026" in table_of(written(study), "9").notes
    )
    assert any("2026 年 11 月 2 日" in note for note in table_of(written(study, "zh"), "9").notes)
    for wrong in ("within db latency", "within db none direct", "made none", "of db", ""):
        study.write_text(whole.replace("made db", wrong), "utf-8")
        with pytest.raises(LanetwinError) as raised:
            written(study)
        assert [one.code for one in raised.value.diagnostics] == ["ST003"]


def test_what_programs_measured_has_no_error_of_a_prediction(study: Path) -> None:
    with pytest.raises(LanetwinError) as raised:
        written(kept(study, published=", published: [2]"))
    assert [one.code for one in raised.value.diagnostics] == ["ST003"]


def test_results_of_the_users_own_take_the_place_of_kept_ones(study: Path, tmp_path: Path) -> None:
    described = parse.load(kept(study))
    own = tmp_path / "own.json"
    own.write_text((study.parent / "db.json").read_text("utf-8").replace("2000000.0", "2100000.0"), "utf-8")
    replaced = parse.with_results(described, [f"db={own}"])
    found = evidence.gather(replaced, quick=True, outside=False)
    assert found.runs["db"]["rows"][0]["value"] == 2.1e6
    for wrong in ("widths=x", "db", "other=x"):
        with pytest.raises(LanetwinError) as raised:
            parse.with_results(described, [wrong])
        assert [one.code for one in raised.value.diagnostics] == ["ST003"]


def test_nothing_can_be_changed_in_kept_results(study: Path) -> None:
    kept(study)
    whole = study.read_text(encoding="utf-8")
    change = "sensitivity:\n  - {says: what if, run: db, set: [a=1]}\n"
    study.write_text(whole.replace("db.json}", "db.json, set: [a=1]}") + change, "utf-8")
    assert [code for code, _ in codes(study)] == ["ST002", "ST002"]
