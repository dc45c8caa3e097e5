"""Files that are no measurements, or hostile ones: a coded error with a remedy, or harmless results."""

import csv
import io
import json
import os
import random
import re
from pathlib import Path
from time import monotonic, time_ns
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from lanetwin import report
from lanetwin.errors import LanetwinError
from lanetwin.formats.csv import rows_csv
from lanetwin.measured import imported
from lanetwin.measured.formats import format_of
from lanetwin.measured.values import MOST_DEPTH, Source
from test_import import SAMPLES, call, document, read

EVIL = "=cmd|' /C calc'!A0<script>alert(1)</script>\x1b[31m\u202e"


def test_names_are_kept_harmless(tmp_path: Path, runner: CliRunner) -> None:
    results = read(tmp_path / "evil.json", document(5, 1000, 1, EVIL), variant=EVIL, workload=EVIL)
    row = results["rows"][0]
    for name in (row["case"], row["variant"], row["workload"]):
        assert name.isprintable()
        assert "\u202e" not in name
    page = report.render(results)
    assert "<script>alert" not in page
    cells = [cell for line in csv.reader(io.StringIO(rows_csv(results["rows"]))) for cell in line]
    assert not [cell for cell in cells if re.match(r"[=+@\t\r]", cell)]
    done = call(runner, "import", str(tmp_path / "evil.json"), "--out", "kept")
    assert done.exit_code == 0
    assert "\x1b[31m" not in done.output


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        ("", "a.json", "ME006"),
        ("just words", "a.txt", "ME002"),
        ('{"fio version": "fio-3.33", "jobs": [', "a.json", "ME003"),
        ('{"fio version": "fio-3.33", "jobs": 5}', "a.json", "ME004"),
        ('{"fio version": "fio-3.33", "jobs": [5]}', "a.json", "ME004"),
        ('{"fio version": "fio-3.33", "jobs": []}', "a.json", "ME006"),
        (
            '{"fio version": "f", "jobs": [{"jobname": "a", "read": {"total_ios": 1, "bw_bytes": NaN}}]}',
            "a.json",
            "ME004",
        ),
        (
            '{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "read": {"total_ios": 1e999}}]}',
            "a.json",
            "ME004",
        ),
        ('{"fio version": "f", "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "a.json", "ME005"),
        (
            '{"fio version": "f", "x": ' + "[" * (MOST_DEPTH + 2) + "]" * (MOST_DEPTH + 2) + "}",
            "a.json",
            "ME005",
        ),
        ("1, 2, 0, 4096\nnonsense\n", "a_lat.1.log", "ME003"),
        ("1, 2, 0, 4096\n", "a.log", "ME002"),
    ],
)
def test_what_cannot_be_imported_is_told_with_code_and_place(
    text: str, name: str, code: str, runner: CliRunner
) -> None:
    Path(name).write_text(text, encoding="utf-8")
    done = call(runner, "import", name)
    assert done.exit_code == 1
    assert f"error[{code}] {name}" in done.stderr, done.output
    assert "help: " in done.stderr
    assert [file.name for file in Path().iterdir()] == [name]


def test_files_that_are_none_are_told(runner: CliRunner) -> None:
    Path("folder").mkdir()
    Path("x.json").write_bytes(b"\xff\xfe\x00")
    for name in ("folder", "nothing.json", "x.json", "/dev/zero"):
        done = call(runner, "import", name)
        assert done.exit_code == 1
        assert "error[ME001]" in done.stderr
    assert call(runner, "import").exit_code == 2
    assert call(runner, "import", "x.json", "--format", "none").exit_code == 2
    assert "fio-json" in call(runner, "import", "--formats").stdout


def test_text_of_windows_is_read_and_text_for_people_is_told(runner: CliRunner) -> None:
    text = SAMPLES["fio-json"][1]
    for nth, encoding in enumerate(("utf-8-sig", "utf-16")):
        Path("o.json").write_bytes(text.partition("\n")[2].encode(encoding))
        done = call(runner, "import", "o.json", "--out", f"out{nth}")
        assert done.exit_code == 0, done.output
        assert "28.70" in done.stdout
    Path("n.txt").write_text("r: (groupid=0, jobs=1): err= 0: pid=7: Fri\n  read: IOPS=12.9k, BW=50.4MiB/s\n")
    done = call(runner, "import", "n.txt")
    assert "error[ME002]" in done.stderr
    assert "--output-format=json" in done.stderr


