"""Relations of CXL memory: a host with a device or two behind CXL links, drawn at random."""

from __future__ import annotations

import copy
import itertools
import math
from typing import TYPE_CHECKING, Any

from relations_told import (
    Answers,
    Asked,
    Document,
    better,
    no_better,
    not_longer,
    same_twice,
    waterfalls,
    worse,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

RETIMERS = {"montage-m88rt51632": 5.0, "low-latency-retimer": 10.0, "spec-limit-retimer": 64.0}
"""Retimers, and what one takes at Gen5 [ns]."""
SMALL = {"llc.size": "7680KiB", "llc.ways": 15, "l2.size": "512KiB"}
"""Caches that are quickly warm, and far smaller than what is gone through."""
LINES = {"read": 1200, "rate": 12000}
ALL = ["read", "rate"]


def machine(draw: random.Random) -> Document:
    """Draw a host, a device behind a CXL link, a chase and a stream."""
    host: dict[str, Any] = draw.choice(
        (
            {
                "model": "memory-host",
                "cores": draw.choice((4, 8, 16, 24)),
                "dram.channels": draw.choice((1, 2, 4)),
            },
            {"model": "memory-host", "cores": draw.choice((4, 8, 16)), "dram": "simple"},
            {"part": "intel-xeon-6710e", "cores": draw.choice((16, 32)), **SMALL},
            {"part": "intel-xeon-8480", "cores": draw.choice((8, 24)), **SMALL},
        )
    )
    device: dict[str, Any] = draw.choice(
        (
            {"model": "cxl-expander", "dram.channels": draw.choice((1, 2, 4)), "capacity": "64GiB"},
            {"part": "generic-cxl-expander-asic"},
            {"part": "generic-cxl-expander-fpga"},
            {"part": "mess-cxl-expander"},
        )
    )
    link: dict[str, Any] = {"from": "host", "to": "exp", "width": draw.choice(("x4", "x8", "x8"))}
    pattern = draw.choice(("sequential", "random"))
    mix = draw.choice(("all-reads", "3r1w", "2r1w", "1r1w"))
    common = {"placement": "exp", "working-set": draw.choice(("512MiB", "2GiB"))}
    return {
        "about": "Does it hold?",
        "machine": {"host": host, "exp": device},
        "links": {"slot": link},
        "workloads": {
            "read": {"memory": {"pattern": "chase", **common, "lines": LINES["read"]}, "on": "host"},
            "rate": {
                "memory": {"pattern": pattern, "mix": mix, **common, "lines": LINES["rate"]},
                "on": "host",
            },
        },
        "variants": {"base": {}},
        "run": {"repeats": 2, "seed": draw.randrange(1000)},
    }


def adds(name: str, changes: Callable[[Document, random.Random], tuple[dict[str, Any], float]]) -> Any:
    """Make a relation: with these changes a load takes so much longer [ns], and nothing is better."""

    def ask(document: Document, draw: random.Random) -> Asked | None:
        # refreshes and rows that are open delay some loads, other ones if loads come at other times
        document["machine"]["exp"] |= {"dram.refresh": "none", "dram.page": "closed"}
        change, more = changes(document, draw)
        document["variants"]["more"] = change
        # requests and answers wait for the next flit of 68 B, and commands for the next clock of DRAM
        grid = 2 * 68 * 8 / (32 * int(document["links"]["slot"]["width"].removeprefix("x"))) + 2 * 0.75

        def broken(told: Answers) -> list[str]:
            found = no_better(told, ["rate"], "more", "base")
            before, after = (told.value("latency", variant, "read") for variant in ("base", "more"))
            if abs(after - before - more) > grid:
                found.append(
                    f"read: {before:.2f} ns and {after:.2f} ns: {after - before:+.2f} ns and not {more:+.2f}"
                )
            return found

        return Asked(name, document, broken)

    return ask


def wider(document: Document, _draw: random.Random) -> dict[str, Any]:
    return {"links.slot.width": {"x4": "x8", "x8": "x16"}[document["links"]["slot"]["width"]]} | (
        {"machine.exp.port.width": "x16"}
    )


def wider_link(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["machine"]["exp"]["port.width"] = "x8"
    document["links"]["slot"]["width"] = "x4"
    return {"links.slot.width": "x8"}


def faster_gen(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["links"]["slot"]["gen"] = 4
    return {"links.slot.gen": 5}


def channels(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["machine"]["exp"]["dram.channels"] = 1
    return {"machine.exp.dram.channels": 2}


def host_channels(document: Document, _draw: random.Random) -> dict[str, Any] | None:
    host = document["machine"]["host"]
    if host.get("dram") == "simple":
        return None
    host["dram.channels"] = 1
    for workload in document["workloads"].values():
        workload["memory"]["placement"] = "dram"
    return {"machine.host.dram.channels": 2}


def tracker(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["machine"]["exp"]["tracker"] = 16
    return {"machine.exp.tracker": 64}


def misses(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["machine"]["host"]["core.misses"] = 4
    return {"machine.host.core.misses": 8}


def threads(document: Document, draw: random.Random) -> dict[str, Any]:
    few = draw.choice((1, 2, 4))
    document["workloads"]["rate"]["memory"]["threads"] = few
    return {"workloads.rate.memory.threads": few * 2}


def larger_cache(document: Document, _draw: random.Random) -> dict[str, Any]:
    for workload in document["workloads"].values():
        workload["memory"]["working-set"] = "96MiB"
    document["machine"]["host"] |= {"llc.size": "32MiB", "llc.ways": 16}
    return {"machine.host.llc.size": "64MiB"}


def quicker_cache(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["workloads"]["read"]["memory"]["working-set"] = "16MiB"
    document["machine"]["host"]["llc.latency"] = "60ns"
    return {"machine.host.llc.latency": "40ns"}


def delay(document: Document, draw: random.Random) -> dict[str, Any]:
    return {"workloads.rate.memory.delay": draw.choice(("20ns", "100ns", "500ns"))}


def sris(document: Document, _draw: random.Random) -> dict[str, Any]:
    return {"links.slot.clocking": "sris"}


def io_beside(document: Document, _draw: random.Random) -> dict[str, Any]:
    return {"links.slot.io": "4GB/s"}


def few_translations(document: Document, _draw: random.Random) -> dict[str, Any]:
    return {"machine.host.tlb.entries": 64, "machine.host.tlb.ways": 8}


def large_pages(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["machine"]["host"] |= {"tlb.entries": 64, "tlb.ways": 8}
    return {f"workloads.{name}.memory.pages": "2MiB" for name in ALL}


def retimer(document: Document, draw: random.Random) -> tuple[dict[str, Any], float]:
    document["links"]["slot"]["gen"] = 5
    part = draw.choice(sorted(RETIMERS))
    count = draw.choice((1, 1, 2))
    return {"links.slot.via": [part] * count}, 2 * RETIMERS[part] * count


def propagation(document: Document, draw: random.Random) -> tuple[dict[str, Any], float]:
    more = draw.choice((5, 20, 100))
    return {"links.slot.propagation": f"{1 + more}ns"}, 2.0 * more


def controller(document: Document, draw: random.Random) -> tuple[dict[str, Any], float]:
    document["machine"]["exp"] |= {"request-latency": "30ns", "answer-latency": "30ns"}
    there, back = draw.choice((0, 25)), draw.choice((10, 100))
    return (
        {"machine.exp.request-latency": f"{30 + there}ns", "machine.exp.answer-latency": f"{30 + back}ns"},
        there + back,
    )


def uncore(document: Document, draw: random.Random) -> tuple[dict[str, Any], float]:
    more = draw.choice((10, 50))
    document["machine"]["host"] |= {"uncore.latency": "40ns"}
    return {"machine.host.uncore.latency": f"{40 + more}ns"}, more


def cxl_logic(document: Document, draw: random.Random) -> tuple[dict[str, Any], float]:
    more = draw.choice((10, 50))
    return {"machine.host.cxl.latency": f"{more}ns"}, more


def switch(document: Document, draw: random.Random) -> Asked:
    """Ask what a switch between host and device adds: its latency there and back, and another link."""
    latency = draw.choice((10, 40, 80))
    width = document["links"]["slot"]["width"]
    document["variants"]["switched"] = {
        "machine.sw": {"model": "cxl-switch", "latency": f"{latency}ns"},
        "links.slot.to": "sw",
        "links.down": {"from": "sw", "to": "exp", "width": width},
    }

    def broken(told: Answers) -> list[str]:
        found = no_better(told, ["rate"], "switched", "base")
        added = told.value("latency", "switched", "read") - told.value("latency", "base", "read")
        if not 2 * latency <= added + 1 <= 2 * latency + 150:
            found.append(f"read: a switch of {latency} ns adds {added:.1f} ns")
        return found

    return Asked("a switch adds its latency there and back, and a link", document, broken)


def near_and_far(document: Document, _draw: random.Random) -> Asked:
    """Ask whether the host's own memory is nearer."""
    document["variants"]["near"] = {"workloads.read.memory.placement": "dram"}
    return Asked(
        "the host's own memory is nearer than a device's",
        document,
        lambda told: not_longer(told, "read", "base", "near"),
    )


def in_turn(document: Document, draw: random.Random) -> Asked:
    """Ask whether two devices in turn have twice what one has, where they hold."""
    width = draw.choice(("x4", "x8"))
    document["machine"]["host"] = {
        "model": "memory-host",
        "cores": 48,
        "ports": 2,
        "dram": "simple",
        "core.misses": 32,
    }
    document["machine"]["exp"]["tracker"] = 256
    document["links"]["slot"] = {"from": "host", "to": "exp", "width": width}
    document["workloads"]["rate"]["memory"] |= {"working-set": "2GiB", "lines": 40000}
    del document["workloads"]["read"]
    granularity = draw.choice(("256B", "1KiB", "4KiB"))
    document["variants"]["two"] = {
        "machine.exp2": copy.deepcopy(document["machine"]["exp"]),
        "links.slot2": {"from": "host", "to": "exp2", "width": width},
        "interleave.both": {"targets": ["exp", "exp2"], "granularity": granularity},
        "workloads.rate.memory.placement": "both",
    }

    def broken(told: Answers) -> list[str]:
        one, two = (told.value("throughput", variant, "rate") for variant in ("base", "two"))
        if not 1.8 <= two / one <= 2.05:
            return [f"one has {one:.4g} GB/s, two in turn of {granularity} {two:.4g}: {two / one:.2f} times"]
        return []

    return Asked("two devices in turn have twice what one has", document, broken)


def pages_in_turn(document: Document, _draw: random.Random) -> Asked:
    """Ask whether pages in turn on two nodes come to no more than the slower share allows."""
    document["workloads"]["dram"] = copy.deepcopy(document["workloads"]["rate"])
    document["workloads"]["dram"]["memory"]["placement"] = "dram"
    document["workloads"]["both"] = copy.deepcopy(document["workloads"]["rate"])
    document["workloads"]["both"]["memory"] |= {"placement": {"weighted": {"dram": 2, "exp": 1}}}

    def broken(told: Answers) -> list[str]:
        own, far, both = (told.value("throughput", "base", name) for name in ("dram", "rate", "both"))
        # cores that are limited by what they have outstanding share it between the two
        most = min(1.5 * own, 3 * far) if min(own, far) else 0
        if both > most * 1.1:
            return [f"DRAM {own:.4g}, device {far:.4g}, 2:1 {both:.4g} GB/s, more than {most:.4g}"]
        return []

    return Asked("pages in turn have no more than the slower share allows", document, broken)


def little(document: Document, _draw: random.Random) -> Asked:
    """Ask for no more than the lines that cores may have outstanding make, by Little's law."""
    document["machine"]["host"] = {"model": "memory-host", "cores": 8, "core.misses": 4, "dram": "simple"}
    document["workloads"]["rate"]["memory"] |= {"mix": "all-reads", "threads": 8}

    def broken(told: Answers) -> list[str]:
        rate, latency = told.value("throughput", "base", "rate"), told.value("latency", "base", "read")
        most = 8 * 4 * 64 / latency
        own = told.value("latency", "base", "rate")
        flying = rate * own / 64
        found = []
        if rate > most * 1.05:
            found.append(f"{rate:.4g} GB/s of 32 lines of {latency:.4g} ns, which make {most:.4g}")
        if flying > 32 * 1.03:
            found.append(f"{rate:.4g} GB/s of {own:.4g} ns are {flying:.3g} lines under way, of 32")
        return found

    return Asked("lines under way are no more than cores may have (Little)", document, broken)


def idle_parameter(document: Document, draw: random.Random) -> Asked:
    """Ask whether what nothing uses changes nothing."""
    change = draw.choice(
        (
            {
                "machine.spare": {"model": "cxl-expander"},
                "machine.host.ports": 2,
                "links.spare": {"from": "host", "to": "spare"},
            },
            {"machine.host.socket.latency": "300ns"},
            {"machine.host.dram.size": "200GiB"},
            {"machine.host.dram.size": "300GiB"},
        )
    )
    if document["machine"]["host"].get("part") == "intel-xeon-8480":
        change = {"machine.host.socket.latency": "300ns"}
    document["variants"]["idle"] = change

    def broken(told: Answers) -> list[str]:
        found = []
        for workload, metric in (("read", "latency"), ("rate", "throughput")):
            before, after = (told.value(metric, variant, workload) for variant in ("base", "idle"))
            if not math.isclose(before, after, rel_tol=0.01):
                found.append(f"{workload}: {metric} {before:.6g} and {after:.6g} with {change}")
        return found

    return Asked("what nothing uses changes nothing", document, broken)


def hybrid(document: Document, draw: random.Random) -> Asked:
    """Ask whether a hybrid lies between its cache and its disk, and more cache hits more."""
    document["machine"] = {
        "host": {"model": "memory-host", "cores": 4, "dram": "simple"},
        "exp": {"part": "samsung-cmm-h", "cache.usable": "4GB", "cache.size": "9GiB"},
    }
    document["links"]["slot"] = {"from": "host", "to": "exp"}
    base = {"placement": "exp", "lines": 600}
    document["workloads"] = {
        "read": {"memory": {"pattern": "chase", "working-set": "8GiB", **base}, "on": "host"},
    }
    document["variants"]["more"] = {"machine.exp.cache.usable": "6GB"}
    document["variants"]["near"] = {"workloads.read.memory.placement": "dram"}
    document["variants"]["cached"] = {"workloads.read.memory.working-set": "1GiB"}
    document["variants"]["missed"] = {"workloads.read.memory.working-set": "64GiB"}

    def broken(told: Answers) -> list[str]:
        found = []
        order = ["near", "cached", "more", "base", "missed"]
        for nearer, farther in itertools.pairwise(order):
            found += not_longer(told, "read", farther, nearer, 0.05)
        return found

    return Asked("a hybrid lies between memory and disk, and more cache is not slower", document, broken)


def simple_peak(document: Document, _draw: random.Random) -> Asked:
    """Ask for no more than the bandwidth of simple DRAM."""
    document["machine"]["host"] = {
        "model": "memory-host",
        "cores": 32,
        "dram": "simple",
        "dram.bandwidth": "50GB/s",
        "core.misses": 32,
    }
    document["workloads"]["rate"]["memory"]["placement"] = "dram"
    del document["workloads"]["read"]

    def broken(told: Answers) -> list[str]:
        rate = told.value("throughput", "base", "rate")
        return [f"{rate:.4g} GB/s of 50 GB/s"] if not 45 <= rate <= 50.5 else []

    return Asked("simple DRAM has its bandwidth, and no more", document, broken)


RELATIONS = [
    better("a wider link is not slower", wider_link),
    better("a faster link is not slower", faster_gen),
    # a load that is alone meets refreshes, more or fewer of them by chance
    better("more channels of a device are not slower", channels, ["rate"]),
    better("more channels of the host are not slower", host_channels, ["rate"]),
    better("more requests inside a device are not slower", tracker),
    better("more fill buffers are not slower", misses),
    better("more threads move no less", threads, ["rate"]),
    better("a larger cache is not slower", larger_cache, ["read"]),
    better("a quicker cache is not slower", quicker_cache, ["read"]),
    better("large pages are not slower", large_pages, ["read"]),
    worse("time between lines makes nothing quicker", delay),
    worse("separate clocks make nothing quicker", sris),
    worse("traffic beside memory makes nothing quicker", io_beside),
    worse("fewer translations make nothing quicker", few_translations),
    adds("a retimer adds what it takes, there and back", retimer),
    adds("a longer flight is there and back", propagation),
    adds("the controller of a device takes what it says", controller),
    adds("the uncore takes what it says", uncore),
    adds("the host's CXL logic takes what it says", cxl_logic),
    switch,
    near_and_far,
    in_turn,
    pages_in_turn,
    little,
    idle_parameter,
    hybrid,
    same_twice,
    waterfalls,
    simple_peak,
]
