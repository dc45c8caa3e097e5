"""Figures of machines with many parts: less is drawn, nothing is left out of a sum, and tables have all."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from lanetwin import engine, yaml_out
from lanetwin.report import condensed, excerpt, render
from lanetwin.report.figures import utilisation, waterfall
from test_report_in_browser import EIGHT_DRIVES

if TYPE_CHECKING:
    from pathlib import Path

    from lanetwin.results import Results


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Results:
    scenario: Path = tmp_path_factory.mktemp("eight") / "s.yaml"
    scenario.write_text(EIGHT_DRIVES, encoding="utf-8")
    return engine.run(str(scenario), sets=["run.repeats=1"])


def test_hops_that_stand_together_sum_to_what_they_were(eight: Results) -> None:
    names = condensed.names_together(eight)
    assert names["ssd3"] == "ssd1…8"
    assert names["bay8"] == "bay1…8"
    assert "up" not in names
    for whole in waterfall.breakdowns(eight):
        few = condensed.few_hops(whole, names)
        assert len(whole.hops) > condensed.MOST_HOPS >= len(few.hops)
        for variant, of in few.by_variant.items():
            assert sum(stage["value"] for stage in of["stages"]) == pytest.approx(of["total"], rel=1e-9)
            own = dict(waterfall.numbered(whole.by_variant[variant]))
            kept = {name: value for name, value in waterfall.numbered(of) if name in own}
            assert all(own[name] == value for name, value in kept.items()), "a hop alone is what it was"
        sums: dict[str, float] = {}
        for name, value in waterfall.numbered(whole.by_variant["x16"]):
            part, _, stage = name.partition(": ")
            if names.get(part) == "ssd1…8":
                sums[stage] = sums.get(stage, 0.0) + value
        longest = max(sums, key=lambda stage: sums[stage])
        assert few.value("x16", f"ssd1…8: {longest}") == pytest.approx(sums[longest], rel=1e-9)


def test_of_links_that_are_alike_the_busiest_is_drawn(eight: Results) -> None:
    names = condensed.names_together(eight)
    for use in utilisation.uses(eight):
        few = condensed.few_links(use, names)
        assert len(few.directions) == 8, "two directions of the uplink and of a bay, in two variants"
        assert len(few.directions) + few.left_out == len(use.directions)
        shown = {(one["variant"], one["direction"].split(" → ")[0][:3]): one["tlp"] for one in few.directions}
        busiest = max(
            one["tlp"] for one in use.directions if one["variant"] == "x16" and one["direction"][:3] == "ssd"
        )
        assert shown["x16", "ssd"] == busiest


def test_a_long_file_is_in_results_once_and_in_a_report_as_its_beginning(tmp_path: Path) -> None:
    lines = "".join(f"{64 * (i % 512)},load\n" for i in range(40_000))
    (tmp_path / "long.csv").write_text("address,operation\n" + lines, encoding="utf-8")
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "about: How large is a report of a long trace?\nmachine:\n  host: {part: lmbench-spr-host}\n"
        "workloads:\n  t: {memory: {trace: long.csv}, on: host}\nrun: {repeats: 1}\n",
        encoding="utf-8",
    )
    results = engine.run(str(scenario))
    text = results["plan"]["files"]["long.csv"]
    assert len(text) > 10 * excerpt.MOST_FILE
    assert "files" not in results["scenario"]
    page = render(results)
    assert len(page) < len(text)
    assert hashlib.sha256(text.encode()).hexdigest() in page
    assert text.splitlines()[20] in page
    again = tmp_path / "plan.yaml"
    again.write_text(yaml_out.dump(results["plan"]), encoding="utf-8")
    (tmp_path / "long.csv").unlink()
    assert engine.run(str(again))["digest"] == results["digest"]
