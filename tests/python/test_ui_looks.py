"""Looks at what moving a slider does: bounded, however much is asked at once, and honest about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from lanetwin import engine
from lanetwin.ui.editing import held_back, of_variant, shortened
from lanetwin.ui.quick import workloads
from lanetwin.ui.server import application
from test_report_in_browser import EIGHT_DRIVES
from test_ui import HOST, SCENARIO, post

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    with TestClient(application(tmp_path), base_url=HOST, headers={"Origin": HOST}) as found:
        assert found.get("/").status_code == 200
        yield found


def test_a_slider_moves_throughput_and_what_binds_within_a_second(client: TestClient) -> None:
    def quick(*sets: str) -> Any:
        return post(client, "/api/quick", path="slot.yaml", text=SCENARIO, sets=list(sets))

    wide, narrow, single = quick(), quick("links.slot.width=x1"), quick("workloads.read.dma.outstanding=1")
    values = [answer["workloads"][0]["lines"][0]["value"] for answer in (wide, narrow, single)]
    assert values[1] < values[0] / 8
    assert values[2] < values[0]
    assert wide["workloads"][0]["binds"].startswith("slot: host → card")
    assert single["workloads"][0]["binds"] == "load: one at a time"
    assert max(answer["seconds"] for answer in (wide, narrow, single)) < 1


def test_a_first_look_at_many_drives_asks_each_for_its_share(tmp_path: Path) -> None:
    place = tmp_path / "eight.yaml"
    place.write_text(EIGHT_DRIVES, encoding="utf-8")
    plan = engine.check(str(place), of_variant({}, ""))["plan"]
    assert plan
    found = shortened(plan, [])
    # four times 32, which are on their way at once: more than an eighth of a thousand
    assert {one for one in found if one.startswith("workloads.")} == {
        "workloads.seq.fio.requests=128",
        "workloads.rand.fio.requests=128",
    }
    quick = workloads(engine.run(str(place), sets=[*of_variant({}, ""), *found]))
    whole = workloads(engine.run(str(place), sets=[*of_variant({}, ""), "run.repeats=1"]))
    for one, other in zip(quick, whole, strict=True):
        assert one["binds"].partition(",")[0] == other["binds"].partition(",")[0]
        values = [line["value"] for line in one["lines"]]
        assert values == pytest.approx([line["value"] for line in other["lines"]], rel=0.02)


@pytest.mark.parametrize("depth", [32, 64, 128, 1024])
def test_a_first_look_is_bounded_however_much_is_asked_at_once(tmp_path: Path, depth: int) -> None:
    """In operations, not in seconds: so many take half a second of a processor."""
    deep = [f"workloads.{name}.fio.iodepth={depth}" for name in ("seq", "rand")]
    place = tmp_path / "eight.yaml"
    place.write_text(EIGHT_DRIVES, encoding="utf-8")
    plan = engine.check(str(place), [*of_variant({}, ""), *deep])["plan"]
    assert plan
    held = held_back(plan)
    sets = dict(one.rpartition("=")[::2] for one in shortened(plan, deep, held))
    asked = [8 * int(sets.get(f"workloads.{name}.fio.requests", 1000)) for name in ("seq", "rand")]
    assert max(asked) <= 8 * 4 * 32
    assert [one.told() for one in held] == [
        {"workload": name, "at_once": 31, "asked": depth} for name in ("seq", "rand") if depth > 62
    ]
    whole = dict(one.rpartition("=")[::2] for one in shortened(plan, deep))
    assert whole["workloads.seq.fio.iodepth"] == str(depth)


def test_a_first_look_that_is_held_back_says_so_and_a_second_is_not(client: TestClient) -> None:
    deep = [f"workloads.{name}.fio.iodepth=128" for name in ("seq", "rand")]
    asked = {"path": "slot.yaml", "text": EIGHT_DRIVES, "sets": deep}
    first, second = post(client, "/api/quick", **asked), post(client, "/api/quick", **asked, whole=True)
    assert [one["workload"] for one in first["held"]] == ["seq", "rand"]
    assert not second["held"]
    for one, other in zip(first["workloads"], second["workloads"], strict=True):
        assert one["binds"].partition(",")[0] == other["binds"].partition(",")[0]
        assert not any("latency" in line["metric"] for line in one["lines"])
        assert any("latency" in line["metric"] for line in other["lines"])
        values = [line["value"] for line in (one["lines"][0], other["lines"][0])]
        assert values[0] == pytest.approx(values[1], rel=0.05)


def test_a_second_look_that_is_wide_says_so(client: TestClient) -> None:
    """All that is asked for is on its way at once: a burst, whose rate changes from beginning to end."""
    text = EIGHT_DRIVES.replace("ssd1..8", "ssd1..2").replace("bay1..8", "bay1..2")
    asked = {"path": "slot.yaml", "text": text, "whole": True}
    wide, narrow = (
        post(client, "/api/quick", **asked, sets=[f"workloads.rand.fio.iodepth={depth}"])["workloads"][1]
        for depth in (1024, 32)
    )
    assert re.search(r"not steady: .*throughput is known to ±.\d+\.\d.% only", wide["doubt"])
    assert not narrow["doubt"]
