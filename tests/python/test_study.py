"""Studies: what is wrong with one has a place, what one says follows from results, no text is obeyed."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib
import pytest

from lanetwin import engine
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.study import build, evidence, html, markdown, parse, pdf, shipped
from lanetwin.study.conclusion import FAILS, HOLDS, OPEN
from lanetwin.study.paper import Plot, Table
from lanetwin.study.parse_blocks import is_figure

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import CliRunner

    from lanetwin.study.paper import Paper

ROOT = Path(__file__).parents[2]
SCENARIO = """\
about: Does the width matter?
machine:
  host: {part: generic-host-gen5}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card}
workloads:
  write:
    dma: {operation: write, size: [64B, 512B], window: 16KiB, outstanding: 32, transfers: 200}
    on: card
    target: host
variants:
  wide: {}
  narrow: {links.slot.width: x4}
compare: {baseline: wide, equivalent_within: 2%}
run: {repeats: 2, seed: 1}
"""
STUDY = """\
title: {en: Widths, zh: 宽度}
about: Does the width matter?
runs:
  widths: {scenario: slot.yaml}
configuration:
  - table: 1
    title: What is asked
    head: [item, value]
    rows:
      - [card, generic-dma-gen5]
  - table: 2
    title: A table for later
    missing: nobody has built it
topology:
  - figure: 1
    title: The machine
    topology: widths
results:
  - table: 3
    title: Throughput
    unit: GB/s
    cells: {run: widths, workload: write, metric: throughput}
    columns: [{name: wide, variant: wide}, {name: narrow, variant: narrow}]
    rows:
      - {name: small, case: "64*", published: [10, 1], role: [calibrated, predicted]}
      - {name: large, case: "512*", published: [50, none]}
  - figure: 2
    title: Bars
    bars: widths
    unit: GB/s
    metric: throughput
    groups:
      - {name: small, case: "64*"}
      - {name: large, case: "512*"}
conclusion:
  - says: A narrow link is slower.
    verdict: {run: widths, variant: narrow, metric: throughput}
    expected: worse
  - says: A narrow link is as fast.
    verdict: {run: widths, variant: narrow, metric: throughput}
  - says: What was published comes out.
    published: 3
    within: 1
  - says: A claim that a quick study leaves out.
    claim: section-i
"""


def placed(folder: Path) -> Path:
    """Write the study and its scenario into a folder."""
    (folder / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    file = folder / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    return file


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return placed(tmp_path)


def written(file: Path, language: str = "en") -> Paper:
    described = parse.load(file)
    found = evidence.gather(described, quick=True, outside=False)
    return build.paper(described, found, language=language, command="lanetwin study study.yaml --quick")


def codes(file: Path) -> list[tuple[str, int]]:
    with pytest.raises(LanetwinError) as raised:
        parse.load(file)
    return [(one.code, one.line) for one in raised.value.diagnostics]


def test_statements_follow_from_results_whatever_their_author_hopes(study: Path) -> None:
    paper = written(study)
    assert [one.verdict for one in paper.answer] == [HOLDS, FAILS, FAILS, OPEN]
    assert "4 of 4" not in paper.answer[1].notes[0]
    assert "1 predicted values" not in paper.answer[2].notes[0], "the large row is predicted, too"
    assert "2 predicted values" in paper.answer[2].notes[0], "and calibrated ones count for nothing"


def test_tables_and_figures_have_the_numbers_of_their_author(study: Path) -> None:
    paper = written(study)
    assert [one.number for one in paper.figures] == ["1", "2"]
    numbers = [one.number for one in paper.tables]
    assert [number for number in numbers if not number.startswith("A")] == ["1", "2", "3"]
    added = [number for number in numbers if number.startswith("A")]
    assert added == [f"A{nth}" for nth in range(1, len(added) + 1)], "added ones rise along the document"


def test_every_result_cites_its_digest_and_the_command_that_gives_it(study: Path) -> None:
    paper = written(study)
    results = next(chapter for chapter in paper.chapters if chapter.key == "results")
    for one in results.content:
        (cite,) = one.cites  # type: ignore[union-attr]
        assert re.fullmatch(r"[0-9a-f]{16}", cite.digest)
        assert cite.command.startswith("lanetwin run ")


SWEEP = """\
results:
  - figure: 2
    title: Shares
    sweep: widths
    metric: throughput
    unit: GB/s
    whole: {wide: 63, narrow: WHOLE}
