"""Jobs of storage networks and of memory that first answers are judged by, on machines of the relations."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import relations_memory
import relations_network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relations_told import Document

MIXES = (("randread", 100), ("randwrite", 0), ("randrw", 70), ("randrw", 50), ("read", 100), ("write", 0))
SIZES = ("4k", "4k", "8k", "16k", "64k", "128k")
DEPTHS = (1, 4, 16, 32, 64)
CLONES = (1, 1, 4)
SETS = ("4MiB", "64MiB", "512MiB", "2GiB")


@dataclass(frozen=True)
class Elsewhere:
    """A machine, and what is asked of it."""

    machine: Document
    """All but workloads and how long it runs."""
    asked: Document
    """The workload."""
    kind: str
    """What it is called: `fio` or `memory`."""
    length: str
    """What its length is called."""

    def scenario(self, run: str, requests: int | None = None) -> str:
        """Write it as a scenario, of default length or of that many I/Os, which JSON says as YAML does."""
        told = self.asked[self.kind] | ({self.length: requests} if requests else {})
        whole = self.machine | {"workloads": {"job": self.asked | {self.kind: told}}}
        return f"{json.dumps(whole)[:-1]}, run: {run}}}\n"

    def told(self) -> dict[str, Any]:
        """Tell what was drawn."""
        return {**self.asked, **{key: self.machine[key] for key in ("machine", "links")}}


def on_networks(seed: int, count: int) -> Iterator[Elsewhere]:
    """Draw so many jobs of fio at drives behind a network."""
    chance = random.Random(f"first answer networks {seed}")  # noqa: S311
    for _ in range(count):
        machine = relations_network.machine(chance)
        names = machine["workloads"]["rate"]["target"]
        rw, mix = chance.choice(MIXES)
        fio = {
            "rw": rw,
            "rwmixread": mix,
            "bs": chance.choice(SIZES),
            "iodepth": chance.choice(DEPTHS),
            "numjobs": chance.choice(CLONES),
            "ioengine": machine["machine"]["server"].pop("driver.engine"),
            "group_reporting": 1,
        }
        yield Elsewhere(_bare(machine), {"fio": fio, "on": "server", "target": names}, "fio", "requests")


def of_memory(seed: int, count: int) -> Iterator[Elsewhere]:
    """Draw so many loads of memory, of a host's own and of a device behind a CXL link."""
    chance = random.Random(f"first answer memory {seed}")  # noqa: S311
    for _ in range(count):
        machine = relations_memory.machine(chance)
        load = {key: value for key, value in machine["workloads"]["rate"]["memory"].items() if key != "lines"}
        load["working-set"] = chance.choice(SETS)
        if chance.random() < 0.3:
            load["placement"] = "dram"
        if chance.random() < 0.3:
            load = {key: value for key, value in load.items() if key != "mix"} | {"pattern": "chase"}
        elif chance.random() < 0.5:
            load["threads"] = chance.choice((1, 2, 4))
        yield Elsewhere(_bare(machine), {"memory": load, "on": "host"}, "memory", "lines")


def _bare(machine: Document) -> Document:
    """Return it without what it is asked."""
    return {key: value for key, value in machine.items() if key not in {"workloads", "variants", "run"}}
