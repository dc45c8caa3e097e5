"""Relations of storage networks: a machine with a box of drives behind adapters, drawn at random."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

from relations_told import (
    RATE_SLACK,
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

SPEEDS = (25, 100, 200, 400)
MTUS = ("1500B", "2048B", "4200B", "9000B")
FLIGHT = 1 / 1.98e8 * 1e9
"""What a metre of cable takes [ns]."""
ONE = {"requests": 150}
MANY = {"requests": 2500}


def machine(draw: random.Random) -> Document:
    """Draw a server and a box with drives, an adapter at each, and cables or a switch between."""
    gen = draw.choice((3, 4, 4, 5))
    nic: dict[str, Any] = {"part": f"generic-nic-{draw.choice((100, 200, 400))}g"}
    if draw.random() < 0.3:
        nic = {"part": draw.choice(("connectx-5-ex", "connectx-5", "connectx-6"))}
    nic["ethernet.mtu"] = draw.choice(MTUS)
    host: dict[str, Any] = {"part": f"generic-host-gen{gen}", "cores": draw.choice((0, 2, 4, 8))}
    box: dict[str, Any] = {
        "part": f"generic-host-gen{gen}",
        "cores": draw.choice((0, 1, 2, 8)),
        "target.software": draw.choice(("nvmet", "spdk")),
    }
    host["driver.engine"] = draw.choice(("libaio", "io_uring", "spdk"))
    drives = draw.choice((1, 1, 2, 3))
    part = draw.choice(("intel-p5800x", "intel-p5800x", "intel-900p", "phison-e16", "generic-tlc-gen5"))
    names = [f"ssd{index + 1}" for index in range(drives)]
    links: dict[str, Any] = {
        "slot": {"from": "server", "to": "nic"},
        "box-slot": {"from": "box", "to": "box-nic"},
        **{f"bay{index + 1}": {"from": "box", "to": name} for index, name in enumerate(names)},
    }
    machine: dict[str, Any] = {"server": host, "nic": nic, "box": box, "box-nic": dict(nic)}
    machine |= {name: {"part": part} for name in names}
    rate = f"{draw.choice((25, 100))}Gb/s"
    if draw.random() < 0.6:
        machine["tor"] = {"part": "generic-ethernet-switch-400g"}
        links["net"] = {"from": "nic", "to": "tor", "rate": rate}
        links["box-net"] = {"from": "tor", "to": "box-nic", "rate": rate}
    else:
        links["net"] = {"from": "nic", "to": "box-nic.ethernet", "rate": rate}
        links["net"]["from"] = "nic.ethernet"
    transport = draw.choice(("rdma", "rdma", "tcp"))
    size = draw.choice(("512B", "4KiB", "4KiB", "16KiB", "128KiB"))
    deep = draw.choice((8, 32, 63))
    pattern = draw.choice(("random", "sequential"))
    common = {"pattern": pattern, "span": "1GiB"}
    block = {"size": size, "depth": 1, **common, **ONE}
    many = MANY if size != "128KiB" else {"requests": 600}
    return {
        "about": "Does it hold?",
        "machine": machine,
        "links": links,
        "subsystems": {"jbof": {"port": "box-nic", "namespaces": names, "transport": transport}},
        "workloads": {
            "read": {"block": block, "on": "server", "target": "ssd1"},
            "write": {"block": {**block, "read": "0%"}, "on": "server", "target": "ssd1"},
            "rate": {
                "block": {"size": size, "depth": deep, **common, **many},
                "on": "server",
                "target": names,
            },
        },
        "variants": {"base": {}},
        "run": {"repeats": 2, "seed": draw.randrange(1000), "warm-up": 100},
    }


ALL = ["read", "write", "rate"]


def wires(document: Document) -> list[str]:
    """Return the links of Ethernet."""
    return [name for name in ("net", "box-net") if name in document["links"]]


def faster_line(document: Document, _draw: random.Random) -> dict[str, Any]:
    faster = {"25Gb/s": "100Gb/s", "100Gb/s": "200Gb/s"}[document["links"]["net"]["rate"]]
    if document["machine"]["nic"]["part"] in {"generic-nic-100g", "connectx-5", "connectx-5-ex"}:
        faster = "100Gb/s"
    return {f"links.{name}.rate": faster for name in wires(document)}


def larger_frames(document: Document, _draw: random.Random) -> dict[str, Any] | None:
    now = MTUS.index(document["machine"]["nic"]["ethernet.mtu"])
    if now + 1 == len(MTUS):
        return None
    return {f"machine.{name}.ethernet.mtu": MTUS[now + 1] for name in ("nic", "box-nic")}


def deeper(document: Document, _draw: random.Random) -> dict[str, Any]:
    return {"workloads.rate.block.depth": document["workloads"]["rate"]["block"]["depth"] * 2}


def more_cores(where: str) -> Callable[[Document, random.Random], dict[str, Any] | None]:
    def change(document: Document, _draw: random.Random) -> dict[str, Any] | None:
        cores = document["machine"][where]["cores"]
        return {f"machine.{where}.cores": cores * 2} if cores else None

    return change


def digests(document: Document, draw: random.Random) -> dict[str, Any] | None:
    if document["subsystems"]["jbof"]["transport"] != "tcp":
        return None
    kinds = draw.choice((("header-digest",), ("data-digest",), ("header-digest", "data-digest")))
    return {f"subsystems.jbof.{kind}": True for kind in kinds}


def second_switch(document: Document, _draw: random.Random) -> dict[str, Any] | None:
    if "tor" not in document["machine"]:
        return None
    return {
        "machine.spine": {"part": "generic-ethernet-switch-400g"},
        "links.box-net.to": "spine",
        "links.third": {"from": "spine", "to": "box-nic", "rate": document["links"]["net"]["rate"]},
    }


def far(document: Document, draw: random.Random) -> Asked:
    """Ask what a longer cable adds: its flight, as often as one at a time crosses it."""
    metres = draw.choice((50, 103, 500))
    document["links"]["net"]["cable"] = "3m"
    document["variants"]["far"] = {"links.net.cable": f"{metres}m"}
    flight = (metres - 3) * FLIGHT

    def broken(told: Answers) -> list[str]:
        found = no_better(told, ALL, "far", "base")
        for workload in ("read", "write"):
            added = (
                told.value("latency", "far", workload) - told.value("latency", "base", workload)
            ) / flight
            if told.slack("latency", "base", workload) == 0 and not is_whole(added, (2, 4, 6)):
                found.append(
                    f"{workload}: {metres} m instead of 3 m adds {added:.3f} flights of {flight:.1f} ns"
                )
        return found

    return Asked("a longer cable adds its flight, twice or four times", document, broken)


def is_whole(value: float, among: tuple[int, ...], slack: float = 0.1) -> bool:
    """Whether a number is one of these, nearly."""
    return any(abs(value - one) <= slack for one in among)


def hop(document: Document, _draw: random.Random) -> Asked | None:
    """Ask what a second switch adds: at least its latency there and back."""
    change = second_switch(document, _draw)
    if change is None:
        return None
    document["variants"]["hop"] = change

    def broken(told: Answers) -> list[str]:
        found = no_better(told, ["rate"], "hop", "base")
        for workload in ("read", "write"):
            added = told.value("latency", "hop", workload) - told.value("latency", "base", workload)
            if added < 2 * 500 - 0.01 * told.value("latency", "base", workload):
                found.append(f"{workload}: a second switch of 500 ns adds {added:.0f} ns")
        return found

    return Asked("a second switch adds its latency there and back", document, broken)


def direct(document: Document, _draw: random.Random) -> Asked:
    """Ask whether drives at hand are quicker than over the network, by the same driver."""
    names = document["subsystems"]["jbof"]["namespaces"]
    local = {f"links.bay{index + 1}.from": "server" for index in range(len(names))}
    document["machine"]["server"]["ports"] = 8
    document["machine"]["box"]["ports"] = 8
    document["variants"]["local"] = local | {"subsystems": None}
    return Asked(
        "drives at hand are not slower than over a network",
        document,
        lambda told: no_better(told, ALL, "base", "local"),
    )


def polls(document: Document, _draw: random.Random) -> dict[str, Any]:
    document["machine"]["box"]["target.software"] = "nvmet"
    return {"machine.box.target.software": "spdk"}


def in_capsule(document: Document, draw: random.Random) -> Asked | None:
    """Ask whether a write whose data come with the capsule is quicker than one whose data are fetched."""
    size = document["workloads"]["write"]["block"]["size"]
    if size == "128KiB":
        return None
    document["machine"]["box"]["target.in-capsule-data"] = "64KiB"
    document["variants"]["fetched"] = {"machine.box.target.in-capsule-data": "0B"}
    return Asked(
        "a write with its data in the capsule is not longer",
        document,
        lambda told: not_longer(told, "write", "fetched", "base"),
    )


def wire_bound(document: Document, draw: random.Random) -> Asked:
    """Ask for no more than frames leave of a line, and for Little's law."""
    gigabits = float(document["links"]["net"]["rate"].removesuffix("Gb/s"))
    mtu = int(document["machine"]["nic"]["ethernet.mtu"].removesuffix("B"))
    tcp = document["subsystems"]["jbof"]["transport"] == "tcp"
    if tcp:
        share = (mtu - 52) / (mtu + 38)
    else:
        packet = max(one for one in (256, 512, 1024, 2048, 4096) if one + 96 <= mtu)
        share = packet / (packet + 38 + 20 + 8 + 12 + 4)
    most = gigabits / 8 * share
    depth = document["workloads"]["rate"]["block"]["depth"] * len(
        document["subsystems"]["jbof"]["namespaces"]
    )

    def broken(told: Answers) -> list[str]:
        rate = told.value("throughput", "base", "rate")
        found = []
        # what was in flight when measuring began has come over the line before
        if rate > most * 1.03:
            found.append(f"{rate:.4g} GB/s over a line that leaves {most:.4g} GB/s")
        iops, latency = told.value("IOPS", "base", "rate"), told.value("latency", "base", "rate")
        in_flight = iops * latency * 1e-9
        if not math.isclose(in_flight, depth, rel_tol=0.05):
            found.append(f"{iops:.6g}/s of {latency:.6g} ns are {in_flight:.4g} in flight, and not {depth}")
        return found

    return Asked("no more than frames leave of the line, and Little's law", document, broken)


