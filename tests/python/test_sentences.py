"""Reports in other languages: no English is left in their fixed text, and no name of an author is changed."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import TYPE_CHECKING

import html5lib
import pytest

from lanetwin import engine
from lanetwin.language import LANGUAGES, written_in
from lanetwin.report import render
from lanetwin.report.translation import translated
from lanetwin.sentences import names_of, naming, told, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from lanetwin.results import Results

ROOT = Path(__file__).parents[2]
OTHERS = [name for name in LANGUAGES if name != "en"]
SCENARIOS = ("switch", "fio", "drive-commands", "hints", "pts-iops", "trace")
"""Quick ones, whose reports have every section between them."""
UNITS = {"ns", "us", "ms", "min", "KiB", "MiB", "GiB", "Gb", "kIOPS", "IOPS", "command"}
KEPT = UNITS | {"TLPs", "CplD", "MRd", "MWr", "flit", "fio", "mem", "io", "Gen", "Recovery", "lanetwin"}
"""Units, abbreviations and words of specifications: what a Chinese engineer writes in Latin letters, too."""
CODE = re.compile(
    r"`[^`]*`|(?:machine|links)[^，；：]*…|[\w./@, →-]*…|\S+\.(?:yaml|fio|csv)|[0-9a-f]{16}"
    r"|(?:machine|links|workloads)\.\S+"
)
"""Paths, digests, places in a document, and names that were cut to their room."""


def texts(element: Element) -> Iterator[str]:
    """Return what a reader sees and hears of a page, without what is marked as not to be translated."""
    tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    if tag in ("style", "script", "pre", "code", "head", "comment") or element.get("translate") == "no":
        return
    yield from (element.attrib[name] for name in ("aria-label", "title", "data-l") if name in element.attrib)
    yield element.text or ""
    for child in element:
        yield from texts(child)
        yield child.tail or ""


def english(text: str, names: set[str]) -> list[str]:
    """Return the English words of a text that nobody has named."""
    if " = " in text:
        return []  # a path of the scenario and its value
    rest = CODE.sub(" ", text)
    for name in sorted(names, key=len, reverse=True):
        if re.search("[A-Za-z]", name):
            rest = re.sub(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", " ", rest)
    rest = CODE.sub(" ", rest)
    return [found for found in re.findall(r"[A-Za-z]*[a-z]{2}[A-Za-z]*", rest) if found not in KEPT]


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
    """Return what the engine's components name: stages of requests, metrics, supplies."""
    for file in (ROOT / "crates").glob("*/src/**/*.rs"):
        text = file.read_text("utf-8").split("#[cfg(test)]")[0]
        text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
        for block in re.findall(r"stages! \{(.*?)\}", text, re.DOTALL):
            yield from ((file.name, name) for name in re.findall(r'= "([^"]+)"', block))
        for pattern in (r'Metric::new\(\s*"([^"]+)"', r'\.(?:supply|state)\(\s*(?:format!\()?"([^"]+)"'):
            yield from ((file.name, name) for name in re.findall(pattern, text))


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
    files += (ROOT / "crates").glob("*/src/**/*.rs")
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
