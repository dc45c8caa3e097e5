"""The public API: scenarios as objects, results as tables; and the notebooks that show it."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import lanetwin as lt
from lanetwin import engine

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
DOCUMENT: dict[str, Any] = {
    "about": "What is this slot worth?",
    "machine": {"host": {"part": "generic-host-gen4"}, "card": {"part": "generic-dma-gen5"}},
    "links": {"slot": {"from": "host", "to": "card", "gen": 4}},
    "workloads": {
        "read": {"dma": {"size": ["64B", "4KiB"], "outstanding": 8, "transfers": 100}, "on": "card"},
    },
    "run": {"repeats": 1},
}
SLOT = lt.Scenario(DOCUMENT, name="slot")


def test_a_dictionary_is_the_file_that_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "slot.yaml"
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    ours, theirs = SLOT.run(), lt.Scenario(file).run()
    assert ours.rows == theirs.rows
    assert ours.document["name"] == "slot"
    assert ours.document["scenario"]["path"] == "slot.yaml"
    assert theirs.rows == engine.run(str(file))["rows"]


def test_set_returns_another_scenario() -> None:
    narrow = SLOT.set({"links.slot.width": "x1", "workloads.read.dma.outstanding": 4})
    assert SLOT.sets == ()
    assert narrow.plan()["links"]["slot"]["width"] == "x1"
    assert narrow.run().value("throughput", case="4 KiB") < SLOT.run().value("throughput", case="4 KiB")
    assert narrow.set("links.slot.width").check()["plan"] is not None
    assert SLOT.set("workloads.read.dma.size", ["128B", "256B"]).run().value("latency", case="256 B") > 0
    with pytest.raises(KeyError, match="metric nothing"):
        SLOT.run().value("nothing")


def test_mistakes_are_raised_with_their_places() -> None:
    wrong = SLOT.set("links.slot.width", "x3")
    assert [one["code"] for one in wrong.check()["diagnostics"]] == ["SC021"]
    with pytest.raises(lt.LanetwinError) as raised:
        wrong.run()
    assert raised.value.diagnostics[0].path == "links.slot.width"
    with pytest.raises(lt.LanetwinError, match="SW002"):
        SLOT.sweep({"workloads.read.dma.outstanding": {"from": 8, "to": 1, "times": 2}})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": -1}, "seed is a whole number from 0"),
        ({"seed": 2**64}, "seed is a whole number from 0"),
        ({"seed": 1.5}, "not 1.5"),
        ({"seed": "7"}, "not '7'"),
        ({"threads": 0}, "threads is a whole number from 1"),
        ({"threads": True}, "threads is a whole number from 1"),
    ],
)
def test_an_argument_that_cannot_be_meant_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(lt.LanetwinError, match=said):
        SLOT.run(**options)


def test_a_place_may_be_text_and_a_name_anything(tmp_path: Path) -> None:
    run = lt.Scenario(DOCUMENT, name="slot/4").run()
    assert run.save(str(tmp_path / "kept")) == tmp_path / "kept"
    assert json.loads((tmp_path / "kept" / "results.json").read_text("utf-8"))["name"] == "slot-4"
    points = SLOT.sweep({"links.slot.width": ["x1", "x4"]})
    assert points.save(str(tmp_path / "swept")) == tmp_path / "swept"


def test_rows_are_tables_of_other_libraries() -> None:
    run = SLOT.run()
    pandas, polars, arrow = run.to_pandas(), run.to_polars(), run.to_arrow()
    assert list(pandas.columns) == polars.columns == arrow.column_names == run.columns()
    assert len(pandas) == len(polars) == len(arrow) == len(run.rows)
    latency = pandas[(pandas["metric"] == "latency") & (pandas["case"] == "64 B")]
    assert float(latency["value"].iloc[0]) == run.value("latency", case="64 B")
    assert latency["p99"].notna().all()


def test_points_are_tables_of_other_libraries(tmp_path: Path) -> None:
    lanes = {"values": ["x1", "x4", "x16"], "cost": [1, 4, 16]}
    cache = tmp_path / "cache.sqlite3"
    points = SLOT.sweep({"links.slot.width": lanes, "workloads.read.dma.outstanding": "1..64*8"}, cache=cache)
    assert points.complete
    pandas, polars, arrow = points.to_pandas(), points.to_polars(), points.to_arrow()
    assert list(pandas.columns) == polars.columns == arrow.column_names == points.columns()
    assert len(pandas) == len(polars) == len(arrow) == 9
    assert pandas["workloads.read.dma.outstanding"].max() == 64
    assert points.units()["throughput"] == "Gb/s"
    assert points.best is not None
    assert points.best["of_best"] >= 0.95
    assert points.best in points.front()
    assert "Cheapest" in points.answer
    again = SLOT.sweep({"links.slot.width": ["x1", "x4", "x16"]}, cache=cache)
    assert again.swept.simulated == 0
    folder = points.save(tmp_path / "saved")
    assert json.loads((folder / "sweep.json").read_text())["asked"]["path"] == "slot.yaml"


def test_a_notebook_shows_them_and_nothing_in_them_is_obeyed() -> None:
    evil = lt.Scenario({**DOCUMENT, "about": "<script>alert(1)</script>"})
    for shown in (evil.run(), evil.sweep({"links.slot.width": ["x1", "x4"]})):
        html = shown._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert html.count("<tr>") > 2


def test_plots_are_charts() -> None:
    pytest.importorskip("altair")
    charts = [SLOT.run().plot(), SLOT.sweep({"links.slot.width": ["x1", "x4"]}).plot()]
    assert all("mark" in json.dumps(chart.to_dict()) for chart in charts)


def test_a_plot_of_a_metric_that_is_not_there_says_which_are() -> None:
    pytest.importorskip("altair")
    with pytest.raises(lt.LanetwinError, match="no row has the metric 'nothing'; there are"):
        SLOT.run().plot("nothing")


def test_a_library_that_is_not_there_is_a_coded_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(lt.LanetwinError, match="RS011"):
        SLOT.run().to_pandas()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("default")
def test_notebooks_run(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every cell in turn; what the last line of one comes to is shown as a notebook does it."""
    for name in ("pandas", "altair"):
        importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    document = json.loads(notebook.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = 0
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "notebooks are kept without outputs"
            shown += show(run_cell("".join(cell["source"]), names))
    assert shown > 2


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Execute a cell, and return what its last line comes to, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - our own notebooks
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # type: ignore[attr-defined] # noqa: S307


def show(value: Any) -> bool:
    """Show a value as a notebook does it; returns whether there is one."""
    html = getattr(value, "_repr_html_", None)
    return value is not None and bool(html() if html else repr(value))


def test_compared_results_of_one_name_have_the_names_that_are_given(results: Any) -> None:
    compared = engine.compare(results, results, names=("wide", "narrow"))
    assert {row["variant"].partition(": ")[0] for row in compared["rows"]} == {"wide", "narrow"}
