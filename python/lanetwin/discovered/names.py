"""Names of functions: by the computer's own list of IDs, if it has one, and by class."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanetwin.sentences import told

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTS = (Path("/usr/share/misc/pci.ids"), Path("/usr/share/hwdata/pci.ids"))
"""Paths of pci.ids in distributions (Debian: package `pci.ids`)."""
CLASSES = {
    0x0100: "SCSI controller",
    0x0101: "IDE controller",
    0x0104: "RAID controller",
    0x0106: "SATA controller",
    0x0108: "NVMe drive",
    0x0107: "SAS controller",
    0x0180: "storage controller",
    0x0200: "Ethernet controller",
    0x0207: "InfiniBand controller",
    0x0280: "network controller",
    0x0300: "VGA controller",
    0x0302: "3D controller",
    0x0380: "display controller",
    0x0403: "audio device",
    0x0500: "memory",
    0x0502: "CXL memory",
    0x0600: "host bridge",
    0x0601: "ISA bridge",
    0x0604: "PCI bridge",
    0x0700: "serial port",
    0x0780: "communication controller",
    0x0806: "IOMMU",
    0x0880: "system peripheral",
    0x0C03: "USB controller",
    0x0C04: "Fibre Channel controller",
    0x0C05: "SMBus",
    0x1101: "performance counters",
    0x1200: "accelerator",
    0x1300: "instrumentation",
    0xFF00: "device of no defined class",
    0xFFFF: "device of no defined class",
}
"""Base class and subclass (PCI Code and ID Assignment Specification 1.16, §1)."""
KINDS = {
    "root-port": "root port",
    "upstream-port": "upstream port of a switch",
    "downstream-port": "downstream port of a switch",
}
LONGEST = 60
RATES = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""GT/s of each generation."""


def described(device: Mapping[str, Any]) -> str:
    """Name a function in a few words.

    >>> described({"kind": "conventional", "class": 0xFFFF00, "vendor": 0, "device": 0, "name": "a thing"})
    'device of no defined class a thing'
    >>> described({"kind": "endpoint", "class": 0x123400, "vendor": 0, "device": 0, "name": None})
    'device of class 1234h'
    """
    number = device["class"] >> 8
    what = KINDS.get(device["kind"]) or CLASSES.get(number, f"device of class {number:04x}h")
    return f"{told(what)} {_named(device)}".rstrip()


def _named(device: Mapping[str, Any]) -> str:
    """Name vendor and device: by the list of this computer, by the text of the source, or by their IDs."""
    ids = (device["vendor"], device["device"])
    found = _ids().get(ids) or (device["name"] or "")[:LONGEST]
    return found or (f"{ids[0]:04x}:{ids[1]:04x}" if any(ids) else "")


def end(of: Mapping[str, int]) -> str:
    """Write a speed and a width.

    >>> end({"generation": 5, "width": 4})
    '32 GT/s x4'
    """
    rate = RATES.get(of["generation"])
    return f"{f'{rate:g}' if rate else '?'} GT/s x{of['width']}"


@cache
def _ids() -> dict[tuple[int, int], str]:
    """Return vendor and name of each device, from the list of this computer; empty without one."""
    for path in LISTS:
        try:
            return _read(path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return {}


def _read(text: str) -> dict[tuple[int, int], str]:
    found: dict[tuple[int, int], str] = {}
    vendor, maker = -1, ""
    for line in text.splitlines():
        number, _, name = line.strip().partition("  ")
        try:
            value = int(number, 16) if len(number) == 4 else -1
        except ValueError:
            continue
        if value < 0 or line.startswith(("#", "\t\t", "C ")):
            continue
        if line.startswith("\t"):
            found[vendor, value] = f"{maker} {name}"[:LONGEST]
        else:
            vendor, maker = value, name.split(",")[0].split(" [")[0].removesuffix(" Corporation")
    return found
