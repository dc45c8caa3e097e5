"""A browser that tests drive: chromium without a window, told what to do through two pipes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
PATIENCE = 20.0
"""Longest wait for something to become true [s]."""


class Page:
    """One page: what is evaluated in it, and what it has complained of."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = os.fdopen(commands, "wb")
        self._answers = os.fdopen(answers, "rb")
        self._count = 0
        self.complaints: list[str] = []
        """Errors of scripts and of the page's policy."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self._ask(f"{domain}.enable", session=self._session)

    def open(self, address: str) -> None:
        """Open an address."""
        self._ask("Page.navigate", session=self._session, url=address)

    def size(self, width: int, height: int) -> None:
        """Give the window a size [px]."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            session=self._session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def value(self, script: str) -> Any:
        """Evaluate an expression and return its value."""
        found = self._ask(
            "Runtime.evaluate",
            session=self._session,
            expression=script,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """Evaluate an expression until it is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.value(f"!!({script})")
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(
            f"never true: {script}; {self.complaints}; {self.value('document.body.innerText')}"
        )

    def picture(self, file: Path) -> None:
        """Write what the window shows as PNG."""
        found = self._ask("Page.captureScreenshot", session=self._session)
        file.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """End the conversation."""
        self._commands.close()
        self._answers.close()

    def _ask(self, method: str, session: str | None = None, **given: Any) -> Any:
        self._count += 1
        own = {"sessionId": session} if session else {}
        message = {"id": self._count, "method": method, "params": given, **own}
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]
            self._hear(answer)

    def _read(self) -> Any:
        text = b""
        while not text.endswith(b"\0"):
            piece = self._answers.read(1)
            assert piece, "the browser has gone"
            text += piece
        return json.loads(text[:-1])

    def _hear(self, event: dict[str, Any]) -> None:
        if event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(str(event["params"]["exceptionDetails"]))
        elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.complaints.append(event["params"]["entry"]["text"])


@contextmanager
def opened(chromium: str, profile: Path) -> Iterator[Page]:
    """Start a browser with an empty profile and return a page of it."""
    command_out, command_in = os.pipe()
    answer_out, answer_in = os.pipe()
    shell = f'exec "$0" "$@" 3<&{command_out} 4>&{answer_in}'
    arguments = [chromium, *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
    with subprocess.Popen(
        ["bash", "-c", shell, *arguments], pass_fds=(command_out, answer_in), stderr=subprocess.DEVNULL
    ) as process:
        os.close(command_out)
        os.close(answer_in)
        page = Page(command_in, answer_out)
        try:
            yield page
        finally:
            process.terminate()
            page.close()
