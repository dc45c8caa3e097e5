"""A browser shows the report without scrolling sideways, on any width, and prints every detail."""

import html
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lanetwin import report
from lanetwin.results import Results

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
]

MEASURE = """<!DOCTYPE html><title>m</title><body>
<iframe src="report.html" width="{width}" height="900"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const root = event.target.contentDocument.scrollingElement;
  const visible = (svg) => svg.getBoundingClientRect().width > 0;
  const shown = [...root.querySelectorAll("svg")].filter(visible);
  document.body.dataset.measured = JSON.stringify([root.scrollWidth, root.clientWidth, shown.length]);
}};
</script>"""


def browse(chromium: str, folder: Path, *words: str) -> str:
    """Run the browser once, with a profile of its own."""
    command = [chromium, *QUIET, f"--user-data-dir={folder / 'profile'}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


@pytest.mark.parametrize("width", [390, 768, 1200])
def test_the_page_never_scrolls_sideways(
    width: int, results: Results, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    chromium = require_tool("chromium")
    (tmp_path / "report.html").write_text(report.render(results), encoding="utf-8")
    (tmp_path / "measure.html").write_text(MEASURE.format(width=width), encoding="utf-8")
    page = browse(
        chromium, tmp_path, "--virtual-time-budget=5000", "--dump-dom", (tmp_path / "measure.html").as_uri()
    )
    measured = re.search(r'data-measured="([^"]*)"', page)
    assert measured, page
    scroll, client, shown = map(int, html.unescape(measured[1]).strip("[]").split(","))
    assert scroll == client
    assert shown == report.render(results).count('class="wide"')


def test_paper_shows_the_details(
    results: Results, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    chromium, pdftotext = require_tool("chromium"), require_tool("pdftotext")
    (tmp_path / "report.html").write_text(report.render(results), encoding="utf-8")
    paper = tmp_path / "report.pdf"
    browse(
        chromium,
        tmp_path,
        f"--print-to-pdf={paper}",
        "--no-pdf-header-footer",
        (tmp_path / "report.html").as_uri(),
    )
    text = subprocess.run(
        [pdftotext, "-layout", str(paper), "-"], capture_output=True, text=True, check=True
    ).stdout
    for hidden in ("posted_header: 64", "Every case in ns", "equivalent_within: 2%"):
        assert hidden in text
