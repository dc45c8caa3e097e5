"""A part out of measurements: drives whose truth is known, what is refused, what is written."""

import json
import re
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from typer.testing import CliRunner

import synthetic_drives
from lanetwin import calibration, engine
from lanetwin.calibration.outcome import Outcome, Role
from lanetwin.calibration.space import Parameter, quantity, written
from lanetwin.cli import app
from untold import english

REQUESTS = 100
"""Of each case of a drive: few, so that a calibration takes seconds."""


@pytest.fixture(scope="module", params=[pytest.param(drive, marks=pytest.mark.long) for drive in range(3)])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return synthetic_drives.outcome(request.param, tmp_path_factory.mktemp("drive"), REQUESTS)


def test_cases_that_were_held_back_are_predicted(found: Outcome) -> None:
    held = [abs(line.error) for line in found.of(Role.PREDICTED)]
    assert len(held) >= 8
    assert median(held) <= 0.05
    before = fmean(abs(line.error_before) for line in found.rows)
    assert fmean(abs(line.error) for line in found.rows) < before / 2


def test_no_case_both_calibrates_and_is_predicted(found: Outcome) -> None:
    of = {role: {line.value.row.place for line in found.of(role)} for role in Role}
    assert len(of[Role.CALIBRATED]) == synthetic_drives.CALIBRATING
    assert (
        len(of[Role.PREDICTED] | of[Role.APART]) == len(synthetic_drives.JOBS) - synthetic_drives.CALIBRATING
    )
    assert not of[Role.CALIBRATED] & (of[Role.PREDICTED] | of[Role.APART])


def test_rows_stand_apart_because_of_what_cannot_be_told(found: Outcome) -> None:
    told = {one.parameter.name for one in found.parameters if one.is_told and one.deviation < 0.05}
    for line in found.of(Role.APART):
        assert line.rests_on
        assert not set(line.rests_on) <= told
    assert all(not line.rests_on for line in found.of(Role.PREDICTED))


def test_what_is_told_lies_near_the_truth(found: Outcome, request: pytest.FixtureRequest) -> None:
    """A parameter that the rows tell within so many per cent is seldom much further from the truth."""
    drive = request.node.callspec.params["found"]
    truth = synthetic_drives.truth_us(drive)
    for one in found.parameters:
        if one.is_told:
            assert one.value / 1e6 == pytest.approx(
                truth[one.parameter.name], rel=max(4 * one.deviation, 0.1)
            )