def pauses(document: Document, _draw: random.Random) -> Asked | None:
    """Ask whether pauses that nobody needs change nothing."""
    if "tor" not in document["machine"]:
        return None
    document["machine"]["nic"]["pause"] = document["machine"]["box-nic"]["pause"] = True
    document["variants"]["pfc"] = {"machine.tor.pause": "pfc"}

    def broken(told: Answers) -> list[str]:
        found = []
        for workload in ALL:
            for metric in ("throughput", "latency"):
                before, after = (told.value(metric, variant, workload) for variant in ("base", "pfc"))
                if before != after:
                    found.append(f"{workload}: {metric} {before:.6g} and with PFC {after:.6g}")
        return found

    return Asked("pauses without congestion change nothing", document, broken)


def twice(document: Document, _draw: random.Random) -> Asked:
    """Ask whether a second pair of server and box, on links of its own, has what the first has."""
    document["machine"]["server"]["cores"] = document["machine"]["server"]["cores"] or 4
    second: dict[str, Any] = {}
    for name in ("server", "nic", "box", "box-nic", "ssd1"):
        second[f"machine.other-{name}"] = copy.deepcopy(document["machine"][name])
    for name in ("slot", "box-slot", "net", "bay1"):
        link = copy.deepcopy(document["links"][name])
        second[f"links.other-{name}"] = link | {
            end: (link[end] if link[end] == "tor" else f"other-{link[end]}") for end in ("from", "to")
        }
    if "tor" in document["machine"]:
        link = document["links"]["box-net"]
        second["links.other-box-net"] = link | {"to": "other-box-nic"}
    document["subsystems"]["jbof"]["hosts"] = "server"
    names = document["subsystems"]["jbof"]["namespaces"]
    document["workloads"]["rate"]["target"] = "ssd1"
    del names[1:]
    for index in (2, 3):
        document["machine"].pop(f"ssd{index}", None)
        document["links"].pop(f"bay{index}", None)
    second["subsystems.other"] = {
        "port": "other-box-nic",
        "namespaces": ["other-ssd1"],
        "transport": document["subsystems"]["jbof"]["transport"],
        "hosts": "other-server",
    }
    requests = document["workloads"]["rate"]["block"]["requests"]
    second["workloads.rate.on"] = ["server", "other-server"]
    second["workloads.rate.target"] = ["ssd1", "other-ssd1"]
    second["workloads.rate.block.requests"] = requests * 2
    document["variants"]["two"] = second

    def broken(told: Answers) -> list[str]:
        one, two = (told.value("throughput", variant, "rate") for variant in ("base", "two"))
        if not math.isclose(two, 2 * one, rel_tol=RATE_SLACK):
            return [f"one has {one:.4g} GB/s, two have {two:.4g} GB/s: {two / one:.3f} times"]
        return []

    return Asked("two pairs of server and box have twice what one has", document, broken)


