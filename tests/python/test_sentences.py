"""Reports in other languages: no English is left in their fixed text, and no name of an author is changed."""

from __future__ import annotations

import copy
import re
import string
from pathlib import Path
from typing import TYPE_CHECKING

import html5lib
import pytest
from typer.testing import CliRunner

from lanetwin import engine
from lanetwin.cli import app
from lanetwin.comparison import compare, question
from lanetwin.language import LANGUAGES, written_in
from lanetwin.measured.formats import FORMATS
from lanetwin.report import render
from lanetwin.report.translation import translated
from lanetwin.sentences import names_of, naming, told, word, words
from untold import english, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lanetwin.results import Results

ROOT = Path(__file__).parents[2]
OTHERS = [name for name in LANGUAGES if name != "en"]
SCENARIOS = (
    *("switch", "fio", "drive-commands", "hints", "pts-iops", "trace", "link-cycles-drive"),
    *("memory-trace", "wrappers"),
)
"""Quick ones, whose reports have every section between them."""


@pytest.fixture(scope="module", params=SCENARIOS)
def results(request: pytest.FixtureRequest) -> Results:
    return engine.run(str(ROOT / "scenarios" / f"{request.param}.yaml"))


@pytest.mark.parametrize("language", OTHERS)
def test_no_english_is_left_in_a_report(results: Results, language: str) -> None:
    with written_in(language):
        page = html5lib.parse(render(results), namespaceHTMLElements=False)
    names = names_of(results) | {one["component"] for one in results.get("components", [])}
    left = {text.strip(): found for text in texts(page) if (found := english(text, names))}
    assert not left


def test_the_scan_sees_english() -> None:
    assert english("瓶颈 limited by ssd", {"ssd"}) == ["limited", "by"]


def declared() -> Iterator[tuple[str, str]]:
    """Return what components name: stages of requests, metrics, supplies; and the metrics of Iometer."""
    for file in (ROOT / "crates").glob("*/src/**/*.rs"):
        text = file.read_text("utf-8").split("#[cfg(test)]")[0]
        text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
        for block in re.findall(r"stages! \{(.*?)\}", text, re.DOTALL):
            yield from ((file.name, name) for name in re.findall(r'= "([^"]+)"', block))
        for pattern in (r'Metric::new\(\s*"([^"]+)"', r'\.(?:supply|state)\(\s*(?:format!\()?"([^"]+)"'):
            yield from ((file.name, name) for name in re.findall(pattern, text))
        if file.match("iometer/metrics.rs"):
            yield from ((file.name, name) for name in re.findall(r'"([A-Z%][^"]*[a-z]{3}[^"]*)"', text))


@pytest.mark.parametrize("language", OTHERS)
def test_what_components_name_is_in_the_catalogue(language: str) -> None:
    names = {(file, re.sub(r"\{\w*\}", "3", name)) for file, name in declared()}
    assert len(names) > 100
    with written_in(language):
        same = {(file, name) for file, name in names if told(name) == name and not name.isupper()}
    assert not same


@pytest.mark.parametrize("language", OTHERS)
def test_templates_keep_their_values(language: str) -> None:
    def fields(text: str) -> list[str]:
        return sorted(field for _, field, _, _ in string.Formatter().parse(text) if field)

    for text, said in words(language).items():
        assert fields(said) == fields(text), text


@pytest.mark.parametrize("language", OTHERS)
def test_the_catalogue_has_nothing_that_nobody_says(language: str) -> None:
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python").rglob("*.j2")]
    files += [*(ROOT / "crates").glob("*/src/**/*.rs"), *(ROOT / "validation" / "claims").glob("*.yaml")]
    said = re.sub(r"[\"'\s]+|\\\n", " ", " ".join(file.read_text("utf-8") for file in files)).casefold()
    said = said.replace("&nbsp;", " ").replace("{narrow_space}", " ")
    unsaid = []
    for text in words(language):
        literals = [part for part, _, _, _ in string.Formatter().parse(text)]
        phrase = max(re.split(r"\d+|[;:,.] ", max(literals, key=len)), key=len)
        found = re.sub(r"[\"']", " ", phrase).casefold().split()
        unsaid += [text] if any(part.strip("()") not in said for part in found) else []
    assert not unsaid


def test_a_name_stays_what_its_author_has_written() -> None:
    with written_in("zh"), naming({"latency", "steady"}):
        assert told("latency") == "latency"
        assert told("steady: 12.0 µs") == "steady: 12.0 µs"
        assert word("latency") == "时延"
        assert told("latency [ns]") == "时延 [ns]"
        assert told("Latency is worse with steady than with direct at 4 KiB: +2.1 % (no spread).") == (
            "steady 的时延比 direct 变差（4 KiB）：+2.1 %（无波动）。"
        )


def test_english_stays_as_it_is() -> None:
    assert told("the wire is busy 99.1 % of the time") == "the wire is busy 99.1 % of the time"


def test_a_hostile_name_is_escaped_in_a_translated_page() -> None:
    page = '<p title="limited by &quot;&lt;x&gt;&quot;">limited by</p>'
    page += '<p translate="no">limited by <b>all</b></p>'
    with written_in("zh"):
        assert translated(page) == (
            '<p title="limited by &quot;&lt;x&gt;&quot;">瓶颈</p><p translate="no">limited by <b>all</b></p>'
        )


def test_names_may_be_of_any_script(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "demo.yaml").read_text("utf-8")
    other = tmp_path / "demo.yaml"
    other.write_text(re.sub(r"\bcard\b", "网卡", text.replace("as-is", "原样")), encoding="utf-8")
    plan = engine.check(str(other))["plan"]
    assert plan
    assert list(plan["variants"]) == ["原样", "x4", "gen2"]
    assert "网卡" in plan["machine"]
    other.write_text(text.replace("as-is", "as\u202eis"), encoding="utf-8")
    assert "SC032" in {one["code"] for one in engine.check(str(other))["diagnostics"]}


@pytest.mark.parametrize("language", OTHERS)
def test_the_formats_that_can_be_imported_are_told_without_english(language: str) -> None:
    done = CliRunner().invoke(app, ["import", "--formats", "--lang", language])
    assert done.exit_code == 0
    programs = {"Iometer", "sysbench", "fileio", "memory", "cpu", "csv", "json"}
    programs |= {"terse", "minimal", "output-format"}
    programs |= {"redis-benchmark", "memtier_benchmark", "Intel Memory Latency Checker", "nvme", "smart-log"}
    names = programs | {one.name for one in FORMATS}
    assert not {line: found for line in done.stdout.splitlines() if (found := english(line, names))}


@pytest.mark.parametrize("language", OTHERS)
def test_a_comparison_asks_in_the_language_and_keeps_what_its_author_asked(language: str) -> None:
    results = engine.run(str(ROOT / "scenarios" / "demo.yaml"))
    between = engine.compare(results, results)
    asked = results["about"]
    assert question(results) == asked
    assert question(between) == f"demo against demo: {asked}"
    with written_in(language):
        assert question(results) == asked
        assert question(between) not in (asked, between["about"])
        assert english(question(between).replace(asked, ""), {"demo"}) == []
        assert "against" not in html5lib.parse(render(between), namespaceHTMLElements=False).findtext(".//h1")
    other = copy.deepcopy(results)
    other["kind"] = "measured"
    with written_in(language):
        assert english(question(compare(results, other)).replace(asked, ""), set()) == []
