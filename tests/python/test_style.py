"""The colours of the report can be told from the paper, by day and by night, and words can be read."""

import re
from pathlib import Path

import pytest

from lanetwin import report

STYLE = Path(report.__file__).with_name("template") / "style.css"


def themes() -> dict[str, dict[str, str]]:
    """Return the colours of each theme: by day, by night, on paper."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), flags=re.DOTALL)
    day, night, paper = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    return {"day": day, "night": night, "paper": paper}


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2)."""
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["day", "night", "paper"])
def test_words_can_be_read(theme: str) -> None:
    colours = themes()[theme]
    for name in ("ink", "muted", "accent", *(f"s{index}" for index in range(6))):
        least = 4.5 if not name.startswith("s") else 3.0
        assert contrast(colours[name], colours["paper"]) >= least, name
    for verdict in ("better", "worse", "equivalent", "inconclusive"):
        assert contrast(colours[verdict], colours[f"{verdict}-bg"]) >= 4.5, verdict


def test_every_theme_has_every_colour() -> None:
    day, night, paper = themes().values()
    assert sorted(day) == sorted(night) == sorted(paper)


def test_every_colour_that_is_used_is_defined() -> None:
    text = STYLE.read_text(encoding="utf-8")
    used = set(re.findall(r"var\(--([\w-]+)", text))
    assert used - {"edge", "edge-bg", "c", "mono"} <= set(themes()["day"])