DRIVE = """about: Is the drive known?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: plain}
links:
  bay: {from: host, to: ssd}
workloads:
  one: {fio: {rw: randread, bs: 4k, iodepth: 1, requests: 60}, on: host, target: ssd}
  many: {fio: {rw: randread, bs: 4k, iodepth: 64, requests: 200}, on: host, target: ssd}
  large: {fio: {rw: randread, bs: 64k, iodepth: 1, requests: 60}, on: host, target: ssd}
  some: {fio: {rw: randread, bs: 4k, iodepth: 8, requests: 60}, on: host, target: ssd}
"""
PLAIN = """name: plain
about: A plain device.
model: block-endpoint
grade: datasheet-only
parameters:
  latency: {value: 70us, kind: assumed, source: a guess}
  parallelism: {value: 16, kind: assumed, source: a guess}
  port.gen: {value: 4, kind: standard, source: a standard}
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Write a scenario with a part beside it, and what was measured."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "plain.yaml").write_text(PLAIN)
    file = tmp_path / "plain-drive.yaml"
    file.write_text(DRIVE)
    sets = ["machine.ssd.latency=91us", "machine.ssd.parallelism=24"]
    truth = engine.run(str(file), sets=sets, seed=5)
    truth["kind"] = "measured"
    (tmp_path / "measured.json").write_text(json.dumps(truth))
    return file


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_part_is_written_that_a_scenario_can_use(plain: Path) -> None:
    folder = plain.parent
    options = ("--free", "latency", "--free", "parallelism=4..64")
    asked = ("parts", "calibrate", "plain", "--in", plain, "--from", folder / "measured.json", *options)
    done = call(*asked, "--as", "mine", "--on", "one", "--on", "many", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert {row["workload"] for row in document["rows"] if row["role"] == "calibrated"} == {"one", "many"}
    by_name = {one["parameter"]: one for one in document["parameters"]}
    assert by_name["latency"]["told"] == by_name["parallelism"]["told"] == "told"
    latency = quantity(by_name["latency"]["to"])
    assert latency
    assert latency[0] == pytest.approx(91e6, rel=0.02)
    assert float(by_name["parallelism"]["to"]) == pytest.approx(24, abs=1)
    assert document["median_error"]["predicted"] < 0.02

    part = engine.part("mine", str(plain))
    assert part["grade"] == "validated"
    assert "did not calibrate it: median error" in part["validated"]
    numbers = {number["parameter"]: number for number in part["parameters"]}
    assert numbers["latency"]["kind"] == "calibrated"
    assert numbers["latency"]["calibrated to"] == "4 rows of measured.json"
    assert numbers["port.gen"]["kind"] == "standard"
    again = engine.run(str(plain), sets=["machine.ssd.part=mine"])
    assert again["complete"]
    assert "calibration" in (folder / "parts" / "mine.yaml").read_text()


def test_what_no_row_tells_keeps_its_number(plain: Path) -> None:
    options = ("--free", "latency", "--free", "parallelism=8..64", "--on", "one")
    asked = ("parts", "calibrate", "plain", "--in", plain, "--from", plain.parent / "measured.json", *options)
    done = call(*asked, "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    told = {one["parameter"]: one["told"] for one in document["parameters"]}
    assert told == {"latency": "told", "parallelism": "not told"}
    apart = {row["workload"] for row in document["rows"] if row["role"] == "apart"}
    assert "many" in apart
    assert "one" not in apart
    numbers = {
        number["parameter"]: number for number in engine.part("plain-calibrated", str(plain))["parameters"]
    }
    assert (numbers["parallelism"]["value"], numbers["parallelism"]["kind"]) == ("16", "assumed")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("plain", "--free", "nothing"), "CA004"),
        (("plain", "--free", "latency=1us"), "CA004"),
        (("plain", "--free", "latency=1us..2us"), "CA004"),
        (("plain", "--free", "latency=1..2"), "CA004"),
        (("samsung-pm9a3",), "CA002"),
        (("plain", "--on", "nowhere"), "CA003"),
        (("plain", "--on", "9"), "CA003"),
        (("plain", "--free", "port.credit-update=59ns..61ns"), "CA006"),
    ],
)
def test_what_cannot_be_done_is_refused(plain: Path, options: tuple[str, ...], code: str) -> None:
    done = call("parts", "calibrate", *options, "--in", plain, "--from", plain.parent / "measured.json")
    assert done.exit_code == 1
    assert code in done.stderr
    assert [file.name for file in (plain.parent / "parts").iterdir()] == ["plain.yaml"]


def test_a_fit_that_ends_at_a_bound_says_so(plain: Path) -> None:
    asked = ("parts", "calibrate", "plain", "--in", plain, "--from", plain.parent / "measured.json")
    done = call(*asked, "--as", "mine", "--on", "one", "--free", "latency=60us..80us")
    assert done.exit_code == 0, done.output
    assert "latency ends at a bound of its range, 60us to 80us" in done.stdout
    done = call(*asked, "--as", "other", "--on", "one", "--free", "latency=60us..180us")
    assert "ends at a bound" not in done.stdout


@pytest.mark.parametrize("on", [("one", "some"), ("one",)])
def test_in_another_language_no_english_is_left(on: tuple[str, ...], plain: Path) -> None:
    measured = json.loads((plain.parent / "measured.json").read_text())
    for row in measured["rows"]:
        row["variant"] = "mine"
        # a part of nothing but a latency cannot be these
        row["value"] *= 2 if row["workload"] == "some" else 1
    (plain.parent / "measured.json").write_text(json.dumps(measured))
    chosen = [word for name in on for word in ("--on", name)]
    asked = ("parts", "calibrate", "plain", "--in", plain, "--from", plain.parent / "measured.json", *chosen)
    done = call(*asked, "--as", "other", "--free", "latency=60us..80us", "--free", "parallelism=8..64")
    assert done.exit_code == 0, done.output
    done = call(*asked, "--free", "latency=60us..80us", "--free", "parallelism=8..64", "--lang", "zh")
    assert done.exit_code == 0, done.output
    names = {"one", "many", "large", "some", "latency", "parallelism", "mine", "as-is", "LOW", "HIGH", "us"}
    assert "latency" in done.stdout
    names |= set(re.findall(r"randread\S*", done.stdout))
    left = [(line, found) for line in done.stdout.splitlines() if (found := english(line, names))]
    assert not left, done.stdout


def test_what_was_predicted_calibrates_nothing(plain: Path) -> None:
    predicted = plain.parent / "predicted.json"
    predicted.write_text(json.dumps(engine.run(str(plain))))
    done = call("parts", "calibrate", "plain", "--in", plain, "--from", predicted, "--as", "mine")
    assert done.exit_code == 1
    assert "error[CA003]" in done.stderr
    assert "these results are simulated" in done.stderr
    assert not (plain.parent / "parts" / "mine.yaml").exists()


def test_a_variant_with_another_part_is_refused(plain: Path) -> None:
    plain.write_text(DRIVE + "variants:\n  a: {}\n  b: {machine.ssd.part: generic-nvme-gen4}\n")
    done = call("parts", "calibrate", "plain", "--in", plain, "--from", plain.parent / "measured.json")
    assert "CA005" in done.stderr, done.output


def test_a_part_that_is_there_is_not_overwritten(plain: Path) -> None:
    asked = (
        "parts",
        "calibrate",
        "plain",
        "--in",
        plain,
        "--from",
        plain.parent / "measured.json",
        "--as",
        "plain",
    )
    done = call(*asked)
    assert "RS006" in done.stderr
    assert (plain.parent / "parts" / "plain.yaml").read_text() == PLAIN


def test_measurements_that_name_no_scenario_need_one(tmp_path: Path, plain: Path) -> None:
    results = json.loads((plain.parent / "measured.json").read_text())
    results["scenario"] = {"path": "", "text": ""}
    (tmp_path / "bare.json").write_text(json.dumps(results))
    assert "CA002" in call("parts", "calibrate", "plain", "--from", tmp_path / "bare.json").stderr


@pytest.mark.parametrize(("text", "code"), [("", "ME006"), ("hello\n", "ME002"), ("{", "RS002")])
def test_what_is_no_measurement_is_told_to_be_none(text: str, code: str, tmp_path: Path, plain: Path) -> None:
    (tmp_path / "nothing.json").write_text(text)
    done = CliRunner().invoke(
        app, ["parts", "calibrate", "drive", "--in", str(plain), "--from", str(tmp_path / "nothing.json")]
    )
    assert (done.exit_code, f"error[{code}]" in done.stderr) == (1, True), done.stderr


def test_without_scipy_it_says_what_to_install(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("lanetwin.calibration.libraries.import_module", absent)
    done = call("parts", "calibrate", "plain", "--in", plain, "--from", plain.parent / "measured.json")
    assert "CA001" in done.stderr


def test_quantities_survive_being_written() -> None:
    for text in ("4.444us", "400ns", "0ps", "3140us", "128", "2000000000B/s"):
        value, unit = quantity(text) or (0.0, "")
        again = quantity(written(value, unit))
        assert again
        assert again[0] == pytest.approx(value)
        assert again[1] == unit


def test_places_and_values_agree() -> None:
    for one in (Parameter("a", 4e6, 1e6, 16e6, "ps"), Parameter("b", 0.0, 0.0, 10e6, "ps")):
        assert one.value(one.place(one.start)) == pytest.approx(one.start)
        assert [one.value(0), one.value(1)] == pytest.approx([one.low, one.high])


def test_the_text_of_a_part_is_of_the_outcome(found: Outcome) -> None:
    text = calibration.part_text(found, "mine", "fio.json")
    assert text.startswith("name: mine\n")
    assert text.count("role: calibrated") == len(found.of(Role.CALIBRATED))
