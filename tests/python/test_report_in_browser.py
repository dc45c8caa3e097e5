"""A browser shows the answer on the first screen, scrolls on no width sideways, and prints few pages."""

import html
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lanetwin import engine, report
from lanetwin.glance import glances
from lanetwin.numbers import change
from lanetwin.results import Results
from lanetwin.summary import variants

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


SCENARIOS = Path(__file__).parents[2] / "scenarios"
SCREEN = (1280, 900)
"""Width and height of a small laptop's window [px]."""
MOST_PAGES = 8
"""A report on two variants of two cases takes no more paper than this."""
SEEN = ["demo", "pm1743", "retimer", "oversubscription", "cxl-expander"]
TWO_BY_TWO = """\
about: Does this card need all the lanes of this slot?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card, width: x16}
workloads:
  read: {dma: {operation: read, size: [64B, 4KiB], outstanding: 64, transfers: 1000}, on: card, target: host}
variants:
  x16: {}
  x8: {links.slot.width: x8}
compare: {baseline: x16, equivalent_within: 2%}
run: {repeats: 2}
"""
EIGHT_DRIVES = """\
about: Does a Gen4 switch of x8 hold back eight drives?
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4, ports: 9}
  ssd1..8: {part: samsung-pm9a3}
links:
  up: {from: host, to: sw, width: x16}
  bay1..8: {from: sw, to: ssd1..8}
workloads:
  seq: {fio: {rw: read, bs: 128k, iodepth: 32, requests: 1000}, on: host, target: ssd1..8}
  rand: {fio: {rw: randread, bs: 4k, iodepth: 32, requests: 2000}, on: host, target: ssd1..8}
variants:
  x16: {}
  x8: {links.up.width: x8}
compare: {baseline: x16, equivalent_within: 2%}
run: {repeats: 2}
"""
UNSEEN = {
    "lanes": TWO_BY_TWO,
    "no-question": TWO_BY_TWO.replace("about: Does this card need all the lanes of this slot?", "about: ''"),
    "one-variant": TWO_BY_TWO.replace("  x8: {links.slot.width: x8}\n", ""),
    "long-names": TWO_BY_TWO.replace("x8:", "half-of-the-lanes-that-there-are:").replace(
        "read:", "reads-of-the-host-by-the-card:"
    ),
    "four-drives": """\
about: Do four drives on one host get in each other's way if their slots are a generation older, and how much?
machine:
  host: {part: generic-host-gen4, ports: 4}
  a: {part: generic-nvme-gen4}
  b: {part: generic-nvme-gen4}
  c: {part: generic-nvme-gen4}
  d: {part: generic-nvme-gen4}
links:
  one: {from: host, to: a}
  two: {from: host, to: b}
  three: {from: host, to: c}
  four: {from: host, to: d}
workloads:
  random: {block: {size: 4KiB, depth: 16, requests: 300}, on: host, target: [a, b, c, d]}
  large: {block: {size: 128KiB, depth: 4, pattern: sequential, requests: 60}, on: host, target: [a, b, c, d]}
variants:
  gen4: {}
  gen3: {links.one.gen: 3, links.two.gen: 3, links.three.gen: 3, links.four.gen: 3}
compare: {baseline: gen4, equivalent_within: 2%}
run: {repeats: 2}
""",
    "eight-drives": EIGHT_DRIVES,
    "three-fabrics": """\
about: What do I lose when my drives move behind a NIC, and does SPDK give it back?
machine:
  server: {part: generic-host-gen4}
  nic: {part: connectx-5-ex}
  tor: {part: generic-ethernet-switch-100g}
  box-nic: {part: connectx-5-ex}
  box: {part: generic-host-gen4}
  bays: {part: broadcom-pex88096}
  ssd1..2: {part: phison-e16}
links:
  slot: {from: server, to: nic}
  net: {from: nic, to: tor}
  box-net: {from: tor, to: box-nic}
  box-slot: {from: box, to: box-nic}
  up: {from: server, to: bays}
  bay1..2: {from: bays, to: ssd1..2}
workloads:
  latency:
    block: {size: 4KiB, depth: 1, pattern: sequential, span: 4GiB, requests: 200}
    on: server
    target: ssd1
  stream:
    block: {size: 128KiB, depth: 32, pattern: sequential, span: 4GiB, requests: 400}
    on: server
    target: [ssd1, ssd2]
variants:
  direct: {}
  kernel-target: {links.up.from: box, subsystems.jbof: {port: box-nic, namespaces: [ssd1, ssd2]}}
  spdk-target:
    links.up.from: box
    subsystems.jbof: {port: box-nic, namespaces: [ssd1, ssd2]}
    machine.box.target.software: spdk
compare: {baseline: direct, equivalent_within: 2%}
run: {repeats: 2}
""",
}
"""Scenarios that nobody has looked at while the page was made."""

