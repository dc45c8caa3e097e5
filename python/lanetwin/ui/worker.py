"""A run in a separate process, so that it can be cancelled: a job on standard input, lines of JSON out.

One repeat comes first, then twice as many, up to the number of the scenario. So intermediate results are
available during the run, each of a complete run with fewer repeats.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import LanetwinError

if TYPE_CHECKING:
    from lanetwin.engine import Progress


def tell(**line: Any) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def rounds(repeats: int) -> list[int]:
    """Return the number of repeats of each run, of which the last is the complete one.

    >>> rounds(1), rounds(5)
    ([1], [1, 2, 5])
    """
    found = []
    count = 1
    while count * 2 <= repeats:
        found.append(count)
        count *= 2
    return [*found, repeats]


def _progress(nth: int, of: int, line: Progress) -> None:
    tell(kind="progress", round=nth, rounds=of, **line)


def work(job: dict[str, Any]) -> None:
    """Run a scenario, round by round, and report its progress."""
    plan = engine.check(job["path"], job["sets"])["plan"]
    if plan is None:
        tell(kind="failed", message="the scenario has mistakes: correct them first")
        return
    steps = rounds(int(plan["run"]["repeats"]))
    for nth, repeats in enumerate(steps, 1):
        last = nth == len(steps)
        results = engine.run(
            job["path"],
            sets=[*job["sets"], *([] if last else [f"run.repeats={repeats}"])],
            progress=partial(_progress, nth, len(steps)),
        )
        tell(kind="results", repeats=repeats, of=steps[-1], last=last, results=results)
        if not results["complete"]:
            return


def main() -> None:
    """Execute the job on standard input."""
    try:
        work(json.loads(sys.stdin.read()))
    except LanetwinError as error:
        tell(kind="failed", message=str(error) or "; ".join(str(one) for one in error.diagnostics))
    except KeyboardInterrupt:
        tell(kind="failed", message="cancelled")


if __name__ == "__main__":
    main()
