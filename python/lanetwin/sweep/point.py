"""One point of a sweep: the job of a worker, and its outcome. Both can be sent to other processes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import LanetwinError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lanetwin.results import Bottleneck, Row


@dataclass(frozen=True, slots=True)
class Job:
    """A point to simulate."""

    point: int
    key: str
    """The key of its result."""
    path: str
    sets: tuple[str, ...]
    seed: int | None = None
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a point."""

    point: int
    key: str
    rows: list[Row] = field(default_factory=list, repr=False)
    bottlenecks: list[Bottleneck] = field(default_factory=list, repr=False)
    digest: str = ""
    cpu_seconds: float = 0.0
    """CPU time of its simulation."""
    refused: list[dict[str, Any]] = field(default_factory=list)
    """The diagnostics of its scenario, if it was refused."""

    def kept(self) -> dict[str, Any]:
        """Return the result as stored under its key."""
        return {
            "rows": self.rows,
            "bottlenecks": self.bottlenecks,
            "digest": self.digest,
            "cpu_seconds": self.cpu_seconds,
        }


class Stopped(Exception):  # noqa: N818 - nobody made an error
    """The sweep is being stopped, so running jobs are no longer needed."""


@cache
def build() -> str:
    """Return the identifier of this build of the engine."""
    with Path(engine.library()).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def key_of(document: str, seed: int | None) -> str:
    """Return the key of a result: of the build, the complete plan without its sources, and the seed."""
    plan = json.loads(document)
    plan.pop("origins", None)
    digest = hashlib.blake2b(digest_size=20)
    for text in (build(), json.dumps(plan), str(seed)):
        digest.update(text.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def planned(path: str, sets: tuple[str, ...], *, seed: int | None, outside: bool) -> str:
    """Check a point without running it, and return its key.

    Raises `LanetwinError` if its scenario is refused.
    """
    return key_of(engine.planned(path, sets, outside=outside), seed)


def simulate(job: Job, is_stopped: Callable[[], bool] | None = None) -> Outcome:
    """Simulate a point on one thread.

    Raises `Stopped` if `is_stopped` returns true during the run, `EngineBug` on a bug of the engine.
    """

    def look(_line: engine.Progress) -> None:
        if is_stopped is not None and is_stopped():
            raise Stopped

    try:
        results = engine.run(
            job.path, sets=job.sets, seed=job.seed, threads=1, outside=job.outside, progress=look
        )
    except LanetwinError as error:
        if not error.diagnostics:
            raise
        return Outcome(job.point, job.key, refused=[vars_of(found) for found in error.diagnostics])
    if not results["complete"]:
        raise Stopped
    return Outcome(
        job.point,
        job.key,
        results["rows"],
        results["bottlenecks"],
        results["digest"] or "",
        results["cost"]["cpu_seconds"],
    )


def vars_of(found: Any) -> dict[str, Any]:
    """Return a diagnostic as a dictionary in the engine's form."""
    return {name: getattr(found, name) for name in found.__dataclass_fields__}
