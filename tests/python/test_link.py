"""`lanetwin link` with the real engine, as a user meets it: answers, mistakes, gates, the report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib
import pytest

from lanetwin.cli import app
from lanetwin.report import link as link_report

if TYPE_CHECKING:
    from typer.testing import CliRunner, Result

try:
    from lanetwin import _core, engine
except ImportError as error:  # pragma: no cover
    pytest.skip(f"the engine is not built (make install): {error}", allow_module_level=True)

LINKS = Path(__file__).parents[2] / "scenarios" / "link"
LONG, SHORT = LINKS / "long-with-cable.yaml", LINKS / "direct-drive.yaml"


def call(runner: CliRunner, *words: str | Path) -> Result:
    """Run the command."""
    return runner.invoke(app, ["link", *map(str, words)])


@pytest.fixture(scope="module", name="eyes")
def eyes_fixture() -> dict[str, Any]:
    """Compute the eyes of the long channel once."""
    return engine.link_eye(str(LONG))


def line(folder: Path, name: str = "line.s4p", gain: str = "0.9", last: float = 40.0) -> Path:
    """Write a line of 1 ns, ports 1 to 2 and 3 to 4."""
    rows = ["# GHz S MA R 50"]
    for step in range(int(last * 100) + 1):
        through = f"{gain} {-3.6 * step:.1f}"
        rows.append(
            f"{step / 100} 0 0 {through} 0 0 0 0\n {through} 0 0 0 0 0 0\n"
            f" 0 0 0 0 0 0 {through}\n 0 0 0 0 {through} 0 0"
        )
    file = folder / name
    file.write_text("\n".join(rows) + "\n", encoding="ascii")
    return file


def test_the_budget_tells_loss_margin_split_and_sources(runner: CliRunner) -> None:
    done = call(runner, "budget", LONG)
    assert done.exit_code == 0, done.output
    assert "exceeds" in done.stdout
    assert "fits" in done.stdout
    assert "system-board" in done.stdout
    assert "unconfirmed" in done.stdout
    found = json.loads(call(runner, "budget", LONG, "--json").stdout)
    long, with_retimer = found["variants"]
    assert long["segments"][0]["loss_db"] == pytest.approx(41.1, abs=0.5)
    assert len(with_retimer["segments"]) == 2
    total = sum(loss for _, loss in long["segments"][0]["losses"])
    assert total == pytest.approx(long["segments"][0]["loss_db"])


def test_what_a_channel_can_be_made_of_is_listed(runner: CliRunner) -> None:
    done = call(runner, "elements", "--gen", "4")
    assert done.exit_code == 0, done.output
    assert "8.00 GHz" in done.stdout
    found = json.loads(call(runner, "elements", "--json").stdout)
    kinds = {one["element"] for one in found["elements"]}
    assert {"board", "package", "via", "connector", "cable", "retimer", "redriver", "kit"} == kinds
    assert all(number["source"] for one in found["elements"] for _, number in one["numbers"])
    assert call(runner, "elements", "--gen", "9").exit_code == 1


def test_a_variant_that_is_named_is_the_only_one(runner: CliRunner) -> None:
    for command in ("budget", "eye", "place"):
        one = json.loads(call(runner, command, LONG, "--variant", "retimer", "--json").stdout)
        assert [variant["name"] for variant in one["variants"]] == ["retimer"], command
    refused = call(runner, "budget", LONG, "--variant", "retimers")
    assert refused.exit_code == 1
    assert "LC022" in refused.output


def test_a_gate_fails_only_if_it_is_asked_for(runner: CliRunner) -> None:
    assert call(runner, "budget", LONG, "--strict").exit_code == 3
    assert call(runner, "budget", SHORT, "--strict").exit_code == 0
    assert call(runner, "budget", SHORT, "--set", "chain.board.length=40in", "--strict").exit_code == 3


def test_eyes_are_printed_and_gated(runner: CliRunner) -> None:
    done = call(runner, "eye", LONG, "--strict", "--report", "long.html")
    assert done.exit_code == 3, done.output
    assert "misses" in done.stdout
    assert "meets" in done.stdout
    assert "Judged with" in done.stdout
    assert "Report: long.html" in done.stderr
    page = Path("long.html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(page)
    for title in ("Transmission over frequency", "Bathtub in time", "Bathtub in voltage", "Pulse response"):
        assert title in page
    assert page.count("<svg") == 2 * (3 + 2 * 3), "three figures of all, two of each segment, in two widths"
    assert not re.search(r"(src|href)=.?https?:", page)


def test_the_answer_says_what_the_drawing_shows(eyes: dict[str, Any]) -> None:
    assert [variant["passes"] for variant in eyes["variants"]] == [False, True]
    for variant in eyes["variants"]:
        for segment in variant["segments"]:
            below = [at for at, ber in segment["bathtub_time"] if ber <= segment["mask_ber"]]
            width = below[-1] - below[0] if below else 0.0
            assert segment["width_ui"] == pytest.approx(width, abs=0.035)
            main = next(v for at, v in segment["pulse"] if at == 0)
            assert main > 0.8 * max(v for _, v in segment["pulse"])


def coupling(folder: Path, name: str = "next.s4p", gain: str = "0.01") -> Path:
    """Write a coupling from ports 1 and 3 to ports 2 and 4, flat over frequency."""
    return line(folder, name, gain)


CROSSED = """about: Do neighbours matter?
gen: 3
stress: constants
crosstalk:
  - {name: next, touchstone: next.s4p, ports: [1, 3, 2, 4], at: slot, kind: near}