"""


def swept(study: Path, whole: str) -> Path:
    text = study.read_text(encoding="utf-8")
    before, after = text[: text.index("results:")], text[text.index("conclusion:") :]
    study.write_text(
        before + SWEEP.replace("WHOLE", whole) + after.replace("3\n    within", "1\n    within"), "utf-8"
    )
    return study


def test_a_sweep_in_percent_is_the_values_over_what_each_variant_can_do(study: Path) -> None:
    paper = written(swept(study, "15.75"))
    (figure,) = (one for one in paper.figures if one.number == "2")
    assert isinstance(figure, Plot)
    described = parse.load(study)
    rows = evidence.gather(described, quick=True, outside=False).runs["widths"]["rows"]
    for variant, whole in (("wide", 504.0), ("narrow", 126.0)):
        ends = [r for r in rows if (r["variant"], r["metric"]) == (variant, "throughput")]
        shares = [
            float(one)
            for one in re.findall(rf"{variant}: from ([\d.]+).*?% at .*? to ([\d.]+)", figure.description)[0]
        ]
        assert shares == pytest.approx([100 * row["value"] / whole for row in (ends[0], ends[-1])], rel=1e-3)


@pytest.mark.parametrize(("whole", "code"), [("0", "ST002"), ("much", "ST002"), ("1, fast: 2", "ST003")])
def test_a_whole_that_is_none_is_told_with_its_place(study: Path, whole: str, code: str) -> None:
    with pytest.raises(LanetwinError) as raised:
        written(swept(study, whole))
    assert {one.code for one in raised.value.diagnostics} == {code}


def test_values_of_tables_are_those_of_the_run_in_the_unit_asked_for(study: Path) -> None:
    described = parse.load(study)
    found = evidence.gather(described, quick=True, outside=False)
    row = next(
        row
        for row in found.runs["widths"]["rows"]
        if (row["variant"], row["case"], row["metric"]) == ("narrow", "64 B", "throughput")
    )
    scale = {"Gb/s": 1 / 8, "MB/s": 1e-3, "GB/s": 1.0}[row["unit"]]
    paper = build.paper(described, found, language="en", command="")
    table = next(one for one in paper.tables if one.number == "3")
    shown = table.rows[0][2].text  # type: ignore[union-attr]
    assert float(shown.split(" ")[0]) == pytest.approx(row["value"] * scale, rel=1e-3)


def test_a_page_is_html_that_loads_nothing(study: Path) -> None:
    page = html.render(written(study))
    html5lib.HTMLParser(strict=True).parse(page)
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    assert "not modelled yet" in page


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) ![y](http://z/q.png)"
)


@pytest.mark.parametrize(("language", "word"), [("en", "photograph, not reproduced"), ("zh", "照片，未转载")])
def test_a_photograph_is_told_as_one(study: Path, language: str, word: str) -> None:
    study.write_text(STUDY.replace("missing: nobody", "photograph: nobody"), encoding="utf-8")
    paper = written(study, language)
    page = html.render(paper)
    told, _ = markdown.render(paper)
    for text in (page, told):
        assert word in text
        assert "not modelled yet" not in text
        assert "尚未建模" not in text


def test_no_text_of_a_study_is_obeyed(study: Path) -> None:
    text = STUDY.replace("title: Throughput", f"title: '{HOSTILE}'")
    text = text.replace("about: Does the width matter?", f"about: '{HOSTILE}'\nabstract: |\n  {HOSTILE}")
    text = text.replace("missing: nobody has built it", f"missing: '{HOSTILE}'")
    text = text.replace("says: A narrow link is slower.", f"says: '{HOSTILE}'")
    study.write_text(text, encoding="utf-8")
    paper = written(study)
    page = html.render(paper)
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    assert len(tree.findall(".//script")) == 1, "our own"
    assert not tree.findall(".//img")
    assert {a.get("href", "").partition(":")[0] for a in tree.iter("a") if a.get("href", "")[0] != "#"} == {
        "http"
    }
    told, drawings = markdown.render(paper)
    chapter = told.partition("## 2")[2]
    assert "<script" not in chapter.replace("\\<script", "")
    assert all("<script" not in drawing for drawing in drawings.values())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("about: Does", "abuot: Does"), "ST001"),
        (("run: widths, workload", "run: width, workload"), "ST003"),
        (("slot.yaml", "../slot.yaml"), "ST004"),
        (("slot.yaml", "/etc/passwd"), "ST004"),
        (("slot.yaml", "no.yaml"), "ST003"),
        (("- table: 2", "- table: 1"), "ST002"),
        (("- table: 2", "- table: A1"), "ST002"),
        (("[card, generic-dma-gen5]", "[card]"), "ST002"),
        (("published: [50, none]", "published: [50]"), "ST002"),
        (("published: [50, none]", "published: [fifty, none]"), "ST002"),
        (("expected: worse", "expected: splendid"), "ST002"),
        (("{en: Widths, zh", "{en: Widths, and more, zh"), "ST002"),
        (("title: Bars", 'title: "Ba\\u202ers"'), "ST002"),
    ],
)
def test_mistakes_are_told_with_code_and_place(study: Path, change: tuple[str, str], code: str) -> None:
    assert change[0] in STUDY
    study.write_text(STUDY.replace(*change, 1), encoding="utf-8")
    found = codes(study)
    assert code in [one for one, _ in found]
    assert all(line > 0 for _, line in found)


def test_a_link_of_the_file_system_does_not_lead_out(study: Path, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "slot.yaml"
    elsewhere.write_text(SCENARIO, encoding="utf-8")
    (study.parent / "slot.yaml").unlink()
    (study.parent / "slot.yaml").symlink_to(elsewhere)
    assert [code for code, _ in codes(study)] == ["ST004"]


def test_a_cell_fits_one_row_or_says_what_there_is(study: Path) -> None:
    study.write_text(STUDY.replace('case: "64*", published', 'case: "*", published', 1), encoding="utf-8")
    with pytest.raises(LanetwinError) as raised:
        written(study)
    (found,) = raised.value.diagnostics
    assert found.code == "ST003"
    assert "64 B" in found.help
    assert "512 B" in found.help


def test_another_language_is_written_where_the_author_has_it(study: Path) -> None:
    paper = written(study, "zh")
    assert paper.title == "宽度"
    assert paper.question == "Does the width matter?"
    assert 'lang="zh-Hans"' in html.render(paper)


def test_the_command_writes_a_folder_and_does_not_overwrite_it(runner: CliRunner, study: Path) -> None:
    out = study.parent / "out"
    done = runner.invoke(app, ["study", str(study), "--quick", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["figures"] == ["1", "2"]
    assert {"study.html", "study.md", "figure-1.svg", "results"} <= {path.name for path in out.iterdir()}
    again = runner.invoke(app, ["study", str(study), "--quick", "--out", str(out)])
    assert again.exit_code == 1
    assert "RS006" in again.stderr
    strict = runner.invoke(app, ["study", str(study), "--quick", "--out", str(out), "--force", "--strict"])
    assert strict.exit_code == 3, "a statement does not hold"


def test_a_study_of_the_users_own_begins_with_one_that_runs(runner: CliRunner, tmp_path: Path) -> None:
    begun = runner.invoke(app, ["new", "study", "--out", "mine"])
    assert begun.exit_code == 0, begun.output
    done = runner.invoke(app, ["study", "mine/study.yaml", "--quick", "--json"])
    assert done.exit_code == 0, done.output
    assert [one["outcome"] for one in json.loads(done.stdout)["statements"]] == [HOLDS]
    again = runner.invoke(app, ["new", "study", "--out", "mine"])
    assert "RS006" in again.stderr


def test_a_study_that_there_is_not(runner: CliRunner) -> None:
    done = runner.invoke(app, ["study", "retimr"])
    assert done.exit_code == 1
    assert "ST005" in done.stderr
    assert "did you mean `retimer`?" in done.stderr


def test_without_a_browser_nothing_is_computed_for_a_pdf(
    runner: CliRunner, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(engine, "run", lambda *_, **__: pytest.fail("it ran"))
    done = runner.invoke(app, ["study", str(study), "--pdf"])
    assert done.exit_code == 1
    assert "ST006" in done.stderr


def test_a_study_is_printed(study: Path, require_tool: Callable[[str], str]) -> None:
    require_tool("chromium")
    printed = pdf.printed(html.render(written(study)))
    assert printed.startswith(b"%PDF-")
    assert len(printed) > 10_000


@pytest.mark.parametrize("name", shipped.names())
def test_studies_that_come_with_lanetwin_can_be_read(name: str) -> None:
    file, is_shipped = shipped.find(name)
    assert is_shipped
    study = parse.load(file, outside=True)
    assert study.conclusion, "a study concludes"
    assert study.threats, "and says what may be wrong"


ORIGINALS = {
    "fabric": ("3 6 6_(IOPS) 7 7_(IOPS) 8 9", "10 3 5"),
    "hybrid-memory": ("1 2 3 3_(continued) 4", "1 2 3 4 5a 5b"),
    "retimer": ("1 2 3 4 5", "1 2 3 4a 4b 4c 5a 5b 6a 6b"),
    "switch": ("1", "1 2 3 4 5 6 7"),
}
"""Tables and figures of the documents."""


@pytest.mark.parametrize("name", sorted(ORIGINALS))
def test_every_table_and_figure_of_the_original_has_its_number(name: str) -> None:
    study = parse.load(shipped.find(name)[0], outside=True)
    everything = [
        block
        for chapter in (study.configuration, study.topology, study.method, study.results, study.time)
        for block in chapter
    ]
    for kind, numbers in zip((False, True), ORIGINALS[name], strict=True):
        found = [one.number for one in everything if is_figure(one) == kind and one.number not in ("", "+")]
        assert sorted(found) == [number.replace("_", " ") for number in numbers.split()]


RECKONED = """\
numbers:
  card: {unit: USD, value: 40, kind: assumed, source: an estimate, date: "2026-01-31"}
  slots: {unit: "", value: 4, kind: standard, source: a server}
  rate: {unit: GB/s, run: widths, variant: wide, workload: write, case: "512*", metric: throughput}
