"""The owner of the other end of a connection on this machine, from Linux's `/proc/net/tcp`."""

from __future__ import annotations

import os
from pathlib import Path

TABLE = Path("/proc/net/tcp")
"""Every IPv4 connection: addresses in hexadecimal, the address as a number of this machine's byte order."""
LOCAL, OWNER = 1, 7
"""The columns of an end's address and of its owner."""


def is_of_another(client: tuple[str, int] | list[object] | None) -> bool:
    """Whether a client on this machine belongs to another user; false if the system does not tell."""
    if not client:
        return False
    owner = owner_of(int(str(client[1])))
    return owner is not None and owner not in (0, os.getuid())


def owner_of(port: int, table: Path = TABLE) -> int | None:
    """Return the owner of the loopback end with a port; None if there is none, or if unknown."""
    try:
        lines = table.read_text("ascii").splitlines()[1:]
    except OSError:
        return None
    address = f"0100007F:{port:04X}"
    return next((int(words[OWNER]) for line in lines if (words := line.split())[LOCAL] == address), None)