def slot_retimer(document: Document, draw: random.Random) -> Asked:
    """Ask whether a retimer in the slot of an adapter makes nothing better, and adds whole crossings."""
    where = draw.choice(("slot", "box-slot", "bay1"))
    document["variants"]["retimer"] = {f"links.{where}.via": ["20ns"]}

    def broken(told: Answers) -> list[str]:
        found = no_better(told, ALL, "retimer", "base")
        for workload in ("read", "write"):
            added = told.value("latency", "retimer", workload) - told.value("latency", "base", workload)
            if told.slack("latency", "base", workload) == 0 and added < 2 * 20 - 1:
                found.append(f"{workload}: 20 ns in {where} add {added:.1f} ns")
        return found

    return Asked("a retimer adds its latency there and back", document, broken)


def narrower(document: Document, draw: random.Random) -> dict[str, Any]:
    where = draw.choice(("slot", "box-slot", "bay1"))
    return {f"links.{where}.width": draw.choice(("x1", "x2"))}


def slower_gen(document: Document, draw: random.Random) -> dict[str, Any]:
    where = draw.choice(("slot", "box-slot", "bay1"))
    return {f"links.{where}.gen": draw.choice((1, 2))}


def loss(document: Document, _draw: random.Random) -> dict[str, Any] | None:
    if "tor" not in document["machine"]:
        return None
    return {"machine.tor.buffer": "64KiB"}