results:
  - table: 9
    title: Cost
    reckon: USD
    rows:
      - {name: one, sum: [card]}
      - {name: several, sum: [slots * card, 2 * card], per: "3"}
      - {name: for what it does, sum: [card], per: rate}
"""


def table_of(paper: Paper, number: str) -> Table:
    (found,) = (one for one in paper.tables if one.number == number)
    assert isinstance(found, Table)
    return found


def reckoned(study: Path, text: str = RECKONED) -> Path:
    whole = study.read_text(encoding="utf-8")
    study.write_text(whole.replace("results:\n", text, 1), "utf-8")
    return study


def test_costs_are_sums_and_products_with_every_source_below(study: Path) -> None:
    paper = written(reckoned(study))
    table = table_of(paper, "9")
    assert [row[2].text for row in table.rows[:2]] == ["40.00", "80.00"]
    assert table.rows[1][3].text == "+100.0\u202f%"
    grid = table_of(paper, "3")
    rate = float(grid.rows[1][1].text.split()[0])
    assert float(table.rows[2][2].text) == pytest.approx(40 / rate, rel=0.01)
    assert any("assumed: an estimate, 2026-01-31" in note for note in table.notes)
    assert any("of the run widths" in note for note in table.notes)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("source: an estimate, ", "", "ST002"),
        ("kind: assumed", "kind: guessed", "ST002"),
        ('"2026-01-31"', '"2026-02-31"', "ST002"),
        ("value: 4, ", "", "ST002"),
        ("[card], per: rate", "[card, cart], per: rate", "ST003"),
        ("sum: [card]}", "sum: []}", "ST002"),
    ],
)
def test_a_number_without_a_source_is_no_number(study: Path, before: str, after: str, code: str) -> None:
    assert before in RECKONED
    assert [found for found, _ in codes(reckoned(study, RECKONED.replace(before, after, 1)))] == [code]
