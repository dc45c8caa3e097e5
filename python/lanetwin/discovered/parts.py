"""Parts of the catalogue recognised by PCI IDs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def recognised(devices: Iterable[Mapping[str, Any]], beside: str | None = None) -> dict[str, str]:
    """Return the parts of recognised functions, by address.

    Parts are the program's and the user's: those of `LANETWIN_PARTS`, and those beside a scenario. A part
    that names the subsystem has precedence over one of any subsystem, and the user's over the program's.
    Raises `LanetwinError` if a part of the user's is wrong.
    """
    known: dict[tuple[str, str], str] = {}
    # the last entry counts
    for part in sorted(engine.parts(beside), key=lambda part: bool(part.get("own"))):
        for one in part.get("pci", ()):
            for subsystem in one["subsystems"] or [""]:
                known[one["id"], subsystem] = part["name"]
    found = {}
    for device in devices:
        ids = ids_of(device)
        name = known.get((ids, subsystem_of(device))) or known.get((ids, ""))
        if name:
            found[device["address"]] = name
    return found


def ids_of(device: Mapping[str, Any]) -> str:
    """Write vendor and device as `lspci -nn` does.

    >>> ids_of({"vendor": 0x144D, "device": 0xA80A})
    '144d:a80a'
    """
    return f"{device['vendor']:04x}:{device['device']:04x}"


def subsystem_of(device: Mapping[str, Any]) -> str:
    """Write the subsystem likewise; empty for a function without one."""
    return ids_of(device["subsystem"]) if device["subsystem"] else ""
