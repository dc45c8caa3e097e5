"""Machines with a shipped drive and a job, drawn from a seed, and how they are written as scenarios."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import first_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVES = first_answer.DRIVES
MIXES = (("randread", 100), ("randwrite", 0), ("randrw", 70), ("read", 100), ("write", 0))
SIZES = ("4k", "4k", "8k", "16k", "64k", "128k")
DEPTHS = (1, 2, 4, 8, 16, 32)
CLONES = (1, 1, 1, 2, 4)
ENGINES = ("libaio", "io_uring", "spdk")
LINKS = ((3, 2), (3, 4), (4, 1), (4, 2), (4, 4))
"""Generations and widths."""


@dataclass(frozen=True)
class Case:
    """A machine and a job."""

    drive: str
    rw: str
    mix: int
    bs: str
    depth: int
    clones: int
    ioengine: str
    gen: int = 4
    width: int = 4
    requests: int = 0
    """How many I/Os are measured; 0: as many as it takes."""
    seed: int = 1
    parameters: tuple[tuple[str, str], ...] = ()
    """Parameters of components, as `ssd.nand.read`, and what they are."""
    via: tuple[str, ...] = ()
    """Retimers in the link."""
    switch: str = ""
    drives: int = 1
    spelling: str = "fio"
    """How the job is written: `fio`, `file`, `block` or `iometer`."""
    once: bool = False
    """Whether it is run once, and the same I/Os are measured whatever the machine."""

    @property
    def is_random(self) -> bool:
        """Whether its addresses are."""
        return self.rw.startswith("rand")

    @property
    def is_read(self) -> bool:
        """Whether it reads alone."""
        return self.mix == 100

    @property
    def is_write(self) -> bool:
        """Whether it writes alone."""
        return self.mix == 0

    @property
    def is_flash(self) -> bool:
        """Whether its drive is one of flash."""
        return self.drive not in first_answer.CROSS_POINT

    @property
    def bytes(self) -> int:
        """Bytes an I/O."""
        return int(self.bs.removesuffix("k")) * 1024

    def having(self, *parameters: tuple[str, str]) -> Case:
        """Return it with these parameters as well."""
        return replace(self, parameters=tuple(dict((*self.parameters, *parameters)).items()))

    def scenario(self) -> str:
        """Write it as a scenario."""
        names = [f"ssd{one}" for one in range(1, self.drives + 1)] if self.drives > 1 else ["ssd"]
        width, via = f", gen: {self.gen}, width: x{self.width}", f", via: [{', '.join(self.via)}]"
        link = width + (via if self.via else "")
        machine = [f"  host: {{part: {DRIVES[self.drive]}{self._told('host')}}}"]
        machine += [f"  {name}: {{part: {self.drive}{self._told('ssd')}}}" for name in names]
        if self.switch:
            machine.append(f"  sw: {{part: {self.switch}}}")
            links = ["  up: {from: host, to: sw, width: x16}"]
            links += [f"  bay{name}: {{from: sw, to: {name}{link}}}" for name in names]
        else:
            links = [f"  bay{name}: {{from: host, to: {name}{link}}}" for name in names]
        asked, files = self._job()
        run = f"seed: {self.seed}" + (", repeats: 1, warm-up: 100" if self.once else "")
        lines = ["about: Does it hold?", "machine:", *machine, "links:", *links, "workloads:"]
        lines += [f"  job: {{{asked}, on: host, target: [{', '.join(names)}]}}", f"run: {{{run}}}", *files]
        return "\n".join(lines) + "\n"

    def _told(self, component: str) -> str:
        """Write the parameters of a component."""
        mine = [
            (path.partition(".")[2], value)
            for path, value in self.parameters
            if path.startswith(f"{component}.")
        ]
        return "".join(f", {name}: {value}" for name, value in mine)

    def _job(self) -> tuple[str, list[str]]:
        """Write the job, and the files that it names."""
        length = f", requests: {self.requests}" if self.requests else ""
        options = {
            "rw": self.rw, "rwmixread": self.mix, "bs": self.bs, "iodepth": self.depth,
            "numjobs": self.clones, "ioengine": self.ioengine, "group_reporting": 1,
        }  # fmt: skip
        if self.spelling == "fio":
            told = ", ".join(f"{key}: {value}" for key, value in options.items())
            return f"fio: {{{told}{length}}}", []
        if self.spelling == "file":
            told = "\n".join(f"    {key}={value}" for key, value in options.items())
            return f"fio: {{file: job.fio{length}}}", [
                "files:",
                "  job.fio: |",
                "    [job]",
                "    direct=1",
                told,
            ]
        if self.spelling == "block":
            pattern = "random" if self.is_random else "sequential"
            told = f"size: {self.bytes}B, depth: {self.depth}, read: {self.mix}%, pattern: {pattern}"
            return f"block: {{{told}{length}}}", []
        share = 100 if self.is_random else 0
        told = f"iometer: {{file: job.icf, spec: job, outstanding: {self.depth}{length}}}"
        lines = [
            "Version 1.1.0", "'ACCESS SPECIFICATIONS",
            "'Access specification name,default assignment", "  job,NONE",
            "'size,% of size,% reads,% random,delay,burst,align,reply",
            f"  {self.bytes},100,{self.mix},{share},0,1,{self.bytes},0",
            "'END access specifications", "Version 1.1.0",
        ]  # fmt: skip
        return told, ["files:", "  job.icf: |", *(f"    {line}" for line in lines)]


def drawn(seed: int, count: int, requests: int = 0) -> Iterator[Case]:
    """Draw so many cases."""
    chance = random.Random(f"relations {seed}")  # noqa: S311
    for _ in range(count):
        drive, (rw, mix), bs = chance.choice(list(DRIVES)), chance.choice(MIXES), chance.choice(SIZES)
        depth, clones, ioengine = chance.choice(DEPTHS), chance.choice(CLONES), chance.choice(ENGINES)
        gen, width = chance.choice(LINKS)
        gen = min(gen, 3) if drive == "intel-900p" else gen
        yield Case(drive, rw, mix, bs, depth, clones, ioengine, gen, width, requests, seed)


def told(case: Case) -> str:
    """Say what of a case is not as it is by default."""
    said = {one.name: getattr(case, one.name) for one in fields(case)}
    return " ".join(
        str(value) for name, value in said.items() if value not in ("", (), 0, 1, "fio") or name == "depth"
    )
