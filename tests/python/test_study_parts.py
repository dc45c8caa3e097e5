"""What a study draws or tells without a run: packets, and what a quick study leaves out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import html5lib

from lanetwin.cli import app
from lanetwin.study import pdf
from lanetwin.study.paper import Plot, Table
from test_study import HOSTILE, SCENARIO, STUDY, codes, written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from typer.testing import CliRunner


def with_packet(name: str, holds: str = "data") -> str:
    figure = f"""
  - figure: 7
    title: A packet
    fields:
      - {{name: header, size: 12 B}}
      - {{name: {{en: '{name}', zh: 净荷}}, size: 64 B, is: {holds}}}
results:
"""
    return STUDY.replace("\nresults:\n", figure)


def test_a_packet_is_drawn_with_its_fields_in_either_width(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    study = tmp_path / "study.yaml"
    study.write_text(with_packet(HOSTILE.replace("'", "")), encoding="utf-8")
    drawn = next(one for one in written(study).figures if one.number == "7")
    assert isinstance(drawn, Plot)
    for drawing in (drawn.drawing.wide, drawn.drawing.narrow):
        tree = html5lib.parse(str(drawing), namespaceHTMLElements=False)
        assert not tree.findall(".//script")
        assert not tree.findall(".//img")
        assert "12 B" in drawing
        assert "64 B" in drawing
    chinese = next(one for one in written(study, "zh").figures if one.number == "7")
    assert isinstance(chinese, Plot)
    assert "净荷" in chinese.drawing.narrow
    study.write_text(with_packet("payload", "useful"), encoding="utf-8")
    assert [code for code, _ in codes(study)] == ["ST002"]


def test_a_table_of_what_a_quick_study_leaves_out_says_so(tmp_path: Path) -> None:
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    study = tmp_path / "study.yaml"
    left_out = STUDY.partition("  - figure: 2")[0].replace("topology:\n", "", 1)
    left_out = left_out.replace("  - figure: 1\n    title: The machine\n    topology: widths\n", "")
    study.write_text(left_out.replace("{scenario: slot.yaml}", "{scenario: slot.yaml, quick: no}"), "utf-8")
    table = next(one for one in written(study).tables if one.number == "3")
    assert isinstance(table, Table)
    assert table.notes[0] == "– left out of a quick study"
    assert not table.cites
    published = next(one for one in written(study).chapters if one.key == "published")
    assert not [one for one in published.content if isinstance(one, Table)], "rows of dashes tell nothing"
    study.write_text(left_out, encoding="utf-8")
    table = next(one for one in written(study).tables if one.number == "3")
    assert isinstance(table, Table)
    assert "left out" not in " ".join(table.notes)
    assert table.cites


def test_a_machine_without_chinese_fonts_is_told_before_it_prints(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    study = tmp_path / "study.yaml"
    study.write_text(STUDY, encoding="utf-8")
    lister = tmp_path / "fc-list"
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(pdf, "browser", lambda: "no-browser")
    monkeypatch.setattr(pdf, "printed", lambda _page: b"%PDF-")
    for found, is_told in (("", True), ("echo /usr/share/fonts/some.ttf:", False)):
        lister.write_text(f"#!/bin/sh\n{found}\n", encoding="ascii")
        lister.chmod(0o755)
        done = runner.invoke(app, ["study", str(study), "--pdf", "--lang", "zh", "--force", "--out", "s"])
        assert done.exit_code == 0, done.output
        assert ("没有中文字体" in done.stderr) == is_told
    assert "font" not in runner.invoke(app, ["study", str(study), "--pdf", "--force", "--out", "s"]).stderr