def only_coded_errors(file: Path, data: bytes, format_: str | None = None) -> None:
    """Import a file; anything but results or a coded error is a fault."""
    file.write_bytes(data)
    told = None
    try:
        results = imported([file], version="0", format_=format_)
        report.render(results)
        rows_csv(results["rows"])
    except LanetwinError as error:
        told = error.diagnostics
    assert told is None or told
    assert all(re.fullmatch(r"ME\d{3}", one.code) and one.help for one in told or [])


QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(data=st.binary(max_size=400), name=st.sampled_from([*SAMPLES]))
@QUIET
def test_random_bytes_give_only_coded_errors(data: bytes, name: str, tmp_path: Path) -> None:
    file, _ = SAMPLES[name]
    only_coded_errors(tmp_path / file, data)
    only_coded_errors(tmp_path / file, data, name)


@given(
    name=st.sampled_from([*SAMPLES]),
    cut=st.floats(0, 1),
    changes=st.lists(
        st.tuples(
            st.floats(0, 1),
            st.sampled_from([b"", b"-", b"9" * 400, b"{", b"}", b"nan", b"\x00", b",", b"\xff"]),
        ),
        max_size=4,
    ),
)
@QUIET
def test_damaged_files_give_only_coded_errors(
    name: str, cut: float, changes: list[tuple[float, bytes]], tmp_path: Path
) -> None:
    file, text = SAMPLES[name]
    data = bytearray(text.encode())
    for where, what in changes:
        at = int(where * len(data))
        data[at : at + 1] = what
    for version in (data, data[: int(cut * len(data))]):
        only_coded_errors(tmp_path / file, bytes(version))
        only_coded_errors(tmp_path / file, bytes(version), name)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["mean", "N", "percentile", "bins", "50.0", "iops"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(
    job=st.dictionaries(
        st.sampled_from(["jobname", "groupid", "read", "write", "trim", "elapsed"]),
        JSON
        | st.fixed_dictionaries(
            {"total_ios": st.just(5)}, optional={"lat_ns": JSON, "clat_ns": JSON, "iops": JSON}
        ),
    )
)
@QUIET
def test_odd_documents_give_only_coded_errors(job: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps({"fio version": "fio-3.33", "jobs": [job]})
    only_coded_errors(tmp_path / "odd.json", text.encode())


PIECES = (b"", b"-", b"9" * 400, b"{", b"}", b"[", b"nan", b"1e999", b"\x00", b",", b"\xff", b"\n", b'"')
"""What damage puts in."""


@pytest.mark.long
def test_minutes_of_damage_give_only_coded_errors(tmp_path: Path) -> None:
    """Cut, change and mix samples of every format, for LANETWIN_FUZZ_SECONDS (default: ten minutes)."""
    end, seed = monotonic() + float(os.environ.get("LANETWIN_FUZZ_SECONDS", "600")), time_ns()
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311 - no secret
    names, runs = [*SAMPLES], 0
    while monotonic() < end:
        file, text = SAMPLES[name := chance.choice(names)]
        data = bytearray(text.encode())
        for _ in range(chance.randint(0, 6)):
            at, size = chance.randrange(len(data) + 1), chance.choice((0, 1, 1, 8, 64))
            other = SAMPLES[chance.choice(names)][1].encode()
            data[at : at + size] = chance.choice((*PIECES, chance.randbytes(4), other[at : at + 64]))
        only_coded_errors(tmp_path / file, bytes(data), chance.choice((None, name, chance.choice(names))))
        runs += 1
    print(f"{runs} files")


def test_a_long_line_of_braces_takes_no_time(tmp_path: Path) -> None:
    text = '"fio version" ' + "x{" * 1_000_000
    source = Source("x.json", "x")
    assert format_of(text, source) is not None
    only_coded_errors(tmp_path / "x.json", text.encode())
