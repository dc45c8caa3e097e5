"""Other languages: no English is left in the fixed text of a document, and values keep their places."""

from __future__ import annotations

import re
import string
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import html5lib
import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from lanetwin import engine, language
from lanetwin.language import METRICS, catalogue, tr, written_in
from lanetwin.sentences import told
from lanetwin.study import build, evidence, html, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "lanetwin"
OTHERS = [name for name in language.LANGUAGES if name != "en"]
UNTRANSLATED = {"IOPS", "{passed} pass / {cycles} cycles"}
"""What is the same in other languages: the words of the originals."""


def messages() -> Iterator[str]:
    """Return every fixed text of the package."""
    methods = [("**.py", "python"), ("**.j2", "jinja2")]
    for _, _, text, *_ in extract_from_dir(PACKAGE, methods, keywords={"tr": None}):
        if isinstance(text, str) and text:
            yield text
    yield from METRICS


@pytest.mark.parametrize("name", OTHERS)
def test_every_fixed_text_is_translated(name: str) -> None:
    known = catalogue(name)
    wanted = set(messages()) - UNTRANSLATED
    assert len(wanted) > 100
    assert not [text for text in sorted(wanted) if known.gettext(text) == text]


@pytest.mark.parametrize("name", OTHERS)
def test_catalogues_have_nothing_that_nobody_says(name: str) -> None:
    text = (PACKAGE / "locale" / f"{name}.po").read_bytes()
    own = {str(message.id) for message in read_po(BytesIO(text)) if message.id}
    assert own <= set(messages())


@pytest.mark.parametrize("name", OTHERS)
def test_translations_have_the_values_of_the_original(name: str) -> None:
    def values(text: str) -> set[str]:
        return {field for _, field, _, _ in string.Formatter().parse(text) if field}

    for text in set(messages()):
        assert values(catalogue(name).gettext(text)) == values(text), text


def test_the_language_is_that_of_the_document_alone() -> None:
    with written_in("zh"):
        assert tr("Results") == "测试结果"
        with written_in("en"):
            assert tr("Results") == "Results"
    assert tr("Results") == "Results"


def test_every_bar_of_a_claim_is_told_in_chinese() -> None:
    with written_in("zh"):
        bars = {one["claim"]: told(one["bar"]) for one in engine.claims()}
    assert len(bars) > 15
    words = {name: re.findall("[A-Za-z]{2,}", bar) for name, bar in bars.items()}
    units = {"Retimer", "MPS", "KiB", "QD", "BER", "ns", "MAPE", "GB", "TB"}
    assert {word for own in words.values() for word in own} <= units


SCENARIO = """\
about: 宽度
machine:
  host: {part: generic-host-gen5}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card}
workloads:
  w1:
    dma: {operation: write, size: [64B, 512B], window: 16KiB, outstanding: 32, transfers: 200}
    on: card
    target: host
variants:
  v1: {}
  v2: {links.slot.width: x4}
compare: {baseline: v1, equivalent_within: 2%}
run: {repeats: 1, seed: 1}
"""
STUDY = """\
title: {zh: 宽度}
about: {zh: 宽度有影响吗？}
after: {zh: 《报告》}
runs:
  r1: {scenario: slot.yaml}
topology:
  - figure: 1
    title: {zh: 拓扑}
    topology: r1
results:
  - table: 1
    title: {zh: 吞吐量}
    unit: GB/s
    cells: {run: r1, metric: throughput, case: "64*"}
    columns: [{name: v1, variant: v1}, {name: v2, variant: v2}]
    rows:
      - {name: {zh: 小包}, published: [10, 1]}
  - table: 2
    title: {zh: 其他}
    missing: {zh: 无}
threats:
  - {zh: 无}
conclusion:
  - says: {zh: 变慢。}
    verdict: {run: r1, variant: v2, metric: throughput}
    expected: worse
  - says: {zh: 符合。}
    published: 1
"""
NAMES = (
    r"lanetwin|generic-[a-z0-9-]+|study|slot|host|card|[rvw][12]|GB/s|k/s|MB/s|ns|B|KiB|Gen\d|x\d+|A\d+|dB|"
    r"digest|run|out|set|outside|scenarios|yaml|tmp|as-is|quick|lang|zh|IOPS|TLP|link-layer|s|ms"
)
"""Names of parts, runs and units, and what commands are made of."""
OF_THE_ENGINE = ("not-modelled", "limits")
"""Tables of which a column is the engine's words."""


def test_a_document_has_no_english_in_its_fixed_text(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    study = parse.load(tmp_path / "study.yaml")
    found = evidence.gather(study, quick=True, outside=False)
    page = html.render(build.paper(study, found, language="zh", command="lanetwin study x"))
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    fixed = [
        text
        for tag in ("h1", "h2", "h3", "th", "b", "summary", "figcaption", "text")
        for element in tree.iter(tag)
        for text in [" ".join(" ".join(element.itertext()).split())]
        if element.get("scope") != "row"
    ]
    assert len(fixed) > 40
    for text in fixed:
        words = re.findall(r"[A-Za-z][A-Za-z/0-9-]+", text)
        assert all(re.fullmatch(NAMES, word) for word in words), text
