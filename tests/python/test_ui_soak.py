"""The live view for an hour: its memory, its open files and its answers stay what they were.

`make soak` runs it; LANETWIN_SOAK_SECONDS makes it shorter or longer.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import pytest

from test_ui import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = float(os.environ.get("LANETWIN_SOAK_SECONDS", "3600"))
"""How long the view is used [s]."""
SETTLED = 0.2
"""After this share of the time caches are full: what grows from then on grows without end."""
GROWTH = 1.15
"""So much more memory the server may have in its last part than when it had settled, beside `SLACK`."""
SLACK = 16 << 20
"""Allocators and pages of Python [bytes]."""
FILES = 8
"""So many more files may be open: connections that are about to close."""


class Session:
    """A browser's session with the server, without the browser."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._host = f"127.0.0.1:{place.port}"
        self._cookie = ""
        self._enter()

    def _enter(self) -> None:
        """Take the first page, as soon as the server listens."""
        for _ in range(100):
            try:
                self.ask("/")
            except ConnectionRefusedError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("the server does not listen")

    def ask(self, path: str, body: Any = None) -> Any:
        """Ask for an address on a connection of its own, and return what it answers."""
        headers = {"Origin": f"http://{self._host}", "Cookie": self._cookie}
        connection = http.client.HTTPConnection(self._host, timeout=60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request("POST" if body is not None else "GET", path, text, headers)
            answer = connection.getresponse()
            found = answer.read().decode()
            assert answer.status == 200, f"{path}: {answer.status} {found[:300]}"
            self._cookie = self._cookie or (answer.getheader("Set-Cookie") or "").split(";")[0]
            return json.loads(found) if answer.getheader("Content-Type") == "application/json" else found
        finally:
            connection.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """Serve a folder with a scenario; gives the process and the address."""
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "lanetwin", "ui", str(tmp_path), "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        assert found
        yield process.pid, found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)


def memory(process: int) -> int:
    """Return what a process holds in memory [bytes]."""
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def round_of_use(session: Session, nth: int) -> dict[str, Any]:
    """Use every view once; return what must be the same each time."""
    checked = session.ask("/api/check", {"path": "slot.yaml", "text": SCENARIO})
    width = ("x1", "x2", "x4", "x8")[nth % 4]
    moved = session.ask(
        "/api/quick", {"path": "slot.yaml", "text": SCENARIO, "sets": [f"links.slot.width={width}"]}
    )
    session.ask("/api/parts")
    session.ask("/api/parts/montage-m88rt51632")
    session.ask("/api/studies")
    key = session.ask("/api/runs", {"path": "slot.yaml", "sets": ["run.repeats=2"]})["run"]
    if nth % 5 == 4:
        session.ask(f"/api/runs/{key}/cancel", {})
    told = [
        json.loads(line) for line in re.findall(r"^data: (.*)$", session.ask(f"/api/runs/{key}/events"), re.M)
    ]
    last = told[-1]
    if last["kind"] == "done" and last["complete"]:
        run = quote(last["run"])
        assert "Does this card need all the lanes" in session.ask(f"/report?run={run}")
        assert session.ask(f"/api/compare?a={run}&b={run}")["lines"]
    lines = moved["workloads"][0]["lines"]
    return {"diagnostics": checked["diagnostics"], width: [line["value"] for line in lines]}


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from Linux's /proc")
def test_an_hour_leaves_memory_files_and_answers_as_they_were(server: tuple[int, str]) -> None:
    process, address = server
    session = Session(address)
    begin = time.monotonic()
    said: dict[str, Any] = {}
    seen: list[tuple[float, int, int]] = []
    nth = 0
    while not seen or seen[-1][0] < LENGTH:
        for name, value in round_of_use(session, nth).items():
            assert said.setdefault(name, value) == value, f"{name} after {nth} rounds"
        nth += 1
        open_files = len(os.listdir(f"/proc/{process}/fd"))
        seen.append((time.monotonic() - begin, memory(process), open_files))
    settled = [one for one in seen if one[0] > SETTLED * seen[-1][0]]
    part = max(1, len(settled) // 4)
    first, last = settled[:part], settled[-part:]
    before, after = (sum(one[1] for one in some) / len(some) for some in (first, last))
    rounds = f"{nth} rounds in {seen[-1][0]:.0f} s, {before / 2**20:.1f} to {after / 2**20:.1f} MiB"
    print(f"{rounds}, at most {max(one[2] for one in settled)} files")
    assert after < before * GROWTH + SLACK, rounds
    assert max(one[2] for one in last) <= min(one[2] for one in first) + FILES, rounds
