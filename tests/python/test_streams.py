"""What the command does when its output is closed, full, or lacks our signs, and when it is told to stop."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "scenarios" / "demo.yaml"
LONG = ROOT / "scenarios" / "pm1743.yaml"
SHORT = ["run", str(DEMO), "--set", "run.repeats=2"]


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of the shell in which `$L` is the command."""
    environment = {**os.environ, "L": f"{sys.executable} -m lanetwin", **environment}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, check=False)


@pytest.mark.parametrize("words", ["parts", "parts show samsung-pm1743", f"check {DEMO}"])
def test_a_full_disk_is_told_in_one_line(words: str, tmp_path: Path) -> None:
    done = shell(f"$L {words} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.decode() == "error: cannot write to standard output: No space left on device\n"


def test_a_result_that_cannot_be_printed_is_kept(tmp_path: Path) -> None:
    done = shell(f"$L {' '.join(SHORT)} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert len(list(tmp_path.glob("runs/*/report.html"))) == 1


@pytest.mark.parametrize("words", [" ".join(SHORT), "parts", f"run {DEMO} --json"])
def test_a_reader_that_has_enough_is_no_error(words: str, tmp_path: Path) -> None:
    done = shell(f"$L {words} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_stop_nothing(closed: str, tmp_path: Path) -> None:
    done = shell(f"$L {' '.join(SHORT)} {closed}", tmp_path)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    (report,) = tmp_path.glob("runs/*/report.html")
    assert report.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_losing_standard_error_ends_no_run(tmp_path: Path) -> None:
    done = shell(f"$L {' '.join(SHORT)} 2>/dev/full", tmp_path)
    assert done.returncode == 0
    assert b"throughput" in done.stdout


def test_signs_that_an_encoding_lacks_are_written_otherwise(tmp_path: Path) -> None:
    plain = shell(f"$L {' '.join(SHORT)}", tmp_path, PYTHONIOENCODING="ascii")
    signs = shell(f"$L {' '.join(SHORT)}", tmp_path, PYTHONIOENCODING="utf-8")
    assert (plain.returncode, signs.returncode) == (0, 0)
    assert plain.stdout.isascii()
    assert "µs" in signs.stdout.decode()
    assert b" us" in plain.stdout
    # the question has one, and so has what is inconclusive: none stands for a sign that could not be written
    assert plain.stdout.count(b"?") == signs.stdout.count(b"?")


def test_json_is_the_same_in_every_encoding(tmp_path: Path) -> None:
    said = [
        shell(f"$L {' '.join(SHORT)} --json", tmp_path, PYTHONIOENCODING=encoding).stdout
        for encoding in ("ascii", "latin-1", "utf-8")
    ]
    documents = [json.loads(text) for text in said]
    for document in documents:
        del document["cost"]
    assert documents[0] == documents[1] == documents[2]


def await_engine(process: int) -> None:
    """Wait until the engine's thread runs: then every signal is heard."""
    tasks = Path(f"/proc/{process}/task")
    deadline = time.monotonic() + 60.0
    while not any(name.read_text().startswith("lanetwin-engine"[:15]) for name in tasks.glob("*/comm")):
        assert time.monotonic() < deadline, "the engine did not start"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "numbers", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGHUP, signal.SIGTERM]]
)
def test_every_wish_to_stop_keeps_what_is_finished(numbers: list[signal.Signals], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lanetwin", "run", str(LONG), "--set", "run.repeats=400"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        await_engine(run.pid)
        for number in numbers:
            run.send_signal(number)
        said, told = run.communicate(timeout=120)
    assert run.returncode == 130
    assert told.count(b"stopping; what is finished will be kept") == 1
    assert b"partial result" in said
    (document,) = tmp_path.glob("runs/*-partial/results.json")
    assert json.loads(document.read_text(encoding="utf-8"))["complete"] is False
