"""Whatever is asked: a code and a remedy, no traceback, no endless reading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.files import read_text
from lanetwin.report import excerpt, render

CARD = """\
about: What does a card get out of a slot?
machine: {host: {part: generic-host-gen4}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card, width: x4}}
"""
READ = "workloads: {read: {dma: {size: 64B, transfers: 20}, on: card}}\nrun: {repeats: 1}\n"


def lanetwin(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "lanetwin"), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def codes(found: Any) -> list[str]:
    return [diagnostic["code"] for diagnostic in found["diagnostics"]]


def outside_of(found: Any) -> list[dict[str, Any]]:
    """Return the diagnostics of files that lie outside of the scenario's folder."""
    return [one for one in found["diagnostics"] if "lies outside" in one["message"]]


@pytest.mark.parametrize("name", ["/dev/zero", "."])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    if not Path(name).exists():
        pytest.skip(f"there is no {name} here")
    os.chdir(tmp_path)
    assert codes(engine.check(name)) == ["SC002"]
    with pytest.raises(OSError, match="not a file"):
        read_text(Path(name))
    with pytest.raises(LanetwinError) as raised:
        engine.compare_files(Path("/dev/zero"), Path("/dev/zero"))
    assert raised.value.diagnostics[0].code == "RS001"


def test_a_channel_that_was_sent_reads_nothing_outside_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.s2p").write_text("# GHz S MA R 100\n1 0 0 1 0 1 0 0 0\n")
    (tmp_path / "secret.yaml").write_text("materials: {}\n")
    folder = tmp_path / "sent"
    folder.mkdir()
    chain = "chain:\n  - package: root-gen5\n  - {MIDDLE}\n  - package: endpoint-gen5\n"
    link = "machine: {h: {part: generic-host-gen5}, d: {part: generic-dma-gen5}}\n"
    link += "links: {l: {from: h, to: d, channel: c.yaml}}\n"
    (folder / "s.yaml").write_text(f"about: a\n{link}workloads: {{w: {{dma: {{}}, on: d, target: h}}}}\n")
    for more, middle in [
        ("", "touchstone: ../secret.s2p"),
        ("library: ../secret.yaml\n", "board: low-loss, length: 2in"),
        ("constants: ../secret.yaml\n", "board: low-loss, length: 2in"),
    ]:
        (folder / "c.yaml").write_text(f"about: a\ngen: 5\n{more}" + chain.replace("MIDDLE", middle))
        (found,) = outside_of(engine.check(str(folder / "s.yaml")))
        assert found["code"] in ("PH001", "SC002"), (middle, found)
        assert not outside_of(engine.check(str(folder / "s.yaml"), outside=True)), middle


def test_a_file_outside_of_the_folder_needs_a_flag(tmp_path: Path) -> None:
    (tmp_path / "outside.fio").write_text("[a]\ndirect=1\nsize=1m\nbs=4k\n")
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "linked.fio").symlink_to(tmp_path / "outside.fio")
    (folder / "own.fio").write_text("[a]\ndirect=1\nsize=1m\nbs=4k\n")
    machine = """\
about: What does a drive do?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-tlc-gen4}}
links: {bay: {from: host, to: ssd}}
"""
    for name, found in [("../outside.fio", ["FI001"]), ("linked.fio", ["FI001"]), ("own.fio", [])]:
        load = f"workloads: {{load: {{fio: {{file: {name}}}, on: host, target: ssd}}}}\n"
        (folder / "s.yaml").write_text(machine + load)
        assert codes(engine.check(str(folder / "s.yaml"))) == found, name
        assert codes(engine.check(str(folder / "s.yaml"), outside=True)) == [], name
    said = lanetwin(folder, "check", "s.yaml", "--outside")
    assert (said.returncode, said.stdout) == (0, "s.yaml: ok\n"), said.stderr


def test_run_tells_what_check_warns_of_and_stops_when_overloaded(tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text(CARD + READ + "variants: {a: {}, b: {}}\n")
    said = lanetwin(tmp_path, "run", "twice.yaml", "-q", "-o", "out")
    assert (said.returncode, "warning[SC104]" in said.stderr) == (0, True), said.stderr
    assert "SC104" in (tmp_path / "out" / "report.html").read_text().split("lanetwin-results")[0]
    flood = "workloads: {read: {dma: {size: 64B, rate: 100TB/s, transfers: 20}, on: card}}\n"
    (tmp_path / "flood.yaml").write_text(CARD + flood)
    said = lanetwin(tmp_path, "run", "flood.yaml", "-q")
    assert (said.returncode, "error[RU001] flood.yaml:4:" in said.stderr) == (1, True), said.stderr
    assert "Traceback" not in said.stderr


def test_a_written_plan_has_the_digest_of_its_run(tmp_path: Path) -> None:
    variants = "variants: {wide: {}, narrow: {links.slot.width: x1}, medium: {links.slot.width: x2}}\n"
    (tmp_path / "card.yaml").write_text(CARD + READ + variants)
    digests = []
    for scenario in ("card.yaml", "first/plan.yaml"):
        folder = "first" if scenario == "card.yaml" else "second"
        said = lanetwin(tmp_path, "run", scenario, "-q", "-o", folder)
        assert said.returncode == 0, said.stderr
        digests.append(json.loads((tmp_path / folder / "results.json").read_text())["digest"])
    assert digests[0] == digests[1]


def test_a_touchstone_file_without_a_transfer_has_a_code(tmp_path: Path) -> None:
    rows = "".join(f"{gigahertz} 0 0 0 0 0 0 0 0\n" for gigahertz in (1, 10, 20, 40))
    (tmp_path / "dark.s2p").write_text("# GHz S MA R 50\n" + rows)
    said = lanetwin(tmp_path, "link", "touchstone", "dark.s2p")
    assert (said.returncode, "PH031" in said.stderr, "Traceback" in said.stderr) == (1, True, False), said


def test_pages_of_many_variants_draw_the_first_and_tabulate_all(tmp_path: Path) -> None:
    variants = "".join(f"  v{nth}: {{machine.card.issue: {nth + 1}ns}}\n" for nth in range(60))
    (tmp_path / "many.yaml").write_text(CARD + READ + "variants:\n" + variants)
    results = engine.run(str(tmp_path / "many.yaml"))
    drawn, undrawn = excerpt.drawn(results)
    assert (len({row["variant"] for row in drawn["rows"]}), undrawn) == (excerpt.MOST_DRAWN, 36)
    page = render(results)
    assert ("36 more are in the tables" in page, "v59" in page) == (True, True)
    few, none = excerpt.drawn(drawn)
    assert (few is drawn, none) == (True, 0)


def test_repeats_are_kept_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "card.yaml").write_text(CARD + READ)
    said = lanetwin(tmp_path, "run", "card.yaml", "-q", "--json", "--set", "run.repeats=2000")
    assert said.returncode == 0, said.stderr
    # with 200 KB for each repeat it would be 400 MB and more
    assert (json.loads(said.stdout)["cost"]["peak_memory_bytes"] or 0) < 250e6
