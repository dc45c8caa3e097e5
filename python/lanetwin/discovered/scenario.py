"""A scenario of the NVMe drives of a machine: each in its slot, with generic parts, which are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin import yaml_out
from lanetwin.discovered.names import described
from lanetwin.errors import LanetwinError

if TYPE_CHECKING:
    from collections.abc import Mapping

NVME = 0x0108
"""Class code of a mass storage controller for non-volatile memory."""
PARTS = {4: "generic-tlc-gen4", 5: "generic-tlc-gen5"}
"""The generic drive of a generation; older ones have that of Gen4 at their own speed."""
HOSTS = {3: "generic-host-gen3", 4: "generic-host-gen4", 5: "generic-host-gen5"}
NEWEST = 5
"""The newest generation that the generic parts have."""


def scenario(found: Mapping[str, Any]) -> str:
    """Return a scenario of the drives that are right below a root port.

    What is behind a switch is left out, with a comment. Raises `LanetwinError` if there is no such drive.
    """
    devices = {device["address"]: device for device in found["devices"]}
    drives = [device for device in found["devices"] if device["class"] >> 8 == NVME and device["link"]]
    direct = [drive for drive in drives if devices.get(drive["parent"], {}).get("kind") == "root-port"]
    usable = [drive for drive in direct if drive["link"]["trained"]["generation"]]
    if not usable:
        raise LanetwinError("there is no NVMe drive right below a root port: nothing to write a scenario of")
    newest = max(min(drive["link"]["capable"]["generation"], NEWEST) for drive in usable)
    comments = [
        "# Written by `lanetwin discover`. Parts are generic: put in those that you have (`lanetwin parts`)."
    ]
    machine: dict[str, Any] = {"host": {"part": HOSTS[max(newest, 3)], "ports": max(len(usable), 1)}}
    links: dict[str, Any] = {}
    workloads: dict[str, Any] = {}
    trained: dict[str, Any] = {}
    for nth, drive in enumerate(usable):
        name = f"ssd{nth}"
        comments.append(f"# {name}: {drive['address']} {described(drive)}".replace("\n", " "))
        machine[name] = {
            "part": PARTS.get(drive["link"]["capable"]["generation"], PARTS[newest if newest >= 4 else 4])
        }
        links[f"slot{nth}"] = {"from": "host", "to": name} | _link(drive, devices, "capable")
        trained |= {
            f"links.slot{nth}.{key}": value for key, value in _link(drive, devices, "trained").items()
        }
        fio = {"rw": "read", "bs": "128k", "iodepth": 32, "requests": 1000}
        workloads[f"read{nth}"] = {"fio": fio, "on": "host", "target": name}
    behind = len(drives) - len(usable)
    if behind:
        comments.append(f"# {behind} more drives are behind a switch, or have no link: they are left out.")
    body = {
        "about": "What does each drive of this machine reach, as its link has trained and as both ends can?",
        "machine": machine,
        "links": links,
        "workloads": workloads,
        "variants": {"as-trained": trained, "as-capable": {}},
        "compare": {"baseline": "as-trained", "equivalent_within": "2%"},
        "run": {"repeats": 2, "seed": 1},
    }
    return "\n".join(comments) + "\n" + yaml_out.dump(body)


def _link(drive: Mapping[str, Any], devices: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return speed and width of a drive's link: as it trained, or the least that both ends can do."""
    own, above = drive["link"][key], devices[drive["parent"]].get("link")
    both = [own, above[key]] if key == "capable" and above else [own]
    return {
        "gen": min(min(one["generation"] for one in both), NEWEST),
        "width": f"x{min(one['width'] for one in both)}",
    }