def store_and_forward(document: Document, _draw: random.Random) -> dict[str, Any] | None:
    if "tor" not in document["machine"]:
        return None
    return {"machine.tor.forwarding": "store-and-forward"}


def rdma_and_tcp(document: Document, _draw: random.Random) -> Asked:
    """Ask whether RDMA beats TCP, one at a time."""
    document["subsystems"]["jbof"]["transport"] = "rdma"
    document["variants"]["tcp"] = {"subsystems.jbof.transport": "tcp"}
    return Asked(
        "one at a time is not quicker by TCP than by RDMA",
        document,
        lambda told: no_better(told, ["read", "write"], "tcp", "base"),
    )


def offload(document: Document, _draw: random.Random) -> Asked:
    """Ask whether a target in the adapter uses no core of the box."""
    for name in ("nic", "box-nic"):
        document["machine"][name]["part"] = "connectx-6"
    document["subsystems"]["jbof"]["transport"] = "rdma"
    document["machine"]["box"]["target.software"] = "nvmet"
    document["variants"]["offload"] = {"subsystems.jbof.offload": True}

    def broken(told: Answers) -> list[str]:
        found = no_better(told, ["read", "write"], "base", "offload")
        for one in told.document.get("components", []):
            is_cores = one["metric"] == "cores of the host in use" and "box" in one["component"]
            if one["variant"] == "offload" and is_cores and one["value"]:
                found.append(f"{one['component']}: {one['metric']} {one['value']}")
        return found

    return Asked("a target in the adapter is not longer than nvmet, and uses no core", document, broken)


