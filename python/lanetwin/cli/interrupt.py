"""Requests to stop: Ctrl-C, the end of a session, a closed terminal. Finished work is kept."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lanetwin.cli.console import Exit, err

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that stop a program: from the user, a service manager or batch system, a closed terminal."""

STOPPING = "stopping; what is finished will be kept (Ctrl-C again to abort)"


@contextmanager
def interruptible(said: str = STOPPING, *, may_abort: bool = True) -> Iterator[None]:
    """Treat the first signal inside the block as a request to stop: print that and raise `KeyboardInterrupt`.

    A second Ctrl-C ends the program at once, if it `may_abort`. Further signals of other kinds are ignored,
    since a closing terminal sends several. A signal that was ignored before (`nohup`) stays ignored. Outside
    the main thread nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            if may_abort and number == signal.SIGINT:
                # does not wait for the engine's threads
                os._exit(Exit.INTERRUPTED)
            return
        asked = True
        err().print(said, style="bold yellow")
        raise KeyboardInterrupt

    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, on_signal) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