chain:
  - {package: root-gen3}
  - {name: board, board: low-loss, length: 10in}
  - {name: slot, touchstone: line.s4p}
  - {package: endpoint-gen4}
"""


def test_what_a_verdict_hangs_on_is_said(runner: CliRunner, tmp_path: Path) -> None:
    line(tmp_path)
    coupling(tmp_path)
    document = tmp_path / "drive.yaml"
    document.write_text(CROSSED, encoding="utf-8")
    done = call(runner, "eye", document, "--set", "equalisation=coefficients", "--report", "drive.html")
    assert done.exit_code == 0, done.output
    assert "next (near end, at slot)" in done.stdout
    assert "without them the eye is" in done.stdout
    page = Path("drive.html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(page)
    assert "next (near end, at slot)" in page
    # a sentence that the budget needs
    done = call(runner, "budget", LINKS / "redriver.yaml")
    assert done.exit_code == 0
    assert "CH103" in done.stderr


def test_exchanged_pairs_of_a_file_are_said_with_the_eye(runner: CliRunner, tmp_path: Path) -> None:
    text = line(tmp_path).read_text(encoding="ascii")
    rows = [row.split() for row in text.splitlines()[1:]]
    swapped = ["# GHz S MA R 50"]
    for start in range(0, len(rows), 4):
        # port 1 goes to 4, and 3 to 2
        f, through = rows[start][0], " ".join(rows[start][3:5])
        swapped.append(
            f"{f} 0 0 0 0 0 0 {through}\n 0 0 0 0 {through} 0 0\n"
            f" 0 0 {through} 0 0 0 0\n {through} 0 0 0 0 0 0"
        )
    (tmp_path / "line.s4p").write_text("\n".join(swapped) + "\n", encoding="ascii")
    document = tmp_path / "drive.yaml"
    chain = "chain: [{package: root-gen5}, {touchstone: line.s4p}, {package: endpoint-gen5}]\n"
    document.write_text(f"about: Does it fit?\ngen: 5\nstress: constants\n{chain}", encoding="utf-8")
    done = call(runner, "eye", document, "--report", "drive.html")
    assert done.exit_code == 0, done.output
    assert "PH105" in done.stderr
    assert "PH105" in Path("drive.html").read_text(encoding="utf-8")


def test_the_schema_of_a_channel_is_printed(runner: CliRunner) -> None:
    printed = json.loads(call(runner, "schema").stdout)
    assert printed["$id"] == "link.schema.json"
    assert "redriver" in printed["properties"]["chain"]["items"]["properties"]


def test_names_of_a_user_are_escaped_in_the_report(tmp_path: Path) -> None:
    text = SHORT.read_text(encoding="utf-8")
    about = "about: Is <script>alert(1)</script> safe?"
    file = tmp_path / "<b>.yaml"
    file.write_text(re.sub("about: .*", about, text), encoding="utf-8")
    page = link_report.render(engine.link_budget(str(file)), None)
    assert "<script" not in page
    assert "<b>" not in page
    html5lib.HTMLParser(strict=True).parse(page)


def test_progress_counts_up_to_the_last_eye() -> None:
    told: list[dict[str, Any]] = []
    engine.link_eye(str(SHORT), progress=told.append)
    assert [line["done"] for line in told] == list(range(told[0]["total"]))


def test_places_for_retimers(runner: CliRunner) -> None:
    done = call(runner, "place", LONG, "--after", "card-in", "--after", "slot")
    assert done.exit_code == 0, done.output
    assert "none put in" in done.stdout
    found = json.loads(call(runner, "place", LONG, "-n", "2", "--json").stdout)
    ways = found["variants"][0]["placements"]
    margins = [way["least_margin_db"] for way in ways]
    assert margins == sorted(margins, reverse=True)
    assert max(len(way["after"]) for way in ways) == 2
    wrong = call(runner, "place", LONG, "--after", "crad-in")
    assert wrong.exit_code == 1
    assert "CH005" in wrong.stderr
    assert "did you mean `card-in`?" in wrong.stderr


def test_a_touchstone_file_is_looked_at(runner: CliRunner, tmp_path: Path) -> None:
    done = call(runner, "touchstone", line(tmp_path))
    assert done.exit_code == 0, done.output
    assert "1 3 2 4" in done.stdout
    assert "passivity: 100.00 %, good" in done.stdout
    active = call(runner, "touchstone", line(tmp_path, "active.s4p", gain="1.5", last=10.0))
    assert active.exit_code == 1
    assert "PH018" in active.stderr
    assert "PH019" in active.stderr
    assert call(runner, "touchstone", line(tmp_path), "--ports", "1,x").exit_code == 2
    assert "CH011" in call(runner, "touchstone", line(tmp_path), "--ports", "1,2,3").stderr
    assert "CH008" in call(runner, "touchstone", line(tmp_path), "--gen", "9").stderr
    assert "PH001" in call(runner, "touchstone", tmp_path / "none.s4p").stderr


def test_mistakes_in_a_file_that_is_named_have_their_place(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "bad.s4p").write_text("# GHz S MA R 50\n1 0 0 x 0\n", encoding="ascii")
    document = tmp_path / "drive.yaml"
    document.write_text(
        "about: Does it fit?\ngen: 5\nchain:\n"
        "  - package: rot-gen5\n  - touchstone: bad.s4p\n  - touchstone: gone.s4p\n",
        encoding="utf-8",
    )
    done = call(runner, "budget", document)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert f"error[PH020] {document}:4:" in done.stderr
    assert "error[PH003]" in done.stderr
    assert "bad.s4p:2:" in done.stderr
    assert f"error[PH001] {document}:6:" in done.stderr


def test_data_take_the_place_of_elements(runner: CliRunner, tmp_path: Path) -> None:
    line(tmp_path)
    document = tmp_path / "drive.yaml"
    chain = "chain: [{package: root-gen5}, {touchstone: line.s4p}, {package: endpoint-gen5}]\n"
    document.write_text(f"about: Does it fit?\ngen: 5\n{chain}", encoding="utf-8")
    found = json.loads(call(runner, "budget", document, "--json").stdout)
    # 9 dB and 4.5 dB of packages, and the magnitude of 0.9
    assert found["variants"][0]["segments"][0]["loss_db"] == pytest.approx(13.5 + 0.915, abs=0.02)
    assert call(runner, "eye", document, "--strict").exit_code == 0


def test_an_eye_without_a_model_is_refused(runner: CliRunner) -> None:
    done = call(runner, "eye", SHORT, "--set", "gen=6")
    assert done.exit_code == 1
    assert "CH009" in done.stderr


def test_new_writes_a_description_that_is_right(runner: CliRunner) -> None:
    assert call(runner, "new").exit_code == 0
    assert call(runner, "budget", "link.yaml").exit_code == 0
    again = call(runner, "new")
    assert again.exit_code == 1
    assert "error[RS006]" in again.stderr
    assert call(runner, "new", "--force").exit_code == 0
    assert call(runner, "new", "-o", "-").stdout == json.loads(_core.link_templates())[0]["text"]
