"""Commands of emulation: serve-device, and actions on a served drive."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer

from lanetwin import emulation
from lanetwin.cli.arguments import Outside, OwnCore, ScenarioPath, Sets, StayAwake
from lanetwin.cli.console import emit, emit_json, err
from lanetwin.cli.interrupt import interruptible

device = typer.Typer(
    name="device",
    no_args_is_help=True,
    help="Do something to a drive that is served: cut its power, break it.",
)


class FaultKind(StrEnum):
    """Faults of a drive."""

    MEDIA_ERROR = "media-error"
    SLOW_DIE = "slow-die"
    LINK_DOWN = "link-down"
    RETRAIN = "retrain"
    BIT_ERRORS = "bit-errors"
    MEDIA_ERRORS = "media-errors"
    FULL = "full"
    LIE = "lie"
    NONE = "none"


class AccessState(StrEnum):
    """States of a namespace at a port (Asymmetric Namespace Access State)."""

    OPTIMIZED = "optimized"
    NON_OPTIMIZED = "non-optimized"
    INACCESSIBLE = "inaccessible"
    PERSISTENT_LOSS = "persistent-loss"
    CHANGE = "change"


Place = Annotated[
    str,
    typer.Argument(
        metavar="PLACE", help="Path of the socket, address or folder that is served.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(name="serve-device")(serve_device)
    app.add_typer(device)


def serve_device(
    scenario: ScenarioPath,
    nbd: Annotated[
        str | None,
        typer.Option("--nbd", metavar="unix:PATH", help="Serve by NBD at this socket.", show_default=False),
    ] = None,
    nvme_tcp: Annotated[
        list[str] | None,
        typer.Option(
            "--nvme-tcp",
            metavar="ADDRESS",
            help="Serve by NVMe/TCP, on loopback; elsewhere with --keys. Several: ports of one subsystem.",
            show_default=False,
        ),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            "--keys",
            metavar="FILE",
            help="Hosts by NVMe/TCP have to authenticate (DH-HMAC-CHAP) with the secrets of this file.",
            show_default=False,
        ),
    ] = None,
    vfio_user: Annotated[
        str | None,
        typer.Option(
            "--vfio-user",
            metavar="unix:PATH",
            help="Serve to a guest of QEMU by vfio-user at this socket.",
            show_default=False,
        ),
    ] = None,
    fuse: Annotated[
        Path | None,
        typer.Option(
            "--fuse", metavar="DIR", help="Serve as the file 'drive' in this folder.", show_default=False
        ),
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="Variant. Default: the baseline.", show_default=False)
    ] = None,
    drive: Annotated[
        list[str] | None,
        typer.Option(
            "--drive",
            help="Drive, if workloads ask several. By NVMe/TCP several: namespaces 1, 2, …",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data", help="File that holds the bytes, for each drive. Default: memory.", show_default=False
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Record what is asked, to replay: a trace if .csv, else a log of fio.",
            show_default=False,
        ),
    ] = None,
    core: OwnCore = None,
    awake: StayAwake = True,
    sets: Sets = None,
    outside: Outside = False,
    as_json: Annotated[bool, typer.Option("--json", "-j", help="Tell the lateness as JSON.")] = False,
) -> None:
    """Serve a drive of a scenario to other programs, in real time, until Ctrl-C.

    Programs connect by NBD (qemu-img, nbdcopy, fio's engine nbd) or by NVMe/TCP (a Linux
    host), open a file (FUSE), or run in a guest whose PCIe drive this is (vfio-user), and
    see the latencies that the model predicts. At the end, how late answers were.

    [dim]Examples:[/]
      lanetwin serve-device bay.yaml --variant retimer --nbd unix:bay.sock
      lanetwin serve-device bay.yaml --nvme-tcp 127.0.0.1:4420
      lanetwin serve-device bay.yaml --nvme-tcp 127.0.0.1:4420 --nvme-tcp 127.0.0.1:4421
      lanetwin serve-device box.yaml --nvme-tcp 127.0.0.1:4420 --drive ssd1 --drive ssd2
      lanetwin serve-device bay.yaml --nvme-tcp 192.0.2.1:4420 --keys hosts.keys
      lanetwin serve-device bay.yaml --fuse bay.d --record asked.csv
      lanetwin serve-device bay.yaml --vfio-user unix:bay.sock
    """
    entrance, place = _entrance(nbd, nvme_tcp or [], fuse, vfio_user)
    if keys and entrance != "nvme-tcp":
        raise typer.BadParameter("hosts authenticate by --nvme-tcp alone", param_hint="--keys")
    (first, file), others = _drives(drive or [], data or [])
    with interruptible("ending; what was acknowledged is written", may_abort=False):
        told = emulation.serve(
            scenario,
            entrance,
            place,
            ready=partial(_say_ready, entrance),
            sets=sets or [],
            variant=variant,
            drive=first,
            data=file,
            others=others,
            record=record,
            keys=keys,
            outside=outside,
            awake=awake,
            core=core,
        )
    if as_json:
        emit_json(told)
    else:
        emit(in_words(told))


@device.command()
def status(place: Place) -> None:
    """Tell how late answers were, as JSON."""
    emit_json(emulation.control(place, {"control": "status"}))


@device.command(name="power-cut")
def power_cut(place: Place) -> None:
    """Cut the power: requests fail until power-on; what was not flushed may be gone.

    [dim]Example:[/]
      lanetwin device power-cut bay.sock
    """
    told = emulation.control(place, {"control": "power-cut"})
    emit(_survived(told))


@device.command(name="power-on")
def power_on(place: Place) -> None:
    """Bring the power back."""
    emulation.control(place, {"control": "power-on"})


@device.command()
def remove(place: Place) -> None:
    """Pull the drive out while it is used: connections end, unflushed writes may be gone."""
    told = emulation.control(place, {"control": "remove"})
    emit(_survived(told))


@device.command()
def insert(place: Place) -> None:
    """Put the drive back; clients can connect again."""
    emulation.control(place, {"control": "insert"})


@device.command()
def reset(place: Place) -> None:
    """Reset the drive: connections end, nothing is lost."""
    emulation.control(place, {"control": "reset"})


@device.command()
def end(place: Place) -> None:
    """Let the server end, as Ctrl-C does."""
    emulation.control(place, {"control": "end"})


@device.command()
def access(
    place: Place,
    state: Annotated[AccessState, typer.Argument(help="How it is reached from now on.")],
    port: Annotated[int | None, typer.Option(min=1, help="By which port. Default: by all.")] = None,
    namespace: Annotated[int | None, typer.Option(min=1, help="Which namespace. Default: all.")] = None,
) -> None:
    """Change how a drive is reached by a port of NVMe/TCP (ANA state); hosts are told.

    [dim]Examples:[/]
      lanetwin device access 127.0.0.1:4420 non-optimized --port 2
      lanetwin device access 127.0.0.1:4420 inaccessible --port 1 --namespace 2
    """
    asked: dict[str, Any] = {"control": "access", "state": state.value}
    emulation.control(place, asked | {"port": port, "namespace": namespace})


Port = Annotated[int, typer.Option(min=1, help="Which, from 1, in the order of --nvme-tcp.")]


@device.command(name="port-down")
def port_down(place: Place, port: Port) -> None:
    """Let a port of NVMe/TCP fail: its connections end, nobody can connect."""
    emulation.control(place, {"control": "port-down", "port": port})


@device.command(name="port-up")
def port_up(place: Place, port: Port) -> None:
    """Bring a port back; hosts can connect again."""
    emulation.control(place, {"control": "port-up", "port": port})


@device.command()
def refer(
    place: Place,
    to: Annotated[
        list[str] | None,
        typer.Argument(
            help="Other discovery services, ADDRESS:PORT; none takes them back.", show_default=False
        ),
    ] = None,
) -> None:
    """Refer hosts by NVMe/TCP to other discovery services; those that asked for it are told.

    [dim]Example:[/]
      lanetwin device refer 127.0.0.1:4420 192.0.2.7:8009
    """
    emulation.control(place, {"control": "refer", "to": to or []})


@device.command()
def fault(
    place: Place,
    kind: Annotated[FaultKind, typer.Argument(help="What is wrong from now on; 'none' ends it.")],
    first: Annotated[int, typer.Option(min=0, help="media-error: from this byte on.")] = 0,
    length: Annotated[int, typer.Option(min=1, help="media-error: so many bytes.")] = 4096,
    die: Annotated[int, typer.Option(min=0, help="slow-die: which, from 0.")] = 0,
    dies: Annotated[int, typer.Option(min=1, help="slow-die: of how many.")] = 32,
    extra_us: Annotated[int, typer.Option(min=0, help="slow-die: how much longer [µs].")] = 5000,
    for_ms: Annotated[int, typer.Option(min=0, help="link-down: how long \\[ms].")] = 2000,
    for_us: Annotated[int, typer.Option(min=0, help="retrain: how long [µs].")] = 100,
    one_in: Annotated[
        int, typer.Option(min=1, help="bit-errors: one bit of so many. media-errors: one read of so many.")
    ] = 1_000_000,
    after_ms: Annotated[int, typer.Option(min=0, help="It comes after so long \\[ms].")] = 0,
    every_ms: Annotated[int, typer.Option(min=0, help="Then again, as often as that \\[ms]; 0: once.")] = 0,
    by_chance: Annotated[
        int, typer.Option(min=0, help="It comes with one request of so many, by chance; 0: not so.")
    ] = 0,
    namespace: Annotated[int, typer.Option(min=1, help="Which, of several drives by NVMe/TCP.")] = 1,
) -> None:
    """Let something be wrong with the drive: now, at times, or by chance, until 'none' ends all of it.

    [dim]Examples:[/]
      lanetwin device fault bay.sock link-down --for-ms 2000
      lanetwin device fault bay.sock media-error --first 1048576 --length 4096
      lanetwin device fault bay.sock full --after-ms 5000
      lanetwin device fault bay.sock retrain --for-us 200 --every-ms 1000
      lanetwin device fault bay.sock link-down --for-ms 20 --by-chance 10000
    """
    values: dict[FaultKind, dict[str, int]] = {
        FaultKind.MEDIA_ERROR: {"first": first, "bytes": length},
        FaultKind.SLOW_DIE: {"die": die, "dies": dies, "extra_us": extra_us},
        FaultKind.LINK_DOWN: {"for_ms": for_ms},
        FaultKind.RETRAIN: {"for_us": for_us},
        FaultKind.BIT_ERRORS: {"one_in": one_in},
        FaultKind.MEDIA_ERRORS: {"one_in": one_in},
    }
    what = {"fault": kind.value, **values.get(kind, {})}
    when = {"after_ms": after_ms, "every_ms": every_ms, "one_in": by_chance}
    emulation.control(place, {"control": "fault", "what": what, "namespace": namespace, **when})


def _survived(told: dict[str, Any]) -> str:
    """Say what became of writes that were not durable."""
    return f"of writes that were not durable, {told['kept']} atomic units were kept and {told['lost']} lost"


def in_words(told: emulation.Lateness) -> str:
    """Describe the lateness of answers, and its meaning."""
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
        f"late by more than {told['late_beyond_us']:.0f} µs and {told['late_beyond_share'] * 100:.0f} %: "
        f"{told['late_share'] * 100:.2f} %; "
        f"half by at most {told['p50_us']:.1f} µs, 99 % by {told['p99_us']:.1f} µs, "
        f"worst {told['worst_us']:.1f} µs\n{verdict}"
    )


def _entrance(
    nbd: str | None, nvme_tcp: list[str], fuse: Path | None, vfio_user: str | None
) -> tuple[emulation.AnyEntrance, str]:
    """Return the kind of door and its address."""
    if sum(bool(way) for way in (nbd, nvme_tcp, fuse, vfio_user)) != 1:
        raise typer.BadParameter("give one of them", param_hint="--nbd, --nvme-tcp, --fuse, --vfio-user")
    if nvme_tcp:
        return "nvme-tcp", ",".join(nvme_tcp)
    if fuse is not None:
        return "fuse", str(fuse)
    if vfio_user is not None:
        return "vfio-user", _path(vfio_user, "--vfio-user")
    return "nbd", _path(str(nbd), "--nbd")


def _path(socket: str, option: str) -> str:
    """Return the path of a socket that is given as unix:PATH."""
    kind, colon, path = socket.partition(":")
    if kind != "unix" or not colon or not path:
        raise typer.BadParameter(f"{socket!r} is not of the form unix:PATH", param_hint=option)
    return path


Served = tuple[str | None, Path | None]
"""The name of a drive, if given, and the file for its data."""


def _drives(names: list[str], files: list[Path]) -> tuple[Served, list[tuple[str, Path | None]]]:
    """Return the first drive and the others, each with the file for its data."""
    if files and len(files) != max(len(names), 1):
        said = f"{len(files)} files for {max(len(names), 1)} drives"
        raise typer.BadParameter(said, param_hint="--data")
    both = list(zip_longest(names, files))
    first: Served = both[0] if both else (None, None)
    return first, both[1:]


def _say_ready(entrance: emulation.AnyEntrance, said: dict[str, Any]) -> None:
    """Print where clients connect."""
    nqn, place = said["nqn"], said["place"]
    where = f"{nqn} at {place}" if nqn else said["file"] or f"nbd+unix:///drive?socket={place}"
    if entrance == "vfio-user":
        where = f"vfio-user at {place}"
    sizes = " + ".join(str(size) for size in said["namespaces"])
    lead = f"the door takes {said['lead_us']:.0f} µs, by which answers leave earlier"
    err().print(f"{where}, {sizes} B; {lead}; control: {said['control']}", soft_wrap=True)
    if said["awake"] == "not-allowed":
        err().print("idle cores sleep and wake late: root can keep them awake", soft_wrap=True)