def incast(document: Document, draw: random.Random) -> Asked:
    """Ask whether several boxes that send to one server have no more than its line, in even shares."""
    boxes = draw.choice((2, 3, 4))
    rate = document["links"]["net"]["rate"]
    transport = document["subsystems"]["jbof"]["transport"]
    pfc = draw.random() < 0.5
    box, nic = document["machine"]["box"], document["machine"]["box-nic"]
    ssd = {"part": "intel-p5800x"}
    for old in ("box", "box-nic", "ssd1", "ssd2", "ssd3"):
        document["machine"].pop(old, None)
    document["links"] = {
        "slot": {"from": "server", "to": "nic"},
        "net": {"from": "nic", "to": "tor", "rate": rate},
    }
    document["machine"]["tor"] = {"part": "generic-ethernet-switch-400g", "pause": "pfc" if pfc else "none"}
    document["machine"]["nic"]["pause"] = True
    document["subsystems"] = {}
    for index in range(1, boxes + 1):
        document["machine"] |= {
            f"box{index}": dict(box),
            f"nic{index}": dict(nic) | {"pause": True},
            f"ssd{index}": ssd,
        }
        document["links"] |= {
            f"box-slot{index}": {"from": f"box{index}", "to": f"nic{index}"},
            f"box-net{index}": {"from": "tor", "to": f"nic{index}", "rate": rate},
            f"bay{index}": {"from": f"box{index}", "to": f"ssd{index}"},
        }
        document["subsystems"][f"jbof{index}"] = {
            "port": f"nic{index}",
            "namespaces": f"ssd{index}",
            "transport": transport,
        }
    document["workloads"] = {
        "rate": {
            "block": {"size": "64KiB", "depth": 16, "span": "1GiB", "requests": 800 * boxes},
            "on": "server",
            "target": [f"ssd{index}" for index in range(1, boxes + 1)],
        }
    }
    document["run"]["warm-up"] = 100 * boxes
    line = float(rate.removesuffix("Gb/s")) / 8

    def broken(told: Answers) -> list[str]:
        found = []
        value = told.value("throughput", "base", "rate")
        if value > line * 1.01:
            found.append(f"{value:.4g} GB/s of {boxes} boxes over a line of {line:.4g} GB/s")
        fairness = told.value("fairness", "base", "rate")
        # what is dropped or marked takes a connection of TCP longer to get over than a run is
        if fairness < 0.97 and pfc and transport == "rdma":
            found.append(f"fairness {fairness:.3f}")
        return found

    return Asked("an incast has no more than the line, in even shares", document, broken)


RELATIONS = [
    better("a faster line is not slower", faster_line),
    # one at a time they can be: what is several frames is on PCIe and on the line at once
    better("larger frames have no lower rate", larger_frames, ["rate"]),
    better("more in flight is not less", deeper),
    better("more cores of the target are not slower", more_cores("box")),
    better("more cores of the server are not slower", more_cores("server")),
    better("a target that polls is not slower", polls),
    worse("digests make nothing quicker", digests),
    worse("a narrower slot makes nothing quicker", narrower),
    worse("a slower slot makes nothing quicker", slower_gen),
    worse("a switch that drops makes nothing quicker", loss),
    worse("store-and-forward makes nothing quicker", store_and_forward),
    far,
    hop,
    direct,
    in_capsule,
    wire_bound,
    pauses,
    twice,
    slot_retimer,
    rdma_and_tcp,
    same_twice,
    waterfalls,
    offload,
    incast,
]
