"""The report of a load of memory tells its matrix, its curves, what components did and links carried."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from lanetwin import report
from lanetwin.report import blocks
from lanetwin.report.figures import sweep

if TYPE_CHECKING:
    from lanetwin.results import Results


HITS = "device cache hits"


def of_memory(results: Results, rows: list[dict[str, Any]]) -> Results:
    """Return a document with these rows alone."""
    own = copy.deepcopy(results)
    base = {"variant": "as-is", "workload": "bw", "metric": "throughput", "unit": "GB/s", "x": None, "n": 1}
    filled = [base | {"low": row["value"], "high": row["value"], "percentiles": []} | row for row in rows]
    own["rows"] = filled  # type: ignore[typeddict-item]
    for name in ("verdicts", "waterfalls", "utilisation", "bottlenecks"):
        own[name] = []
    own.pop("switches", None)
    return own


def test_cases_that_vary_in_two_ways_are_a_matrix(results: Results) -> None:
    cases = [(a, b) for a in ("dram", "dram 2 : exp 1") for b in ("all-reads", "2r1w", "1r1w")]
    rows = [{"case": f"{a}, {b}", "value": float(10 + i)} for i, (a, b) in enumerate(cases)]
    [matrix] = blocks.matrices(of_memory(results, rows))
    assert matrix.title == "bw: throughput [GB/s]"
    assert matrix.values == ["all-reads", "2r1w", "1r1w"]
    assert [row[0] for row in matrix.rows] == ["dram", "dram 2 : exp 1"]
    assert [row[1:] for row in matrix.rows] == [["10.00", "11.00", "12.00"], ["13.00", "14.00", "15.00"]]
    assert blocks.matrices(of_memory(results, rows[:-1])) == [], "a gap makes it no matrix"
    assert blocks.matrices(of_memory(results, rows[:3])) == [], "one line is a table"


def test_what_varies_beside_the_axis_is_a_curve_each(results: Results) -> None:
    def x(value: float, curve: str) -> dict[str, Any]:
        return {"name": "working set", "value": value, "unit": "B", "curve": curve}

    points = [(curve, size) for curve in ("dram", "exp") for size in (4096.0, 8192.0, 16384.0)]
    rows = [{"case": f"{c}, {s}", "value": s / 1000, "x": x(s, c)} for c, s in points]
    [found] = sweep.sweeps(of_memory(results, rows))
    assert list(found.series) == ["dram", "exp"]
    assert [row["value"] for row in found.series["exp"]] == [4.096, 8.192, 16.384]
    both = [row | {"variant": variant} for variant in ("x8", "x4") for row in rows]
    [found] = sweep.sweeps(of_memory(results, both))
    assert list(found.series) == ["x8: dram", "x8: exp", "x4: dram", "x4: exp"]


def test_components_and_links_are_tabulated(results: Results) -> None:
    rows: list[dict[str, Any]] = [
        {"case": "4 GiB", "value": 20.0},
        {"case": "4 GiB", "value": 20.0, "device": "exp"},
        {"case": "4 GiB", "value": 91.5, "device": "cmmh.controller", "metric": HITS, "unit": "%"},
    ]
    own = of_memory(results, rows)
    share = {"messages": 0.1, "data": 0.4, "empty": 0.1, "credits": 0.0, "retry": 0.0, "io": 0.0, "idle": 0.4}
    place = {"variant": "as-is", "workload": "bw", "case": "4 GiB", "link": "slot", "direction": "host → exp"}
    own["cxl"] = [{**place, **share, "credit_stall": 0.0, "mean_queue": 1.25}]  # type: ignore[typeddict-item]
    [told] = blocks.components(own)
    assert (told.values, told.rows) == (
        ["device cache hits [%]"],
        [["4 GiB", "as-is", "cmmh.controller", "91.50"]],
    )
    table = blocks.cxl_use(own)
    assert table is not None
    assert table.rows[0][:5] == ["bw", "4 GiB", "as-is", "slot", "host → exp"]
    page = report.render(own)
    assert "What the CXL links carried" in page
    assert "what components did" in page
