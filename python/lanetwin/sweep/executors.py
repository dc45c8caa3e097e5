"""Executors of points: threads of this program or processes of this machine, behind one interface.

An executor takes jobs one by one and returns results in the order of completion. It holds a few at a time, so
that a large sweep needs no more memory than a small one. Results do not depend on the executor.
"""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Protocol

from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.sweep.point import Job, Outcome, Stopped, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

AHEAD = 2
"""Number of submitted jobs for each worker, including the running one."""
MOST_LOST = 3
"""Number of lost workers after which a job is given up."""


class Executor(Protocol):
    """An executor of points."""

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Simulate jobs; results are returned in the order of completion.

        Closing the iterator stops running jobs.
        """


class Threads:
    """Threads of this program: the engine runs with the interpreter lock released."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Simulate jobs."""
        stopped = threading.Event()
        pool = ThreadPoolExecutor(self.workers, "lanetwin-sweep")
        try:
            yield from in_flight(
                lambda job: pool.submit(simulate, job, stopped.is_set), jobs, self.workers * AHEAD
            )
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


class Processes:
    """Processes of this machine. One that is killed is replaced, and its job is done again."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Simulate jobs.

        Raises `LanetwinError` if one job loses worker after worker.
        """
        source = iter(jobs)
        suspects: dict[int, Job] = {}
        losses: dict[int, int] = {}
        while True:
            open_ = dict(suspects)
            try:
                if suspects:
                    # one at a time: a job that ends a process now is the cause
                    yield from self._generation(suspects.values(), open_, 1)
                    suspects = {}
                yield from self._generation(_noted(source, open_), open_, self.workers * AHEAD)
            except BrokenProcessPool:
                if suspects:
                    blamed = next(iter(open_.values()))
                    losses[blamed.point] = losses.get(blamed.point, 0) + 1
                    if losses[blamed.point] >= MOST_LOST:
                        raise _given_up(blamed) from None
                suspects = dict(open_)
            else:
                return

    def _generation(
        self, jobs: Iterable[Job], open_: dict[int, Job], most: int
    ) -> Generator[Outcome, None, None]:
        """Simulate jobs until a process dies; those without an answer stay in `open_`."""
        context = get_context("spawn")
        stopped = context.Event()
        pool = ProcessPoolExecutor(self.workers, context, _prepare, (stopped,))
        try:
            for outcome in in_flight(lambda job: pool.submit(_work, job), jobs, most):
                del open_[outcome.point]
                yield outcome
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def cores() -> int:
    """Return the number of cores that this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_flight(
    submit: Callable[[Job], Future[Outcome]], jobs: Iterable[Job], most: int
) -> Generator[Outcome, None, None]:
    """Keep at most this many jobs submitted, and yield each when it is done."""
    source = iter(jobs)
    open_: set[Future[Outcome]] = set()
    more = True
    while more or open_:
        while more and len(open_) < most:
            job = next(source, None)
            more = job is not None
            if job is not None:
                open_.add(submit(job))
        done, open_ = wait(open_, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


def _noted(jobs: Iterable[Job], open_: dict[int, Job]) -> Iterator[Job]:
    """Yield jobs, noting them as open."""
    for job in jobs:
        open_[job.point] = job
        yield job


_stopped: Any = None


def _prepare(stopped: Any) -> None:
    """Set up a worker process, which leaves Ctrl-C to its parent."""
    global _stopped
    _stopped = stopped
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(job: Job) -> Outcome:
    return simulate(job, _stopped.is_set)


def _given_up(job: Job) -> LanetwinError:
    found = Diagnostic(
        code="RS009",
        severity="error",
        message=f"point {job.point} ended process after process that simulated it",
        help="look for a lack of memory, and run it alone: lanetwin run "
        + " ".join([job.path, *(f"--set {text}" for text in job.sets)]),
    )
    return LanetwinError("", [found])


__all__ = ["Executor", "Processes", "Stopped", "Threads", "cores", "in_flight"]
