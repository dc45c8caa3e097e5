"""Commands that emulate: serve-device, and what can be done to a served drive."""

from __future__ import annotations

import json
import socket
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lanetwin import emulation
from lanetwin.cli.arguments import Outside, ScenarioPath, Sets
from lanetwin.cli.console import emit, emit_json, err
from lanetwin.cli.interrupt import interruptible
from lanetwin.errors import LanetwinError

ANSWERS_WITHIN = 10.0
"""A server that does not answer within this time [s] is none."""

device = typer.Typer(
    name="device",
    no_args_is_help=True,
    help="Do something to a drive that is served: cut its power, break it.",
)


class FaultKind(StrEnum):
    """What can be wrong with a drive."""

    MEDIA_ERROR = "media-error"
    SLOW_DIE = "slow-die"
    LINK_DOWN = "link-down"
    LIE = "lie"
    NONE = "none"


Socket = Annotated[
    Path, typer.Argument(metavar="SOCKET", help="Path of the socket that is served.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(name="serve-device")(serve_device)
    app.add_typer(device)


def serve_device(
    scenario: ScenarioPath,
    nbd: Annotated[
        str,
        typer.Option("--nbd", metavar="unix:PATH", help="Serve by NBD at this socket.", show_default=False),
    ],
    variant: Annotated[
        str | None, typer.Option("--variant", help="Variant. Default: the baseline.", show_default=False)
    ] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", help="Drive, if workloads ask several.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="File that holds the bytes. Default: memory.", show_default=False),
    ] = None,
    sets: Sets = None,
    outside: Outside = False,
    as_json: Annotated[bool, typer.Option("--json", "-j", help="Tell the lateness as JSON.")] = False,
) -> None:
    """Serve a drive of a scenario to other programs, in real time, until Ctrl-C.

    Programs connect by NBD (qemu-img, nbdcopy, fio's engine nbd) and see the latencies
    that the model predicts. At the end, how late answers were.

    [dim]Example:[/]
      lanetwin serve-device slot.yaml --variant retimer --nbd unix:slot.sock
    """
    with interruptible("ending; what was acknowledged is written", may_abort=False):
        told = emulation.serve_nbd(
            scenario,
            _path(nbd),
            ready=_say_ready,
            sets=sets or [],
            variant=variant,
            drive=drive,
            data=data,
            outside=outside,
        )
    if as_json:
        emit_json(told)
    else:
        emit(in_words(told))


@device.command()
def status(path: Socket) -> None:
    """Tell how late answers were, as JSON."""
    emit_json(_ask(path, {"control": "status"}))


@device.command(name="power-cut")
def power_cut(path: Socket) -> None:
    """Cut the power: requests fail until power-on; what was not flushed may be gone.

    [dim]Example:[/]
      lanetwin device power-cut slot.sock
    """
    told = _ask(path, {"control": "power-cut"})
    emit(f"of what was not sure, {told['kept']} atomic units are there and {told['lost']} are not")


@device.command(name="power-on")
def power_on(path: Socket) -> None:
    """Bring the power back."""
    _ask(path, {"control": "power-on"})


@device.command()
def fault(
    path: Socket,
    kind: Annotated[FaultKind, typer.Argument(help="What is wrong from now on; 'none' ends it.")],
    first: Annotated[int, typer.Option(min=0, help="media-error: from this byte on.")] = 0,
    length: Annotated[int, typer.Option(min=1, help="media-error: so many bytes.")] = 4096,
    die: Annotated[int, typer.Option(min=0, help="slow-die: which, from 0.")] = 0,
    dies: Annotated[int, typer.Option(min=1, help="slow-die: of how many.")] = 32,
    extra_us: Annotated[int, typer.Option(min=0, help="slow-die: how much longer [µs].")] = 5000,
    for_ms: Annotated[int, typer.Option(min=0, help="link-down: how long [ms].")] = 2000,
) -> None:
    """Let something be wrong with the drive.

    [dim]Examples:[/]
      lanetwin device fault slot.sock link-down --for-ms 2000
      lanetwin device fault slot.sock media-error --first 1048576 --length 4096
    """
    values: dict[FaultKind, dict[str, int]] = {
        FaultKind.MEDIA_ERROR: {"first": first, "bytes": length},
        FaultKind.SLOW_DIE: {"die": die, "dies": dies, "extra_us": extra_us},
        FaultKind.LINK_DOWN: {"for_ms": for_ms},
    }
    _ask(path, {"control": "fault", "what": {"fault": kind.value, **values.get(kind, {})}})


def in_words(told: emulation.Lateness) -> str:
    """Say how late answers were, and what that means."""
    if told["answers"] == 0:
        return "nothing was asked"
    verdict = (
        "what programs saw is the prediction, to that"
        if told["is_prediction"]
        else "this machine was too slow: what programs saw is no prediction"
    )
    return (
        f"{told['answers']} answers, predicted mean {told['predicted_mean_us']:.1f} µs, "
        f"99 % {told['predicted_p99_us']:.1f} µs\n"
        f"late by more than {told['late_beyond_us']:.0f} µs: {told['late_share'] * 100:.2f} %; "
        f"half by at most {told['p50_us']:.1f} µs, 99 % by {told['p99_us']:.1f} µs, "
        f"worst {told['worst_us']:.1f} µs\n{verdict}"
    )


def _path(address: str) -> str:
    kind, colon, path = address.partition(":")
    if kind != "unix" or not colon or not path:
        raise typer.BadParameter(f"{address!r} is not of the form unix:PATH", param_hint="--nbd")
    return path


def _say_ready(said: dict[str, Any]) -> None:
    """Say where clients connect."""
    err().print(f"nbd+unix:///drive?socket={said['nbd']}, {said['bytes']} B; the door takes", end=" ")
    err().print(f"{said['lead_us']:.0f} µs, by which answers leave earlier; control: {said['control']}")


def _ask(path: Path, control: dict[str, Any]) -> dict[str, Any]:
    """Send a line to the control socket of a server, and return what it answers."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWERS_WITHIN)
            connection.connect(f"{path}.control")
            connection.sendall(json.dumps(control).encode() + b"\n")
            answer = connection.makefile("rb").readline()
    except OSError as error:
        why = error.strerror or str(error)
        raise LanetwinError(f"no drive is served at {path}: {why}; start lanetwin serve-device") from error
    told: dict[str, Any] = json.loads(answer or b'{"error": "the server has ended"}')
    if "error" in told:
        raise LanetwinError(str(told["error"]))
    return told
