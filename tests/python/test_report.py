"""The report is one sound page that says all the document says and runs nothing a file smuggles in."""

import base64
import copy
import csv
import hashlib
import io
import json
import re
from itertools import cycle, pairwise
from typing import Any, cast
from urllib.parse import unquote

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import DATA
from lanetwin import report
from lanetwin.report import page as page_module
from lanetwin.report.figures import utilisation, verdicts, waterfall
from lanetwin.report.figures.axes import NARROW, WIDE
from lanetwin.results import Results

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert('x')</script>\"'&amp;{{ 7 * 7 }}</style></svg>\u2028"


def parse(html: str) -> Any:
    """Read a page; anything that HTML does not allow is an error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)


def drawings(page: Any) -> list[Any]:
    """Return the drawings of a page; HTML puts them into a namespace of their own."""
    return list(page.iter(f"{SVG}svg"))


def texts(element: Any) -> str:
    """Return the text of an element as a reader sees it, narrow spaces kept."""
    return re.sub(r"[ \t\n]+", " ", "".join(element.itertext()))


def poisoned(value: Any) -> Any:
    """Put a hostile text into every free text of a document, leaving its structure alone."""
    keep = {"schema", "verdict", "digest", "stopped", "version"}
    if isinstance(value, dict):
        return {key: item if key in keep else poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return value + EVIL if isinstance(value, str) else value


def test_the_page_is_sound_and_its_keys_are_unique(results: Results) -> None:
    page = parse(report.render(results))
    keys = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(keys) == len(set(keys))
    assert len(drawings(page)) == report.render(results).count("<svg ") > 20
    for drawing in drawings(page):
        assert drawing.get("role") == "img"
        assert set(drawing.get("aria-labelledby").split()) <= set(keys)
        assert all(texts(drawing.find(SVG + tag)).strip() for tag in ("title", "desc"))


def test_sections_come_in_the_order_of_reading(results: Results) -> None:
    page = parse(report.render(results))
    assert [section.get("id") for section in page.iter("section")] == [
        "glance",
        "answer",
        "distributions",
        "plots",
        "latency",
        "links",
        "bottleneck",
        "results",
        "assumptions",
        "not-modelled",
        "documents",
        "reproduce",
    ]
    assert texts(page.find(".//h1")) == results["about"]
    assert results["name"] in texts(page.find(".//header"))
    linked = [link.get("href") for link in page.find(".//nav").iter("a")]
    assert linked == [f"#{s.get('id')}" for s in page.iter("section") if s.get("id") != "glance"]


def test_everything_the_document_says_is_on_the_page(results: Results) -> None:
    words = texts(parse(report.render(results)).find("body"))
    said = [assumption["source"] for assumption in results["assumptions"]]
    said += [assumption["note"] for assumption in results["assumptions"]]
    said += results["not_modelled"]
    said += [bottleneck["name"] for bottleneck in results["bottlenecks"]]
    said += [part["validated"] for part in results["parts"]]
    said += [
        "outstanding: 64",
        "lanetwin run scenarios/slot.yaml --seed 1",
        str(results["digest"]),
        results["version"],
    ]
    said += [line.strip() for line in results["scenario"]["text"].splitlines()]
    missing = [text for text in said if re.sub(r"\s+", " ", text) not in words]
    assert missing == []


def test_every_value_and_verdict_is_in_the_tables(results: Results) -> None:
    section = next(s for s in parse(report.render(results)).iter("section") if s.get("id") == "results")
    cells = [cell for cell in section.iter("td") if "n" in (cell.get("class") or "")]
    assert len(cells) == len(results["rows"]) + len(results["verdicts"]) + _without_verdict(results)
    chips = [texts(chip) for chip in section.iter("span") if "chip" in (chip.get("class") or "")]
    assert sorted(chips) == sorted(verdict["verdict"] for verdict in results["verdicts"])


def _without_verdict(results: Results) -> int:
    """Count the lines of compared tables that have no verdict of their own; they show a dash."""
    compared = {(v["workload"], v["metric"]) for v in results["verdicts"]}
    lines = {
        (r["workload"], r["metric"], r["case"])
        for r in results["rows"]
        if (r["workload"], r["metric"]) in compared
    }
    return len(lines) - len(results["verdicts"])


def test_hostile_texts_stay_texts(results: Results) -> None:
    html = report.render(cast("Results", poisoned(copy.deepcopy(results))))
    page = parse(html)
    scripts = list(page.iter("script"))
    assert [script.get("type") for script in scripts] == ["application/json", None]
    assert scripts[1].text == page_module.script()
    assert len(list(page.iter("style"))) == 1
    assert "alert" not in texts(page.find(".//style"))
    attributes = [name for element in page.iter() for name in element.attrib]
    assert not [name for name in attributes if str(name).startswith("on")]
    assert "{{ 7 * 7 }}" in html
    assert f"slot{EVIL}"[:30] in texts(page.find(".//header"))


@pytest.mark.parametrize("which", ["results", "partial"])
def test_nothing_is_loaded_from_anywhere(which: str, request: pytest.FixtureRequest) -> None:
    html = report.render(request.getfixturevalue(which))
    page = parse(html)
    targets = [e.get(a) for e in page.iter() for a in ("src", "href", "srcset", "action", "data") if e.get(a)]
    assert all(target.startswith(("data:", "#")) for target in targets)
    assert not re.search(r"url\(|@import|https?://", html)
    policy = next(e for e in page.iter("meta") if e.get("http-equiv") == "Content-Security-Policy")
    directives = dict(part.strip().split(" ", 1) for part in policy.get("content").split(";"))
    assert directives.pop("default-src") == "'none'"
    assert directives.pop("style-src") == "'unsafe-inline'"
    digest = hashlib.sha256(list(page.iter("script"))[1].text.encode()).digest()
    assert directives == {"script-src": f"'sha256-{base64.b64encode(digest).decode()}'"}


def test_the_page_is_small(results: Results) -> None:
    assert len(report.render(results).encode()) < 500_000


def test_a_large_result_is_still_a_small_page(results: Results) -> None:
    for number in range(1000):
        row = copy.deepcopy(results["rows"][0])
        row["case"], row["x"] = f"{number} B", {"name": "size", "value": float(number), "unit": "B"}
        results["rows"].append(row)
    html = report.render(results)
    targets = [link.get("href") for link in parse(html).iter("a")]
    assert "results.json" in targets
    assert len(html.encode()) < 1_500_000


def test_the_data_come_with_the_page(results: Results) -> None:
    page = parse(report.render(results))
    assert json.loads(page.find(".//script").text) == results
    links = {link.get("download"): link.get("href") for link in page.iter("a")}
    assert json.loads(base64.b64decode(links["results.json"].partition(",")[2])) == results
    rows = list(csv.DictReader(io.StringIO(unquote(links["rows.csv"].partition(",")[2]))))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in results["rows"]]


def test_a_partial_result_says_so_first(partial: Results, results: Results) -> None:
    first = next(element for element in parse(report.render(partial)).find("body"))
    assert first.get("role") == "alert"
    assert texts(first) == "Partial result. Interrupted; cases that had not run are missing."
    assert 'role="alert"' not in report.render(results)


def test_a_result_of_nothing_is_still_a_page(partial: Results) -> None:
    empty: Any = partial
    for key in ("rows", "waterfalls", "utilisation", "bottlenecks", "not_modelled", "parts"):
        empty[key] = []
    page = parse(report.render(empty))
    assert "Nothing was finished" in texts(page.find("body"))
    assert not drawings(page)


@pytest.mark.parametrize("name", ["n", "a name much longer than the room there is for it on a telephone"])
def test_drawings_stay_inside_their_frame(results: Results, name: str) -> None:
    text = json.dumps(results).replace("gen4", name).replace("card: DMA engine", name + " engine")
    found = drawings(parse(report.render(json.loads(text))))
    assert found
    for drawing in found:
        width, height = (float(drawing.get(side)) for side in ("width", "height"))
        assert width in (WIDE, NARROW)
        for box in drawing.iter(f"{SVG}rect"):
            x, w = float(box.get("x")), float(box.get("width"))
            assert x >= -0.1
            assert x + w <= width + 0.1
        for line in drawing.iter(f"{SVG}text"):
            words = (line.text or "") + "".join(child.tail or "" for child in line)  # without the hint
            size = len(words) * 5.6
            left = float(line.get("x")) - {"end": size, "middle": size / 2}.get(line.get("text-anchor"), 0)
            assert left >= -6, words
            assert left + size <= width + 6, words
            assert 0 <= float(line.get("y")) <= height


def boxes(svg: str, css: str) -> list[tuple[float, float]]:
    """Return start and end of the boxes of a class."""
    rects = parse(f"<!DOCTYPE html><title>t</title>{svg}").iter(f"{SVG}rect")
    found = [e for e in rects if css in e.get("class").split()]
    return [(float(e.get("x")), float(e.get("x")) + float(e.get("width"))) for e in found]


def test_the_hops_of_a_waterfall_adjoin_and_sum_to_the_total(results: Results) -> None:
    for breakdown in waterfall.breakdowns(results):
        for whole in breakdown.by_variant.values():
            assert sum(stage["value"] for stage in whole["stages"]) == pytest.approx(whole["total"], abs=1e-9)
        for index in range(len(breakdown.by_variant)):
            svg = waterfall.draw(breakdown, "k", WIDE)
            stacked = boxes(svg, "stack")[index * 7 : index * 7 + 7]
            assert len(stacked) == 7
            assert all(a[1] == pytest.approx(b[0], abs=0.15) for a, b in pairwise(stacked))
            hops = boxes(svg, f"s{index}")[7:]
            assert [start for start, _ in hops] == pytest.approx([start for start, _ in stacked], abs=0.15)


def test_a_hop_that_one_variant_has_stands_in_its_place(results: Results) -> None:
    results["waterfalls"][1]["stages"].insert(2, {"name": "retimer", "value": 5.0, "sums_ps": []})
    hops = waterfall.breakdowns(results)[0].hops
    assert hops[1:4] == ["card: DMA engine", "retimer", "slot: request"]
    assert waterfall.breakdowns(results)[0].value("as-is", "retimer") is None


def test_two_stages_of_one_name_are_both_shown(results: Results) -> None:
    results["waterfalls"][0]["stages"].append({"name": "card: issue", "value": 1.0, "sums_ps": []})
    assert waterfall.breakdowns(results)[0].hops[-1] == "card: issue (2)"


def test_a_direction_is_busy_or_idle_for_the_whole_time(results: Results) -> None:
    for direction in results["utilisation"]:
        assert sum(utilisation.shares(direction).values()) == pytest.approx(1)
        direction["credit_stall"] = 0.05
        assert sum(utilisation.shares(direction).values()) == pytest.approx(1)
    for use in utilisation.uses(results):
        ends = boxes(utilisation.draw(use, "k", WIDE), "use")
        assert max(end for _, end in ends) == pytest.approx(WIDE, abs=0.2)


def test_a_change_inside_the_margin_is_drawn_inside_it(results: Results) -> None:
    for compared in verdicts.changes(results):
        svg = verdicts.draw(compared, "k", WIDE)
        ((low, high),) = boxes(svg, "margin")
        page = parse(f"<!DOCTYPE html><title>t</title>{svg}")
        whiskers = [e for e in page.iter(f"{SVG}line") if "whisker" in e.get("class")]
        for whisker, verdict in zip(whiskers, compared.verdicts, strict=True):
            inside = low <= float(whisker.get("x1")) and float(whisker.get("x2")) <= high
            assert inside == (verdict["verdict"] == "equivalent")


def test_the_command_repeats_what_was_asked(results: Results) -> None:
    results["options"] = {"sets": ["links.slot.gen=4", "about=a b"], "granularity": "tlp"}
    results["scenario"]["path"] = "my slot.yaml"
    assert (
        "lanetwin run 'my slot.yaml' --set links.slot.gen=4 --set 'about=a b' --seed 1 --granularity tlp"
        in texts(parse(report.render(results)).find("body"))
    )


@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=6), st.sampled_from([0.0, 1e-12, 0.5]))
@settings(max_examples=40, deadline=None)
def test_no_value_breaks_a_drawing(values: list[float], spread: float) -> None:
    results: Any = json.loads((DATA / "results.json").read_text(encoding="utf-8"))
    for row, value in zip(results["rows"], cycle(values), strict=False):
        row.update(value=value, low=value - abs(value) * spread, high=value + abs(value) * spread)
    for verdict, value in zip(results["verdicts"], cycle(values), strict=False):
        verdict.update(change=value, low=value - spread, high=value + spread, margin=spread)
    for breakdown, value in zip(results["waterfalls"], cycle(values), strict=False):
        breakdown["stages"] = [{"name": "only", "value": abs(value)}]
        breakdown["total"] = abs(value)
    html = report.render(results)
    places = re.findall(r' (?:x|y|cx|cy|x1|x2|y1|y2|width|height|points)="([^"]*)"', html)
    assert places
    assert not [place for place in places if re.search("nan|inf|e[+-]", place)]


def test_every_device_is_in_the_results(several: Results) -> None:
    section = next(s for s in parse(report.render(several)).iter("section") if s.get("id") == "results")
    tables = {texts(d.find("summary")): d for d in section.iter("details")}
    title = next(title for title in tables if title.startswith("load: by device"))
    heads = [texts(cell) for cell in tables[title].iter("th")]
    assert heads[:5] == ["case", "variant", "device", "throughput [Gb/s]", "mean latency [ns]"]
    assert heads[-1] == "max [ns]"
    rows = [[texts(cell) for cell in row.iter("td")] for row in tables[title].iter("tr")][1:]
    assert len(rows) == 2 * len(
        {(r["case"], r["variant"]) for r in several["rows"] if r["workload"] == "load"}
    )
    assert [row[2] for row in rows[:2]] == ["card1", "card2"]
