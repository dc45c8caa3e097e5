"""The commands of a host: nvme-tcp ping, nvme-tcp key."""

from __future__ import annotations

import contextlib
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lanetwin import emulation
from lanetwin.cli.console import emit, emit_json
from lanetwin.cli.doors import in_words
from lanetwin.errors import LanetwinError

BAR = 40
"""The longest bar of the histogram [characters]."""
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}

PROVED = {
    "host": "this host has proved who it is",
    "both": "host and subsystem have proved who they are",
}


class HashName(StrEnum):
    """The hash that derives the key of a secret."""

    SHA_256 = "sha-256"
    SHA_384 = "sha-384"
    SHA_512 = "sha-512"
    NONE = "none"


nvme_tcp = typer.Typer(
    name="nvme-tcp", no_args_is_help=True, help="Be a host of an NVMe/TCP target, in user space."
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(nvme_tcp)


@nvme_tcp.callback()
def host() -> None:
    """Be a host of an NVMe/TCP target, in user space."""


@nvme_tcp.command()
def ping(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Such as 127.0.0.1:4420.")],
    nqn: Annotated[
        str | None,
        typer.Option("--nqn", help="Subsystem. Default: the first of the discovery log.", show_default=False),
    ] = None,
    nsid: Annotated[int, typer.Option("--nsid", min=1, help="Namespace.")] = 1,
    reads: Annotated[int, typer.Option("--reads", min=1, help="How many reads.")] = 1000,
    size: Annotated[str, typer.Option("--size", help="Of a read, such as 4k.")] = "4k",
    depth: Annotated[int, typer.Option("--depth", min=1, max=1023, help="Reads in progress.")] = 1,
    digests: Annotated[bool, typer.Option("--digests", help="Ask for header and data digests.")] = False,
    keys: Annotated[
        Path | None,
        typer.Option(
            "--keys", metavar="FILE", help="Authenticate with the secrets of this file.", show_default=False
        ),
    ] = None,
    host_nqn: Annotated[
        str | None,
        typer.Option(
            "--host-nqn",
            help="Who connects. Default: the host of --keys, if it is one.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", "-j", help="Write JSON.")] = False,
) -> None:
    """Discover a subsystem, connect, identify it, and measure random reads.

    Beside what this host sees stands what was predicted, if lanetwin serves the drive.

    [dim]Example:[/]
      lanetwin nvme-tcp ping 127.0.0.1:4420 --reads 1000 --depth 4
    """
    told = _served(address, {"control": "forget-lateness"}) is not None
    pong = emulation.ping(
        address,
        nqn=nqn,
        nsid=nsid,
        reads=reads,
        size=_bytes(size),
        depth=depth,
        digests=digests,
        host=host_nqn,
        keys=keys,
    )
    status = _served(address, {"control": "status"}) if told else None
    lateness = status["lateness"] if status else None
    if as_json:
        emit_json({**pong, "served": lateness})
    else:
        emit(_in_words(pong))
        if lateness:
            emit(in_words(lateness))


@nvme_tcp.command()
def key(
    hash_name: Annotated[
        HashName, typer.Option("--hash", help="What makes the key of it; none: it is the key.")
    ] = HashName.SHA_256,
) -> None:
    """Write a new secret for a host, or for a subsystem that is to prove itself.

    Linux takes it with nvme connect --dhchap-secret and --dhchap-ctrl-secret. What this prints is the
    secret: let nobody else see it.

    [dim]Example:[/]
      (umask 077; echo "nqn.2026-01.org.lanetwin:host $(lanetwin nvme-tcp key)" > hosts.keys)
    """
    emit(emulation.new_key(hash_name.value))


def _served(address: str, asked: dict[str, str]) -> dict[str, Any] | None:
    """Return the answer of the drive served there; None if lanetwin does not serve it."""
    with contextlib.suppress(LanetwinError):
        return emulation.control(address, asked)
    return None


def _bytes(size: str) -> int:
    found = re.fullmatch(r"(\d+)([km]?)(i?b)?", size.lower())
    if not found:
        raise typer.BadParameter(f"{size!r} is no size, such as 4k", param_hint="--size")
    return int(found[1]) * UNITS[found[2]]


def _in_words(pong: emulation.Pong) -> str:
    percentiles = ", ".join(f"{percent:g} % {took:.1f}" for percent, took in pong["percentiles_us"])
    lines = [
        f"{pong['nqn']}: {pong['model']}, serial {pong['serial']}, controller {pong['controller']}",
        *([PROVED[pong["proved"]]] if pong["proved"] in PROVED else []),
        f"namespace of {pong['bytes']} B in blocks of {pong['block']} B",
        f"{pong['reads']} reads, {pong['errors']} errors, {pong['reads'] / pong['seconds']:.0f} per second",
        f"mean {pong['mean_us']:.1f} µs, {percentiles}, worst {pong['max_us']:.1f}",
    ]
    most = max((count for _, count in pong["histogram"]), default=1)
    for up_to, count in pong["histogram"]:
        lines.append(f"  up to {up_to:8.0f} µs {count:8d} {'█' * -(-count * BAR // most)}")
    return "\n".join(lines)
