"""Run two builds over everything that the tree asks of them, and say what they answer differently.

    make compare-builds BEFORE=path/to/another/checkout

Both checkouts must be built (`make install`). Each runs its own scenarios, channels and claims, in processes
of its own: rows, cells, verdicts, waterfalls, plans, digests and all else in the documents is compared. What
a build answered is kept in `target/compare-builds` under a hash of the build and of its folder `scenarios`:
only what is new is run again.

Exit status: 0 all equal, 1 a build cannot be run, 2 usage, 3 something differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from differences import Change, Comparison, Rules, compare

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "target" / "compare-builds"
# What a build is asked in its own process, by the kind of question; the name is a file or a claim.
ASK = """
import json, sys
from lanetwin import engine
kind, name = sys.argv[1:]
ask = {"scenario": engine.run, "channel": engine.link_eye, "claim": lambda claim: engine.validate([claim])}
print(json.dumps(ask[kind](name)))
"""
CLAIMS = "import json; from lanetwin import engine; print(json.dumps(engine.claims()))"
WHERE = "import lanetwin; from lanetwin import _core; print(lanetwin.__file__); print(_core.__file__)"
CLAIM_BUDGET = 10.0
"""Claims of more are left out unless asked for, as `lanetwin validate --quick` does [CPU-seconds]."""
SHOWN = 8
"""How many lines of one section are shown, unless all are."""
FIELDS = 3
"""How many fields of one record are shown, unless all are."""
FIRST = ("value", "predicted", "verdict", "total", "met")
"""Fields that are shown before others: what a record is about."""


class CannotRunError(Exception):
    """A build that cannot be asked anything, with what to do about it."""


@dataclass(frozen=True, slots=True, order=True)
class Question:
    """One thing that a build is asked: a scenario, the eyes of a channel, a claim."""

    kind: str
    name: str
    """A file below the checkout, or the name of a claim."""


class Build:
    """A checkout that is built, and what it answered before."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout.resolve()
        self.python = self.checkout / ".venv" / "bin" / "python"
        if not self.python.exists():
            raise CannotRunError(f"{self.checkout} has no .venv: run `make install` there")
        package, core = self._run(["-c", WHERE]).split()
        if not Path(package).is_relative_to(self.checkout):
            raise CannotRunError(f"{self.python} imports {package}, which is another checkout's")
        self.engine = Path(core)
        self.identity = self._identity()

    def questions(self, *, long: bool, budget: float) -> list[Question]:
        """List what this build can be asked, claims up to `budget` CPU-seconds."""
        folders = [("scenario", "scenarios"), ("channel", "scenarios/link")]
        if long:
            folders.append(("scenario", "scenarios/long"))
        found = [
            Question(kind, str(file.relative_to(self.checkout)))
            for kind, folder in folders
            for file in sorted((self.checkout / folder).glob("*.yaml"))
        ]
        claims = sorted(json.loads(self._run(["-c", CLAIMS])), key=lambda claim: claim["cpu_seconds"])
        return found + [
            Question("claim", claim["claim"]) for claim in claims if claim["cpu_seconds"] <= budget
        ]

    def answer(self, question: Question) -> dict[str, Any]:
        """Return what this build answers; a failure is an answer, too."""
        name = question.name.replace("/", "-")
        kept = CACHE / self.identity / f"{question.kind}-{name}.json"
        if kept.exists():
            return _document(kept.read_text(encoding="utf-8"))
        asked = question.name if question.kind == "claim" else str(self.checkout / question.name)
        process = self._process(["-c", ASK, question.kind, asked])
        if process.returncode:
            said = process.stderr.strip().splitlines() or ["nothing"]
            return {
                "failure": {"status": process.returncode, "said": said[-1].replace(str(self.checkout), "")}
            }
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(".partial")
        partial.write_text(process.stdout, encoding="utf-8")
        partial.rename(kept)
        return _document(process.stdout)

    def _run(self, arguments: list[str]) -> str:
        process = self._process(arguments)
        if process.returncode:
            raise CannotRunError(f"{self.checkout} does not run, is it built?\n{process.stderr.strip()}")
        return process.stdout

    def _process(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        # a .venv that was copied may point at another checkout; the path in front of all others decides
        environment = os.environ | {
            "PYTHONPATH": str(self.checkout / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [self.python, *arguments],
            env=environment,
            cwd=self.checkout,
            text=True,
            capture_output=True,
            check=False,
        )

    def _identity(self) -> str:
        """Hash what decides the answers: the engine, the Python around it, the documents that it reads."""
        digest = hashlib.sha256(self.engine.read_bytes())
        package = sorted((self.checkout / "python" / "lanetwin").rglob("*.py"))
        documents = sorted(file for file in (self.checkout / "scenarios").rglob("*") if file.is_file())
        for file in [*package, *documents]:
            digest.update(str(file.relative_to(self.checkout)).encode())
            digest.update(file.read_bytes())
        return digest.hexdigest()[:16]


def _document(text: str) -> dict[str, Any]:
    document = json.loads(text)
    assert isinstance(document, dict)
    return document


def summary(question: Question, comparison: Comparison, *, everything: bool = False) -> str:
    """Say in a line whether two answers are equal; if not, below it what differs."""
    verdict = "DIFFERS" if comparison.changes else "equal"
    tables = ", ".join(f"{count} {table}" for table, count in comparison.records.items() if count)
    lines = [f"{verdict:8}{question.kind:9} {question.name}  [{tables}]"]
    lines += [
        f"    verdicts on {metric} turned round, as its corrected direction does: {count}"
        for metric, count in sorted(comparison.corrected.items())
    ]
    for section, records in comparison.by_section().items():
        told = [line for record, changes in records.items() for line in _told(record, changes, everything)]
        shown = told if everything else told[:SHOWN]
        lines.append(f"    {section}: {_counted(records, comparison.records.get(section))}")
        lines += [f"      {line}" for line in shown]
        if len(told) > len(shown):
            lines.append(f"      … and {len(told) - len(shown)} more; --all shows them")
    return "\n".join(lines)


def _counted(records: dict[str, list[Change]], of: int | None) -> str:
    """Count what differs in a section: records of a table, or values."""
    if of is None:
        values = sum(len(changes) for changes in records.values())
        return f"{values} value{'s' * (values != 1)}"
    return f"{len(records)} of {of}"


def _told(record: str, changes: list[Change], everything: bool) -> list[str]:
    """Tell what differs in a record on one line, or of a section without records a value on each."""
    if not record:
        return [str(change) for change in changes]
    first = sorted(changes, key=lambda change: change.field not in FIRST)
    shown = first if everything else first[:FIELDS]
    more = f"; {len(changes) - len(shown)} fields more" if len(changes) > len(shown) else ""
    return [f"{record}: {'; '.join(str(change) for change in shown)}{more}"]


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="compare-builds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="the checkout to compare with")
    parser.add_argument(
        "after", type=Path, nargs="?", default=ROOT, help="the other one; this one if not given"
    )
    parser.add_argument("--long", action="store_true", help="also scenarios/long")
    parser.add_argument(
        "--claims",
        type=float,
        default=CLAIM_BUDGET,
        metavar="SECONDS",
        help="claims of at most so many CPU-seconds; `inf` is all, 0 none (default: %(default)s)",
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only scenarios and claims with TEXT in their name"
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="NAME",
        help="do not compare a field or a section: digest, run_digest, order, … May be repeated",
    )
    parser.add_argument(
        "--corrected",
        action="append",
        default=[],
        metavar="METRIC",
        help="a metric whose direction was corrected: its verdicts may turn round. May be repeated",
    )
    parser.add_argument("--all", action="store_true", help="show every difference")
    return parser.parse_args(arguments)


def chosen(given: argparse.Namespace, before: Build, after: Build) -> tuple[list[Question], list[str]]:
    """Return what both builds can be asked, and a line for each thing that only one of them knows."""
    known = [
        [q for q in build.questions(long=given.long, budget=given.claims) if given.only in q.name]
        for build in (before, after)
    ]
    alone = [f"gone    {q.kind:9} {q.name}" for q in known[0] if q not in known[1]]
    alone += [f"new     {q.kind:9} {q.name}" for q in known[1] if q not in known[0]]
    return [q for q in known[1] if q in known[0]], alone


def main() -> int:
    """Compare; the result is printed on stdout, progress on stderr."""
    given = options()
    rules = Rules(frozenset(given.ignore), frozenset(given.corrected))
    try:
        before, after = Build(given.before), Build(given.after)
        questions, alone = chosen(given, before, after)
    except CannotRunError as error:
        print(f"compare-builds: {error}", file=sys.stderr)
        return 1
    print(f"before: {before.checkout}\nafter:  {after.checkout}")
    if before.identity == after.identity:
        print("These are the same build and the same scenarios, to the byte: each question is asked once.")
    differing: Counter[str] = Counter()
    for at, question in enumerate(questions, 1):
        start = time.monotonic()
        print(f"compare-builds: {at}/{len(questions)} {question.name} …", end="", file=sys.stderr, flush=True)
        comparison = compare(before.answer(question), after.answer(question), rules)
        print(f" {time.monotonic() - start:.1f} s", file=sys.stderr)
        differing.update(comparison.by_section().keys())
        differing["questions"] += bool(comparison.changes)
        print(summary(question, comparison, everything=given.all), flush=True)
    print("\n".join([*alone, f"{len(questions)} compared, {differing.pop('questions', 0)} differ"]))
    if differing:
        print(
            "differing: " + ", ".join(f"{section} in {count}" for section, count in differing.most_common())
        )
    gone = any(line.startswith("gone") for line in alone)
    return 3 if differing or gone else 0


if __name__ == "__main__":
    sys.exit(main())
