"""A scenario of a machine: NVMe drives in their slots, behind their switches, and CXL memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanetwin import engine, yaml_out
from lanetwin.discovered.memories import memories
from lanetwin.discovered.names import described
from lanetwin.discovered.parts import ids_of, subsystem_of
from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from collections.abc import Mapping

Device = dict[str, Any]

NVME = 0x0108
"""Class code of a mass storage controller for non-volatile memory."""
PARTS = {4: "generic-tlc-gen4", 5: "generic-tlc-gen5"}
"""The generic drive of a generation; older generations use that of Gen4 at their own speed."""
HOSTS = {3: "generic-host-gen3", 4: "generic-host-gen4", 5: "generic-host-gen5"}
SWITCHES = {4: "generic-switch-gen4", 5: "generic-switch-gen5"}
NEWEST = 5
"""The newest generation that the generic parts have."""
WIDEST_DRIVE = 4
"""Lanes of the generic drives."""
WIDEST = 16
"""Lanes of the ports of generic hosts and switches."""


@dataclass
class Machine:
    """The scenario under construction."""

    devices: Mapping[str, Device]
    comments: list[str]
    beside: str | None
    """The path of the scenario to be written; its own parts are found beside it."""
    components: dict[str, Any] = field(default_factory=dict)
    links: dict[str, Any] = field(default_factory=dict)
    trained: dict[str, Any] = field(default_factory=dict)
    switches: dict[str, str] = field(default_factory=dict)
    """The name of the switch of each upstream port."""
    roots: set[str] = field(default_factory=set)
    ports: dict[str, int] = field(default_factory=dict)
    """Number of downstream ports of each switch."""

    def link(self, name: str, below: Device, to: str, most: int) -> None:
        """Add the link above a function, with the capabilities of both ends, and its trained state."""
        above = self.devices[below["parent"]]
        capable = _least(
            [below["link"]["capable"], *([above["link"]["capable"]] if above["link"] else [])], most
        )
        self.links[name] = {"from": self._above(above), "to": to} | capable
        trained = _least([below["link"]["trained"]], most)
        self.trained |= {f"links.{name}.{key}": value for key, value in trained.items()}

    def _above(self, port: Device) -> str:
        """Return the component of a port, after adding its switch if necessary."""
        if port["kind"] == "root-port":
            self.roots.add(port["address"])
            return "host"
        switch = self._switch(self.devices[port["parent"]])
        self.ports[switch] += 1
        return switch

    def _switch(self, upstream: Device) -> str:
        """Return the switch of an upstream port, adding it at its first use."""
        known = self.switches.get(upstream["address"])
        if known:
            return known
        name = f"switch{len(self.switches)}"
        self.switches[upstream["address"]] = name
        self.ports[name] = 0
        generation = max(min(upstream["link"]["capable"]["generation"], NEWEST), min(SWITCHES))
        self.components[name] = self.part(name, upstream, SWITCHES[generation])
        self.link(f"up_{name}", upstream, name, WIDEST)
        return name

    def part(self, name: str, device: Device, generic: str, model: str = "") -> dict[str, Any]:
        """Return the part that a function was recognised as, or a generic one; a comment tells which."""
        at, ids, subsystem = device["address"], ids_of(device), subsystem_of(device)
        part = device["part"]
        said = f"# {name}: {' '.join(filter(None, (at, described(device), model)))}"
        by = ids + (f", subsystem {subsystem}" if subsystem else "")
        self.comments.append(f"{said}: recognised by {by}" if part else f"{said}: generic, no part has {by}")
        return {"part": part or generic}


HEAD = [
    "# Written by `lanetwin discover`.",
    "# A generic part stands for a device that no part is known of: put in yours (`lanetwin parts`).",
]
NOTHING = (
    "there is no NVMe drive below a root port over links whose speed and width are known, and no CXL memory "
    "whose size is told: nothing to write a scenario of"
)


def scenario(found: Mapping[str, Any], beside: str | None = None) -> str:
    """Return a scenario of the drives below root ports and switches, and of CXL memories, alone and together.

    A device is the part that it was recognised as, or else a generic one. Devices that cannot be reached over
    known links are left out, with a comment. Raises `LanetwinError` if none can be reached.
    """
    devices = {device["address"]: device for device in found["devices"]}
    drives = [device for device in found["devices"] if device["class"] >> 8 == NVME]
    usable = [drive for drive in drives if _is_reached(drive, devices)]
    of_memories = memories(found)
    if not usable and not of_memories.components:
        help_ = "read more of the machine: `lspci -xxxx` as root, `cxl list`"
        raise LanetwinError("", [Diagnostic("HW002", "error", NOTHING, help_)])
    machine = Machine(devices, list(HEAD), beside)
    host = _put_drives(machine, usable, found) if usable else {}
    lost = len(drives) - len(usable)
    if lost:
        machine.comments.append(
            f"# Left out: {lost} drives that have no link which is known up to a root port."
        )
    if usable:
        at = usable[0]["address"]
        machine.comments.append(
            f"# Does a link hold? `lanetwin link cycle --device {at}` says what it would do."
        )
    trained = machine.trained | of_memories.trained
    links = machine.links | of_memories.links
    differs = any(trained[path] != _at(links, path) for path in trained)
    body = {
        "about": ABOUT if differs else ABOUT_ALONE,
        "machine": host | machine.components | of_memories.components,
        "links": links,
        "workloads": _workloads([f"ssd{nth}" for nth in range(len(usable))]) | of_memories.workloads,
    }
    if differs:
        body |= {
            "variants": {"as-trained": trained, "as-capable": {}},
            "compare": {"baseline": "as-trained", "equivalent_within": "2%"},
        }
    body["run"] = {"repeats": 2, "seed": 1}
    return "\n".join([*machine.comments, *of_memories.comments]) + "\n" + yaml_out.dump(body)


ABOUT = "What does each device of this machine reach, alone and together, as links trained and can?"
ABOUT_ALONE = "What does each device of this machine reach, alone and together?"


def _at(links: Mapping[str, Any], path: str) -> Any:
    """Return what `links.NAME.KEY` is without a variant."""
    _, name, key = path.split(".")
    return links[name][key]


def _put_drives(machine: Machine, drives: list[Device], found: Mapping[str, Any]) -> dict[str, Any]:
    """Add drives, their switches and links to a machine; return the host above them."""
    newest = max(max(min(drive["link"]["capable"]["generation"], NEWEST), min(HOSTS)) for drive in drives)
    models = {one["address"]: one["model"] for one in found["drives"]}
    for nth, drive in enumerate(drives):
        name, generation = f"ssd{nth}", drive["link"]["capable"]["generation"]
        generic = PARTS[max(min(generation, NEWEST), min(PARTS))]
        part = machine.part(name, drive, generic, models.get(drive["address"], ""))
        machine.components[name] = part | _lacking(part["part"], _port(drive, WIDEST_DRIVE), machine.beside)
        machine.link(f"slot{nth}", drive, name, WIDEST_DRIVE)
    _fit_switches(machine)
    return {"host": {"part": HOSTS[newest], "ports": len(machine.roots)}}


def _fit_switches(machine: Machine) -> None:
    """Give switches the ports for their links."""
    for name, ports in machine.ports.items():
        own = [link for link in machine.links.values() if name in (link["from"], link["to"])]
        widest = max(own, key=lambda link: int(link["width"][1:]))["width"]
        most = {"port.gen": max(link["gen"] for link in own), "port.width": widest}
        component = machine.components[name]
        if component["part"] in SWITCHES.values():
            component |= {"ports": ports + 1} | most


def _lacking(part: str, wanted: Mapping[str, Any], beside: str | None) -> dict[str, Any]:
    """Return the settings of a component that differ from its part."""
    numbers = engine.part(part, beside)["parameters"]
    has = {number["parameter"]: str(number["value"]).removeprefix("x") for number in numbers}
    return {name: value for name, value in wanted.items() if has.get(name) != str(value).removeprefix("x")}


def _port(device: Device, most: int) -> dict[str, Any]:
    """Return the port parameters of the device, which those of generic parts could exceed."""
    capable = device["link"]["capable"]
    return {
        "port.gen": min(capable["generation"], NEWEST),
        "port.width": f"x{min(capable['width'], most)}",
    }


def _workloads(drives: list[str]) -> dict[str, Any]:
    """Return workloads of large reads of each drive alone, and of all together."""

    def reads(target: str | list[str]) -> dict[str, Any]:
        fio = {"rw": "read", "bs": "128k", "iodepth": 32, "requests": 1000}
        return {"fio": fio, "on": "host", "target": target}

    alone = {f"{name}_alone": reads(name) for name in drives}
    return alone | ({"all_together": reads(drives)} if len(drives) > 1 else {})


def _is_reached(drive: Device, devices: Mapping[str, Device]) -> bool:
    """Return whether every link from a drive up to a root port is known and up."""
    at = drive
    for _ in range(len(devices)):
        port = devices.get(at["parent"] or "")
        if (
            not port
            or not at["link"]
            or not _is_up(at["link"]["trained"])
            or not _is_up(at["link"]["capable"])
        ):
            return False
        if port["kind"] == "root-port":
            return True
        upstream = devices.get(port["parent"] or "")
        if port["kind"] != "downstream-port" or not upstream or upstream["kind"] != "upstream-port":
            return False
        at = upstream
    return False


def _is_up(of: Mapping[str, int]) -> bool:
    return of["generation"] > 0 and of["width"] > 0


def _least(ends: list[Mapping[str, int]], most: int) -> dict[str, Any]:
    """Return speed and width of a link: the minimum of its ends and the generic parts."""
    known = [one for one in ends if _is_up(one)]
    return {
        "gen": min([one["generation"] for one in known] + [NEWEST]),
        "width": f"x{min([one['width'] for one in known] + [most])}",
    }
