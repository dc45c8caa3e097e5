"""The command `ui`: the live view, served to a browser on this machine."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from lanetwin.cli.console import err
from lanetwin.errors import mistake
from lanetwin.frames import library


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ui)


def ui(
    folder: Annotated[
        Path, typer.Argument(help="Folder with scenarios; nothing beside it is seen.", show_default=False)
    ] = Path(),
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 0,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Write, change and run scenarios in a browser, and watch what follows.

    Serves this machine alone (127.0.0.1), until Ctrl-C. It neither measures
    hardware nor starts a program.

    [dim]Examples:[/]
      lanetwin ui
      lanetwin ui my-scenarios --port 8765 --no-open
    """
    uvicorn = library("uvicorn")
    library("starlette")
    from lanetwin.ui.server import application  # not before the library is known to be there

    if not folder.is_dir():
        remedy = "name the folder of your scenarios; `lanetwin ui` alone takes the current one"
        raise mistake("UI001", "this is no folder", remedy, folder)
    listening = _listening(port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    app = application(folder, listening.getsockname()[1])
    settings = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=3)
    err().print(f"The live view is at {address} (Ctrl-C ends it)", soft_wrap=True)
    if opens:
        webbrowser.open(address)
    uvicorn.Server(settings).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    """Return a socket that only this machine can reach."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        message = f"port {port} cannot be had: {error.strerror}"
        raise mistake("UI002", message, "name another with --port, or none: a free one is taken") from error
    return listening
