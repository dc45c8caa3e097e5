"""The report of a load of memory tells its matrix, its curves, what components did and links carried."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from lanetwin import engine, report, summary
from lanetwin.cli import tables
from lanetwin.glance import ALL_CACHED, glances
from lanetwin.report import blocks, result_table
from lanetwin.report.figures import loaded_latency, sweep
from lanetwin.report.figures import speed as speeds

if TYPE_CHECKING:
    from pathlib import Path

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


def speed(case: str, baseline: str, value: float, **other: Any) -> Any:
    """Return how fast a case is beside another."""
    interval = {"low": value - 0.1, "high": value + 0.1}
    place = {"variant": "as-is", "workload": "bw", "case": case, "metric": "throughput"}
    held = {"baseline_variant": "as-is", "baseline_case": baseline, "value": value}
    return place | held | interval | other


def test_cases_that_vary_in_two_ways_are_a_matrix(results: Results) -> None:
    cases = [(a, b) for a in ("dram", "dram 2 : exp 1") for b in ("all-reads", "2r1w", "1r1w")]
    rows = [{"case": f"{a}, {b}", "value": float(10 + i)} for i, (a, b) in enumerate(cases)]
    own = of_memory(results, rows)
    own["relative"] = [
        speed(f"dram 2 : exp 1, {b}", f"dram, {b}", 1.3) for b in ("all-reads", "2r1w", "1r1w")
    ]
    [matrix] = blocks.matrices(own)
    assert (matrix.title, matrix.baseline) == ("bw: throughput [GB/s]", "dram")
    assert matrix.across == ["all-reads", "2r1w", "1r1w"]
    assert [name for name, _ in matrix.rows] == ["dram", "dram 2 : exp 1"]
    texts = [[cell.text for cell in cells] for _, cells in matrix.rows]
    assert texts == [["10.00", "11.00", "12.00"], ["13.00", "14.00", "15.00"]]
    assert [(cell.note, cell.heat) for cell in matrix.rows[0][1]] == [("", 0)] * 3
    assert {cell.heat for cell in matrix.rows[1][1]} == {2}
    assert all("30" in cell.note for cell in matrix.rows[1][1])
    page = report.render(own)
    unfolded = page.split('id="placements"')[1].split("</section>")[0]
    assert "<details" not in unfolded
    assert unfolded.count('class="n heat2"') == 3
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


def test_speeds_are_bars_beside_the_first_placement(results: Results) -> None:
    rows = [{"case": case, "value": value} for case, value in (("dram", 10.0), ("exp", 5.0))]
    own = of_memory(results, rows)
    assert speeds.speeds(own) == []
    own["relative"] = [
        speed("exp", "dram", 0.5),
        speed("exp", "dram", 0.75, workload="cg", metric="program time", low=None, high=None),
    ]
    [drawn] = speeds.speeds(own)
    assert (drawn.title, [drawn.name(bar) for bar in drawn.bars]) == ("Speed beside dram", ["exp", "exp"])
    assert drawn.description == "dram is 1. bw, exp: 0.500; cg, exp: 0.750."
    page = report.render(own)
    assert page.count("Speed beside dram") >= 2
    # one of the two has an interval, in both widths
    assert page.count('class="whisker-ink"') == 2
    own["relative"] = [speed("64 B", "64 B", 1.2, variant="ahead", baseline_variant="none")]
    [drawn] = speeds.speeds(own)
    assert drawn.title == "Speed beside none"


def test_hit_rate_and_traffic_are_drawn_beside_the_throughput(results: Results) -> None:
    def x(value: float) -> dict[str, Any]:
        return {"name": "working set", "value": value, "unit": "B"}

    metrics = [(HITS, "%", 99.0), ("fetched", "MB/s", 10.0), ("written back", "MB/s", 4.0)]
    of_device = {"device": "cmmh", "metric": "", "unit": ""}
    rows: list[dict[str, Any]] = [
        of_device | {"case": str(size), "x": x(size), "metric": metric, "unit": unit, "value": value / size}
        for size in (1.0, 2.0, 4.0)
        for metric, unit, value in metrics
    ]
    hits, traffic = sweep.component_sweeps(of_memory(results, rows))
    assert (hits.metric, list(hits.series)) == (HITS, ["as-is"])
    assert (traffic.metric, list(traffic.series)) == ("traffic with the disk", ["fetched", "written back"])
    assert [row["value"] for row in traffic.series["written back"]] == [4.0, 2.0, 1.0]
    several = [row | {"variant": variant} for variant in ("x4", "x8") for row in rows]
    figures = sweep.component_sweeps(of_memory(results, several))
    assert [figure.metric for figure in figures] == [
        HITS,
        "fetched from the disk",
        "written back to the disk",
    ]
    assert all(list(figure.series) == ["x4", "x8"] for figure in figures)
    idle = [row | {"value": 0.0} if row["metric"] == "written back" else row for row in several]
    assert [figure.metric for figure in sweep.component_sweeps(of_memory(results, idle))] == [
        HITS,
        "fetched from the disk",
    ]
    own = of_memory(results, rows)
    own["temperatures"] = [
        {"variant": "as-is", "workload": "bw", "case": "1.0", "device": "cmmh", "pages": [3, 0, 7, 0]}
    ]
    table = blocks.temperatures(own)
    assert table is not None
    assert (table.values, table.rows[0][4:]) == (["0", "1", "2 – 3"], ["3", "–", "7"])


def test_a_load_of_each_memory_is_taken_apart(results: Results) -> None:
    own = of_memory(results, [{"case": "both", "value": 10.0}])

    def of(device: str) -> Any:
        stages = [{"name": f"host {device}: DRAM", "value": 60.0}, {"name": "host: uncore", "value": 40.0}]
        place = {"variant": "as-is", "workload": "bw", "case": "both", "device": device}
        return place | {"unit": "ns", "total": 100.0, "stages": stages}

    own["waterfalls"] = [of("dram"), of("exp")]
    page = report.render(own)
    assert "Mean latency on dram by hop, both" in page
    assert "Mean latency on exp by hop, both" in page
    [told] = blocks.waterfalls(own, blocks.Easel())
    assert told.details.names == ["case", "device", "variant"]
    assert [row[:2] for row in told.details.rows] == [["both", "dram"], ["both", "exp"]]


def verdict(case: str, change: float, low: float, high: float) -> Any:
    """Return what became of a case in the variant x4."""
    place = {"variant": "x4", "baseline": "x8", "workload": "bw", "case": case, "metric": "throughput"}
    return place | {"verdict": "worse", "change": change, "low": low, "high": high, "margin": 0.02}


def test_the_answer_begins_with_what_placements_cost(results: Results) -> None:
    cases = ["dram", "exp", "dram 2 : exp 1"]
    rows = [{"case": c, "value": 10.0, "variant": v} for v in ("x8", "x4") for c in cases]
    own = of_memory(results, rows)
    own["verdicts"] = [verdict("exp", -0.5, -0.5, -0.5), verdict("dram 2 : exp 1", -0.4, -0.5, -0.3)]
    here = {"variant": "x8", "baseline_variant": "x8"}
    own["relative"] = [speed("exp", "dram", 0.26, **here), speed("dram 2 : exp 1", "dram", 1.07, **here)]
    first, *others = summary.answers(own)
    assert (
        str(first)
        == "bw: Speed with x8, where dram is 1: 0.26 at exp; 1.07 at dram\u00a02\u00a0:\u00a0exp\u00a01."
    )
    assert others, "what variants do comes after it"
    more = [f"exp, {mix}" for mix in ("all-reads", "3r1w", "2r1w", "1r1w", "streaming-writes")]
    own["relative"] = [
        speed(case, case.replace("exp", "dram"), 0.1 * nth, **here) for nth, case in enumerate(more, 2)
    ]
    statement = summary.answers(own)[0].statement.replace("\u00a0", " ")
    assert statement == (
        "Speed with x8, where dram is 1: from 0.20 (at exp, all-reads) to 0.60 (at exp, streaming-writes)."
    )


def test_no_spread_is_no_interval(results: Results) -> None:
    own = of_memory(results, [{"case": "exp", "value": 10.0, "variant": v} for v in ("x8", "x4")])
    own["verdicts"] = [verdict("exp", -0.5, -0.5, -0.5)]
    [said] = summary.answers(own)
    assert said.statement.endswith("(no spread).")
    assert "interval" not in said.statement


def test_parts_of_the_throughput_are_no_answers(results: Results) -> None:
    parts = [("throughput", 30.0), ("reads", 20.0), ("writes", 10.0)]
    own = of_memory(results, [{"case": "dram", "metric": name, "value": value} for name, value in parts])
    assert [str(said) for said in summary.answers(own)] == ["bw: Throughput: 30.00\u202fGB/s."]
    alone = of_memory(results, [{"case": "dram", "metric": "reads", "value": 20.0}])
    assert [str(said) for said in summary.answers(alone)] == ["bw: Reads: 20.00\u202fGB/s."]


def test_a_table_that_would_hide_its_verdicts_takes_the_whole_width(results: Results) -> None:
    def table(case: str) -> result_table.Table:
        own = of_memory(results, [{"case": case, "value": 10.0, "variant": v} for v in ("x8", "x4")])
        own["verdicts"] = [verdict(case, -0.459, -0.658, -0.143)]
        [found] = result_table.result_tables(own)
        return found

    assert not table("exp").is_broad
    assert table("dram 2 : exp 1, all-reads and more").is_broad


def test_columns_of_which_nothing_is_known_are_left_out(results: Results) -> None:
    of_exp: dict[str, Any] = {"case": "exp", "value": 20.0, "device": "exp"}
    reads = [of_exp | {"metric": "read throughput"}]
    tails = {"metric": "latency", "unit": "ns", "percentiles": [[50.0, 90.0], [99.0, 120.0]]}
    for rows, expected, in_report in (
        (reads, ["throughput [GB/s]"], ["throughput [GB/s]"]),
        (
            [of_exp, of_exp | tails],
            ["throughput [GB/s]", "mean [ns]", "p99 [ns]"],
            ["throughput [GB/s]", "mean latency [ns]", "p50 [ns]", "p99 [ns]"],
        ),
    ):
        own = of_memory(results, rows)
        [devices] = summary.device_tables(own)
        columns = [str(column.header) for column in tables.by_device(devices).columns]
        assert columns == ["case", "device", *expected]
        [told] = blocks.devices(own)
        assert told.values == in_report


def test_curves_are_named_where_they_end(results: Results) -> None:
    def x(delay: float) -> dict[str, Any]:
        return {"name": "delay", "value": delay, "unit": "ns"}

    points = [
        ("x8", 0.0, 80.0, 200.0),
        ("x8", 50.0, 20.0, 130.0),
        ("x4", 0.0, 40.0, 430.0),
        ("x4", 50.0, 20.0, 133.0),
    ]
    rows: list[dict[str, Any]] = []
    for variant, delay, throughput, latency in points:
        at: dict[str, Any] = {"variant": variant, "case": f"every {delay}", "x": x(delay)}
        rows.append(at | {"value": throughput})
        rows.append(at | {"metric": "latency", "unit": "ns", "value": latency})
    [curve] = loaded_latency.curves(of_memory(results, rows))
    drawn = loaded_latency.draw(curve, "f0", 520.0)
    places = {}
    for tag in re.findall(r"<text[^>]*name s.*?</text>", drawn):
        place = {key: float(value) for key, value in re.findall(r'\b([xy])="([0-9.]+)"', tag)}
        places[next(name for name in curve.series if f">{name}<" in tag)] = place
    assert set(places) == {"x8", "x4"}
    assert places["x4"]["x"] < 0.7 * places["x8"]["x"], "it ends at half of the throughput"
    assert places["x4"]["y"] < places["x8"]["y"], "and twice as high"


def test_loads_that_caches_serve_are_counted_and_steady(tmp_path: Path) -> None:
    file = tmp_path / "cached.yaml"
    file.write_text(
        "about: How long do loads take that a cache serves?\n"
        "machine: {host: {model: memory-host, cores: 1}}\n"
        "workloads: {chase: {memory: {pattern: chase, working-set: 64KiB, lines: 5000}, on: host}}\n"
    )
    found = engine.run(str(file))
    [throughput] = [row for row in found["rows"] if row["metric"] == "throughput"]
    assert (throughput["value"], throughput["operations"] // throughput["n"]) == (0.0, 5000)
    assert throughput["steady"]["condition"] == "steady"
    [glance] = glances(found)
    assert ALL_CACHED in glance.notes
