"""The tables of accuracy are rewritten row by row, and say what the claims came to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import accuracy

if TYPE_CHECKING:
    from lanetwin import engine

PAGE = """before
<!-- generated: accuracy -->
| Claim | old head |
|---|---|
| `slow` | what minutes of computing found |
| `gone` | no longer claimed |
<!-- end -->
after
"""


def validation(error_pct: float, *, met: bool = True) -> engine.Validation:
    claim: engine.Claim = {
        "claim": "quick", "about": "How fast is it?", "bar": "within 1 %", "met": met, "mape_pct": 0.25,
        "baseline_mape_pct": None, "free_parameters": 2, "predicted_rows": 1,
    }  # fmt: skip
    row: engine.ValidationRow = {
        "claim": "quick", "case": "a", "quantity": "rate", "unit": "GB/s", "published": 1.0, "predicted": 1.0,
        "low": None, "high": None, "error_pct": error_pct, "role": "predicted", "free_parameters": 2,
        "baseline_error_pct": None, "source": "here", "run_digest": "",
    }  # fmt: skip
    fitted: engine.ValidationRow = {**row, "role": "calibrated", "error_pct": 99.0}
    return {"complete": True, "rows": [row, fitted], "claims": [claim]}


def test_rows_of_claims_that_were_run_are_new_and_the_others_stay() -> None:
    found = accuracy.figures(validation(-0.5))
    page = accuracy.rewritten(PAGE, accuracy.README, found, ["quick", "slow"])
    assert accuracy.claims_of(page) == ["quick", "slow"]
    assert "| `slow` | what minutes of computing found |\n" in page
    assert "| `quick` | How fast is it? | 1 | 0.25 % | 0.50 % | – | met |\n" in page
    assert page.startswith("before\n<!-- generated: accuracy -->\n| Claim | What")
    assert page.endswith("\n<!-- end -->\nafter\n")


def test_a_missed_bar_is_said() -> None:
    found = accuracy.figures(validation(2.0, met=False))
    assert "**missed**" in accuracy.rewritten(PAGE, accuracy.CLAIMS, found, ["quick"])


def test_another_error_is_another_page() -> None:
    pages = {
        accuracy.rewritten(PAGE, accuracy.CLAIMS, accuracy.figures(validation(error)), ["quick"])
        for error in (1.0, 1.1)
    }
    assert len(pages) == 2


def test_a_page_without_the_marks_is_told() -> None:
    with pytest.raises(ValueError, match="generated: accuracy"):
        accuracy.claims_of("no table")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0 %"),
        (0.00004, "< 0.001 %"),
        (0.014, "0.014 %"),
        (0.25, "0.25 %"),
        (36.02, "36.0 %"),
    ],
)
def test_errors_are_written_as_far_as_they_are_known(value: float | None, text: str) -> None:
    assert accuracy.percent(value) == text


def test_every_part_says_which_claims_it_stands_in() -> None:
    root = Path(__file__).parents[2]
    page = root / "docs" / "accuracy.md"
    text = page.read_text(encoding="utf-8")
    table = accuracy.by_part(root)
    now = accuracy.MARKED.sub(lambda _: table, text, count=1)
    if os.environ.get("ACCEPT"):
        page.write_text(now, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == now, "if the change is meant: make accept"
    assert "| `samsung-pm9a3` | `drives` | `scenarios/long/drives-pm9a3.yaml` |" in now
