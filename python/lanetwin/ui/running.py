"""Running scenarios in the background: starting, watching and cancelling, a few at a time."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanetwin import store
from lanetwin.errors import LanetwinError
from lanetwin.ui.quick import workloads
from lanetwin.ui.series import bars

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MOST_RUNS = 2
"""Maximum number of simultaneous runs."""
MOST_KEPT = 16
"""Number of finished runs whose messages are kept; older results are only in the folder."""
PATIENCE = 2.0
"""Time for a run to stop by itself [s]."""
LONGEST_LINE = 1 << 28
"""Longest line of a worker: a results document [bytes]."""


@dataclass
class Job:
    """One run: its messages so far, and its watchers."""

    name: str
    said: list[dict[str, Any]] = field(default_factory=list)
    is_over: bool = False
    is_cancelled: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    process: asyncio.subprocess.Process | None = None
    work: asyncio.Task[None] | None = None

    async def say(self, line: dict[str, Any]) -> None:
        """Send a message to all present and later watchers."""
        async with self.changed:
            self.said.append(line)
            self.is_over = line["kind"] in ("done", "failed")
            self.changed.notify_all()

    async def watch(self, after: int = 0) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Yield the messages after this many lines, and new ones until the run ends."""
        seen = after
        while True:
            async with self.changed:
                while len(self.said) == seen and not self.is_over:
                    await self.changed.wait()
                fresh, seen = self.said[seen:], len(self.said)
            for nth, line in enumerate(fresh, seen - len(fresh) + 1):
                yield nth, line
            if self.is_over and seen == len(self.said):
                return

    async def cancel(self) -> None:
        """Request a stop, which keeps finished cases; if the present case takes too long, kill the run."""
        self.is_cancelled = True
        process = self.process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        except TimeoutError:
            process.kill()


@dataclass
class Runs:
    """The runs of this session."""

    root: Path
    jobs: dict[str, Job] = field(default_factory=dict)

    def start(self, path: Path, sets: list[str]) -> str:
        """Start the run of a scenario and return its name.

        Raises `LanetwinError` if there are too many runs.
        """
        if sum(not job.is_over for job in self.jobs.values()) >= MOST_RUNS:
            raise LanetwinError(f"{MOST_RUNS} runs go on already: wait for one, or cancel it")
        over = [key for key, job in self.jobs.items() if job.is_over]
        for key in over[: max(0, len(over) - MOST_KEPT)]:
            del self.jobs[key]
        key = secrets.token_hex(8)
        job = self.jobs[key] = Job(path.name)
        job.work = asyncio.create_task(self._run(job, {"path": str(path), "sets": sets}))
        return key

    async def stop(self) -> None:
        """Cancel all runs, at the end of the session."""
        await asyncio.gather(*(job.cancel() for job in self.jobs.values()))
        works = [job.work for job in self.jobs.values() if job.work]
        await asyncio.gather(*works, return_exceptions=True)

    async def _run(self, job: Job, asked: dict[str, Any]) -> None:
        job.process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "lanetwin.ui.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        assert process.stdin  # noqa: S101 - it was asked for
        assert process.stdout  # noqa: S101
        process.stdin.write(json.dumps(asked).encode())
        process.stdin.close()
        async for line in process.stdout:
            await self._heard(job, json.loads(line))
        await process.wait()
        if not job.is_over:
            why = "cancelled within its first case" if job.is_cancelled else "the run has stopped by a fault"
            await job.say({"kind": "failed", "message": f"{why}: nothing is stored"})

    async def _heard(self, job: Job, line: dict[str, Any]) -> None:
        """Forward the messages of a worker: of results the page's data, and the folder of the last ones."""
        if line["kind"] != "results":
            await job.say(line)
            return
        results = line["results"]
        if line["last"] or not results["complete"]:
            folder = self.root / "runs" / store.folder_name(results)
            await asyncio.to_thread(store.save, results, folder)
            place = str(folder.relative_to(self.root))
            await job.say({"kind": "results", **_shown(results, line)})
            await job.say({"kind": "done", "run": place, "complete": results["complete"]})
        else:
            await job.say({"kind": "results", **_shown(results, line)})


def _shown(results: Any, line: dict[str, Any]) -> dict[str, Any]:
    return {
        "repeats": line["repeats"],
        "of": line["of"],
        "workloads": workloads(results),
        "bars": bars(results),
    }
