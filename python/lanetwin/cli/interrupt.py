"""Ctrl-C: the first asks the run to stop and keeps what it has, the second ends the program at once."""

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


@contextmanager
def interruptible() -> Iterator[None]:
    """Handle Ctrl-C in this manner inside the block; elsewhere than in the main thread nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    presses = 0

    def on_press(_signal: int, _frame: FrameType | None) -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            os._exit(
                Exit.INTERRUPTED
            )  # the engine's threads may be anywhere; nothing of theirs is waited for
        err().print("stopping; what is finished will be kept (Ctrl-C again to abort)", style="bold yellow")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, on_press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