FIRST_SCREEN = f"""<!DOCTYPE html><title>m</title><body>
<iframe src="report.html" width="{SCREEN[0]}" height="{SCREEN[1]}"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const page = event.target.contentDocument;
  const glance = page.querySelector("#glance");
  const shown = [...glance.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 0);
  const cut = [...glance.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1);
  document.body.dataset.measured = JSON.stringify({{
    bottom: glance.getBoundingClientRect().bottom,
    text: page.querySelector("header").innerText + " " + glance.innerText,
    drawings: shown.length,
    cut: cut.map((box) => box.innerText),
  }});
}};
</script>"""

SORT = """<!DOCTYPE html><title>m</title><body>
<iframe src="report.html" width="1280" height="900"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {
  const page = event.target.contentDocument;
  const table = page.querySelector("#results table.sortable");
  const values = () => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[1].innerText));
  const button = table.querySelectorAll("button.sort")[1];
  button.click();
  const rising = values();
  button.click();
  const copies = page.querySelectorAll("button.copy").length;
  document.body.dataset.measured = JSON.stringify([rising, values(), copies]);
};
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


PAPER = 688
"""What an A4 page has for its text between margins of 14 mm [px]."""
TILES = f"""<!DOCTYPE html><title>m</title><body>
<iframe src="report.html" width="{PAPER}" height="1000"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const right = (element) => element.getBoundingClientRect().right;
  const tiles = [...event.target.contentDocument.querySelectorAll(".tile")];
  const ends = (tile) => Math.max(...[...tile.querySelectorAll("td, td *")].map(right));
  document.body.dataset.measured = JSON.stringify(tiles.map((tile) => [right(tile), ends(tile)]));
}};
</script>
"""


def printed(chromium: str, folder: Path, page: str) -> Path:
    """Print a page and return its file."""
    (folder / "report.html").write_text(page, encoding="utf-8")
    paper = folder / "report.pdf"
    words = [f"--print-to-pdf={paper}", "--no-pdf-header-footer", (folder / "report.html").as_uri()]
    browse(chromium, folder, *words)
    return paper


def test_paper_leaves_out_what_is_folded(
    results: Results, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    chromium, pdftotext = require_tool("chromium"), require_tool("pdftotext")
    paper = printed(chromium, tmp_path, report.render(results))
    text = subprocess.run(
        [pdftotext, "-layout", str(paper), "-"], capture_output=True, text=True, check=True
    ).stdout
    for told in ("What limits it", "How to repeat it", "that nobody measured"):
        assert told in text
    # nor is there a heading of what is all folded
    for folded in ("posted_header: 64", "Every case in ns", "equivalent_within: 2%", "What was run"):
        assert folded not in text


def test_paper_has_what_was_unfolded(
    results: Results, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    chromium, pdftotext = require_tool("chromium"), require_tool("pdftotext")
    paper = printed(chromium, tmp_path, report.render(results).replace("<details>", "<details open>"))
    text = subprocess.run(
        [pdftotext, "-layout", str(paper), "-"], capture_output=True, text=True, check=True
    ).stdout
    for told in ("What was run", "posted_header: 64", "equivalent_within: 2%"):
        assert told in text


def test_paper_cuts_no_tile_off(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """Four values with their changes have room in half of a page."""
    chromium = require_tool("chromium")
    results = engine.run(str(SCENARIOS / "drive-commands.yaml"), sets=["run.repeats=2"])
    page = report.render(results)
    screen = "@media print {"
    assert page.count(screen) == 2
    (tmp_path / "report.html").write_text(page.replace(screen, "@media all {"), encoding="utf-8")
    (tmp_path / "measure.html").write_text(TILES, encoding="utf-8")
    words = ["--virtual-time-budget=5000", "--dump-dom", (tmp_path / "measure.html").as_uri()]
    measured = re.search(r'data-measured="([^"]*)"', browse(chromium, tmp_path, *words))
    assert measured
    tiles = json.loads(html.unescape(measured[1]))
    assert tiles
    assert all(table <= tile for tile, table in tiles), tiles


@pytest.mark.parametrize(
    "scenario",
    [TWO_BY_TWO, EIGHT_DRIVES, UNSEEN["three-fabrics"]],
    ids=["one card", "eight drives", "three fabrics"],
)
def test_two_variants_of_two_cases_take_few_pages(
    scenario: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    chromium, pdfinfo = require_tool("chromium"), require_tool("pdfinfo")
    (tmp_path / "s.yaml").write_text(scenario, encoding="utf-8")
    paper = printed(chromium, tmp_path, report.render(engine.run(str(tmp_path / "s.yaml"))))
    told = subprocess.run([pdfinfo, str(paper)], capture_output=True, text=True, check=True).stdout
    assert int(told.split("Pages:")[1].split()[0]) <= MOST_PAGES


@pytest.mark.parametrize("name", ["hot-plug", "iometer-managers", "page-status", "two-cards"])
def test_shipped_scenarios_of_two_by_two_take_few_pages(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    chromium, pdfinfo = require_tool("chromium"), require_tool("pdfinfo")
    results = engine.run(str(SCENARIOS / f"{name}.yaml"), sets=["run.repeats=2"], outside=True)
    paper = printed(chromium, tmp_path, report.render(results))
    told = subprocess.run([pdfinfo, str(paper)], capture_output=True, text=True, check=True).stdout
    assert int(told.split("Pages:")[1].split()[0]) <= MOST_PAGES


@pytest.mark.parametrize("name", SEEN + list(UNSEEN))
def test_the_first_screen_answers(name: str, tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """Asked, answered, by how much and why: all of it above the fold, and nothing of it cut off."""
    chromium = require_tool("chromium")
    scenario = SCENARIOS / f"{name}.yaml"
    if name in UNSEEN:
        scenario = tmp_path / f"{name}.yaml"
        scenario.write_text(UNSEEN[name], encoding="utf-8")
    results = engine.run(str(scenario), sets=["run.repeats=2"])
    (tmp_path / "report.html").write_text(report.render(results), encoding="utf-8")
    (tmp_path / "first.html").write_text(FIRST_SCREEN, encoding="utf-8")
    words = ["--virtual-time-budget=5000", "--dump-dom", (tmp_path / "first.html").as_uri()]
    page = browse(chromium, tmp_path, *words)
    measured = re.search(r'data-measured="([^"]*)"', page)
    assert measured, page
    found = json.loads(html.unescape(measured[1]))
    assert found["cut"] == []
    assert found["bottom"] <= SCREEN[1], f"the first screen ends at {found['bottom']} px"
    text = re.sub(r"[ \t\n\u00a0]+", " ", found["text"])
    assert results["about"] in text
    seen = glances(results)
    assert all(one.workload in text for one in seen)
    names = variants(results)
    if len(names) > 1:
        assert all(name in text for name in names)
        first = next(line for one in seen for line in one.lines if line.verdicts)
        assert change(next(iter(first.verdicts.values()))["change"]) in text
    assert found["drawings"] >= 2
    assert "limited by" in text


def test_tables_can_be_sorted(results: Results, tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    chromium = require_tool("chromium")
    (tmp_path / "report.html").write_text(report.render(results), encoding="utf-8")
    (tmp_path / "sort.html").write_text(SORT, encoding="utf-8")
    words = ["--virtual-time-budget=5000", "--dump-dom", (tmp_path / "sort.html").as_uri()]
    page = browse(chromium, tmp_path, *words)
    measured = re.search(r'data-measured="([^"]*)"', page)
    assert measured, page
    rising, falling, copies = json.loads(html.unescape(measured[1]))
    assert rising == sorted(rising)
    assert falling == sorted(rising, reverse=True)
    assert len(set(rising)) > 2
    assert copies > 3
