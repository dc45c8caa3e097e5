"""A run in a process of its own, so that it can be cancelled: a job on standard input, lines of JSON out.

One repeat comes first, then twice as many, until there are as many as the scenario asks for. So there are
results to look at while it runs, which are those of a whole run of so many repeats.
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
    """Return how many repeats there are in each run, the last one being the whole.

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
    """Run a scenario, round by round, and tell how it goes."""
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
    """Do the job that stands on standard input."""
    try:
        work(json.loads(sys.stdin.read()))
    except LanetwinError as error:
        tell(kind="failed", message=str(error) or "; ".join(str(one) for one in error.diagnostics))
    except KeyboardInterrupt:
        tell(kind="failed", message="cancelled")


if __name__ == "__main__":
    main()
