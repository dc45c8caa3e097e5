"""Relations that hold between runs whatever a model says: storage networks and CXL memory, drawn at random.

    make relations-fabric OPTIONS="--seed 7 --count 40"

A machine is drawn, and one relation that must hold of it: a faster line is not slower, a retimer of 10 ns
makes a load 20 ns longer, two devices in turn give no more than twice one. Both sides are variants of one
scenario, so that they have the same random numbers. What does not hold is run again, longer, before it is
told.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from typing import TYPE_CHECKING

import lanetwin as lt
import relations_memory
import relations_network
from relations_told import Answers, Asked, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGER = 4
"""How many times as long what does not hold is run again."""

AREAS = {"network": relations_network, "memory": relations_memory}


def asked(seed: int, count: int, area: str, start: int = 0, only: str = "") -> Iterator[tuple[int, Asked]]:
    """Draw so many scenarios, each with a relation; the relations take turns."""
    room = AREAS[area]
    relations = list(room.RELATIONS)
    number = -1
    for index in range(start + count if not only else 10**6):
        draw = random.Random(f"{area} {seed} {index}")  # noqa: S311
        found = relations[index % len(relations)](room.machine(draw), draw)
        if found is None or only not in found.relation:
            continue
        number += 1
        if only and number >= count:
            return
        if index >= start:
            yield index, found


def answered(document: Document) -> Answers:
    """Run a scenario, as it stands."""
    return Answers(lt.Scenario(document, name="relation").run(threads=1).document)


def lengthened(document: Document) -> Document:
    """Return the scenario with more of everything that is measured, and more repeats."""
    longer = copy.deepcopy(document)
    for workload in longer["workloads"].values():
        for load in workload.values():
            for key in ("requests", "lines"):
                if isinstance(load, dict) and key in load:
                    load[key] *= LONGER
    for change in longer["variants"].values():
        for path in change:
            if path.endswith((".requests", ".lines")):
                change[path] *= LONGER
    longer["run"]["repeats"] = 4
    return longer


def broken(one: Asked) -> list[str]:
    """Return what does not hold of a scenario, nor of a longer run of it."""
    if not one.broken(answered(one.document)):
        return []
    return one.broken(answered(lengthened(one.document)))


def main() -> int:
    """Draw, run, and tell what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--area", choices=sorted(AREAS), action="append")
    parser.add_argument("--only", default="", help="relations with these words in their names")
    parser.add_argument("--show", action="store_true", help="print the scenario of what does not hold")
    options = parser.parse_args()
    failed = tried = 0
    for area in options.area or sorted(AREAS):
        for index, one in asked(options.seed, options.count, area, options.start, options.only):
            tried += 1
            since = time.process_time()
            try:
                found = broken(one)
            except lt.LanetwinError as error:
                found = [f"{each.code} {each.path}: {each.message}" for each in error.diagnostics]
            spent = time.process_time() - since
            said = "; ".join(found) or "holds"
            print(f"{area} {options.seed}: {index} {one.relation}: {said} ({spent:.1f} s)", flush=True)
            if found:
                failed += 1
                if options.show:
                    print(json.dumps(one.document))
    print(f"{tried} relations, {failed} do not hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
