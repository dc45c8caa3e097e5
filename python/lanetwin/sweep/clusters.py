"""Points simulated by other machines: Dask, Ray. Both are extras, and results do not depend on either.

By default neither authenticates connections: whoever reaches their ports can run programs as their user. Both
can authenticate: Dask by certificates (addresses that begin with ``tls://``), Ray from 2.52 on by a token
(``RAY_AUTH_MODE=token``).
"""

from __future__ import annotations

import logging
import socket
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.frames import library
from lanetwin.sweep.executors import AHEAD
from lanetwin.sweep.point import Job, Outcome, build, simulate

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

PATIENCE_S = 5.0
"""Timeout for an answer; both libraries wait for minutes. Assumed."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A point with everything needed to simulate it elsewhere."""

    job: Job
    plan: str
    """The complete plan, with the texts of the files that it names."""
    build: str
    """The required build of the engine."""


def packed(job: Job) -> Packed:
    """Pack a point with everything it needs; raises `LanetwinError` if its scenario is refused."""
    return Packed(job, engine.planned(job.path, job.sets, outside=job.outside), build())


def simulate_packed(work: Packed) -> Outcome:
    """Simulate a point that came from another machine.

    Raises `LanetwinError` (RS012) if the engine here is another build, whose results could differ.
    """
    if build() != work.build:
        found = Diagnostic(
            code="RS012",
            severity="error",
            message=f"a worker has lanetwin {engine.version()} of another build",
            help="install the same package on all machines",
        )
        raise LanetwinError("", [found])
    with TemporaryDirectory(prefix="lanetwin-") as folder:
        file = Path(folder) / f"{Path(work.job.path).stem}.yaml"
        file.write_text(work.plan, encoding="utf-8")
        return simulate(replace(work.job, path=str(file), sets=()))


@contextmanager
def connecting(kind: str, address: str) -> Iterator[None]:
    """Raise `LanetwinError` (RS016) if a cluster does not answer at its address or refuses the connection."""
    try:
        host, _, port = address.rpartition("://")[2].rpartition(":")
        if host and port.isdigit():
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S).close()
        yield
    except (OSError, OverflowError, RuntimeError, TypeError, ValueError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        found = Diagnostic(
            code="RS016",
            severity="error",
            message=f"no {kind} cluster can be used at {address}: {why}",
            help="start it, or name where it listens, with the token or the certificates that it asks for",
            file=address,
        )
        raise LanetwinError("", [found]) from None


class Dask:
    """Workers of a Dask cluster (``pip install 'lanetwin[dask]'`` there and here).

    `client` is a `distributed.Client`, or the address of a scheduler. The plan of a point is sent to the
    workers, so that they need no files; your own parts have to be available there, too.
    """

    def __init__(self, client: Any) -> None:
        distributed = library("distributed")
        self._own = isinstance(client, str)
        if self._own:
            with connecting("Dask", client):
                self.client = distributed.Client(client)
        else:
            self.client = client

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Simulate jobs; a worker that dies is replaced, and its job is done again."""
        as_completed = library("distributed").as_completed
        source = map(packed, jobs)
        threads = sum(self.client.nthreads().values()) or 1

        def submit(work: Packed) -> Any:
            # a unique key: Dask would return a cached result of an equal call by another build
            return self.client.submit(simulate_packed, work, key=f"lanetwin-{work.job.key}", pure=False)

        open_ = as_completed([submit(job) for job in islice(source, threads * AHEAD)])
        try:
            for future in open_:
                job = next(source, None)
                if job is not None:
                    open_.add(submit(job))
                yield future.result()
        finally:
            self.client.cancel(list(open_.futures))
            if self._own:
                self.client.close()


class Ray:
    """Workers of a Ray cluster (``pip install 'lanetwin[ray]'`` there and here).

    `address` is that of a running cluster (``auto``, ``HOST:6379``), whose connection is closed at the end;
    the default is the cluster to which ``ray.init`` has connected. A cluster with a token takes it from the
    environment (``RAY_AUTH_TOKEN``, ``RAY_AUTH_TOKEN_PATH``) or from ``~/.ray/auth_token``.
    """

    def __init__(self, address: str | None = None) -> None:
        self._ray = library("ray")
        self._own = address is not None
        if address is not None:
            with connecting("Ray", address):
                self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Simulate jobs; Ray retries the jobs of a worker that dies."""
        ray = self._ray
        source = map(packed, jobs)
        task = ray.remote(simulate_packed)
        cores = int(ray.cluster_resources().get("CPU", 1)) or 1
        open_ = [task.remote(job) for job in islice(source, cores * AHEAD)]
        try:
            while open_:
                (done,), open_ = ray.wait(open_)
                job = next(source, None)
                if job is not None:
                    open_.append(task.remote(job))
                yield ray.get(done)
        finally:
            for reference in open_:
                ray.cancel(reference)
            if self._own:
                ray.shutdown()
