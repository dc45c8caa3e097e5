"""`lanetwin link train` and `lanetwin link cycle` with the real engine, as a user meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib
import pytest

from lanetwin.cli import app
from lanetwin.report import cycles as cycles_report

if TYPE_CHECKING:
    from typer.testing import CliRunner, Result

try:
    from lanetwin import _core, engine  # noqa: F401
except ImportError as error:  # pragma: no cover
    pytest.skip(f"the engine is not built (make install): {error}", allow_module_level=True)

LINKS = Path(__file__).parents[2] / "scenarios" / "link"
DUMP, GRADES = LINKS / "gen5-drive.txt", LINKS / "three-grades.yaml"


def call(runner: CliRunner, *words: str | Path) -> Result:
    """Run the command."""
    return runner.invoke(app, ["link", *map(str, words)])


def by_test(result: Result) -> dict[str, dict[str, Any]]:
    """Give the tests of the only series of a JSON answer, by name."""
    series = json.loads(result.stdout)["series"]
    assert len(series) == 1
    return {test["test"]: test for test in series[0]["tests"]}


def test_an_inert_machine_performs_nothing(runner: CliRunner) -> None:
    words = ("cycle", "--fake", DUMP, "--behaviour", "inert", "--count", "3")
    found = by_test(call(runner, *words, "--json"))
    assert len(found) == 11
    assert {test["verdict"] for test in found.values()} == {"NOT PERFORMED"}
    assert all(test["bound"] is None and test["passed"] == 0 for test in found.values())
    done = call(runner, *words, "--strict")
    assert done.exit_code == 3, done.output
    assert "pass /" not in done.stdout


def test_a_simulated_link_behind_a_dump_passes(runner: CliRunner) -> None:
    done = call(runner, "cycle", "--fake", DUMP, "--count", "5", "--json", "--strict")
    assert done.exit_code == 0, done.output
    found = by_test(done)
    assert {
        name: (test["passed"], test["failed"]) for name, test in found.items() if name != "power-cycle"
    } == {name: (5, 0) for name in found if name != "power-cycle"}
    assert found["power-cycle"]["passed"] == 1


def test_a_report_has_the_variant_that_was_cycled_and_says_what_was_copied(runner: CliRunner) -> None:
    channel = DUMP.parent / "long-with-cable.yaml"
    done = call(
        runner, "cycle", "--channel", channel, "--variant", "retimer", "--test", "retrain", "--count", "5",
        "--dwell-ms", "0", "--report", "cycles.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Every cycle therefore took the same time in: Link Retrain." in " ".join(done.stdout.split())
    page = Path("cycles.html").read_text(encoding="utf-8")
    assert "as-is" not in page


def test_what_is_copied_behind_a_dump_is_said(runner: CliRunner) -> None:
    words = ("cycle", "--fake", DUMP, "--test", "retrain", "--dwell-ms", "0")
    many, one = (call(runner, *words, "--count", count) for count in ("5", "1"))
    assert many.exit_code == one.exit_code == 0, many.output + one.output
    copied = "Cycles of a device out of a dump do not differ"
    assert copied in " ".join(many.stdout.split())
    assert copied not in " ".join(one.stdout.split())


def test_the_table_says_what_it_proves(runner: CliRunner) -> None:
    done = call(
        runner, "cycle", "--fake", DUMP, "--behaviour", "obliging", "--test", "retrain", "--count", "10000",
        "--dwell-ms", "0", "--report", "cycles.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "10000 pass / 10000 cycles" in text
    assert "at most 3.0e-04" in text
    assert "do not tell 4 sigma of margin from 6" in text
    assert "probability 0.73" in text
    page = Path("cycles.html").read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(page)
    assert "Stability cycles" in page
    assert "3.0e-04" in page


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--fake", DUMP, "--test", "sbrr"), "LC013"),
        (("--fake", DUMP, "--count", "0"), "LC021"),
        (("--fake", GRADES), "LC015"),
        (("--fake", DUMP, "--device", "0000:00:1c.0"), "LC016"),
        (("--fake", DUMP, "--device", "0000:07:00.0"), "LC002"),
        (("--device", "nonsense"), "LC001"),
        (("--device", "0000:fe:1f.7"), "LC002"),
        (("--channel", GRADES, "--variant", "retimr"), "LC022"),
        (("--channel", GRADES, "--width", "3"), "LC025"),
        (("--restore", "nowhere"), "LC018"),
    ],
)
def test_mistakes_have_codes(runner: CliRunner, words: tuple[str | Path, ...], code: str) -> None:
    done = call(runner, "cycle", *words)
    assert done.exit_code == 1, done.output
    assert f"[{code}]" in done.stderr
    assert "help:" in done.stderr
    assert engine.explain(code).startswith(f"# {code}: ")


def test_a_device_without_a_port_above_it_is_refused_not_interrupted(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = {"severity": "error", "place": "0000:00:01.0", "message": "no port", "help": "name an endpoint"}
    refused = {
        "kind": "link-cycles",
        "name": "0000:00:01.0",
        "about": "",
        "series": [],
        "power": [],
        "plan": None,
        "complete": False,
        "findings": [{**finding, "code": "LC005"}, {**finding, "code": "LC011"}],
    }
    monkeypatch.setattr(engine, "link_cycle", lambda *_, **__: refused)
    done = call(runner, "cycle", "--device", "0000:00:01.0")
    assert done.exit_code == 1, done.output
    assert done.stdout == ""


def test_one_source_has_to_be_named(runner: CliRunner) -> None:
    assert call(runner, "cycle").exit_code == 2
    assert call(runner, "cycle", "--fake", DUMP, "--channel", GRADES).exit_code == 2


def test_a_good_channel_trains_to_full_speed(runner: CliRunner) -> None:
    done = call(runner, "train", GRADES, "--variant", "good", "--json", "--strict")
    assert done.exit_code == 0, done.output
    (variant,) = json.loads(done.stdout)["variants"]
    assert (variant["up"], variant["generation"], variant["width"]) == (True, 5, 4)
    states = [step["state"] for step in variant["steps"] if step["end"] == "port"]
    order = ["Detect.Active", "Polling.Active", "Configuration.Complete", "Recovery.Speed", "L0"]
    places = [states.index(state) for state in order if state != "L0"]
    assert places == sorted(places)
    assert states[-1] == "L0"
    assert all(one["complete"] and all(one["phases"]) for one in variant["equalisation"])
    times = [step["at_s"] for step in variant["steps"]]
    assert times == sorted(times)


def engine_runs(process: int) -> None:
    """Wait until the engine's thread is at work: from then on the command handles signals."""
    tasks = Path(f"/proc/{process}/task")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        names = [(task / "comm").read_text().strip() for task in tasks.iterdir()]
        if "lanetwin-engine" in names:
            time.sleep(0.3)  # some cycles
            return
        time.sleep(0.05)
    pytest.fail("the engine does not start")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are found in procfs")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_and_keeps_the_counts(number: signal.Signals) -> None:
    words = ["cycle", "--fake", str(DUMP), "--behaviour", "obliging", "--test", "sbr", "--count", "90000000"]
    child = subprocess.Popen(
        [sys.executable, "-m", "lanetwin", "link", *words, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        engine_runs(child.pid)
        child.send_signal(number)
        stdout, stderr = child.communicate(timeout=60)
    finally:
        child.kill()  # in the background of some shells signals are ignored
    assert child.returncode == 130, stderr
    assert "every register is put back" in stderr
    (series,) = json.loads(stdout)["series"]
    assert series["not_restored"] == []
    assert 0 < series["tests"][0]["passed"] < 90000000


def test_words_for_numbers() -> None:
    assert cycles_report.duration(0.0123) == "12.3 ms"
    assert cycles_report.rate(5) == "32 GT/s"
    assert cycles_report.equalised({"generation": 4, "complete": False, "phases": [True, False, False]}) == (
        "16 GT/s: phases 1"
    )
