"""Standard output and error as the shell sets them up: closed, full, or unable to encode our signs."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from contextlib import suppress

from lanetwin.cli.console import Exit, err

PLAIN = {
    "\u2212": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2192": "->",
    "\u2026": "...",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u00b1": "+/-",
    "\u00b5": "u",
    "\u03bc": "u",
    "\u00b7": "*",
    "\u00d7": "x",
    "\u03a9": "ohm",
    "\u03c3": "sigma",
    "\u221e": "inf",
    "\u25b2": "^",
    "\u25bc": "v",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u00a0": " ",
    "\u202f": " ",
}
"""Replacements of signs that the encoding of a stream lacks; `?` for all others."""

_EXPONENT = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b", "0123456789-")
_HANDLER = "lanetwin.plain"


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that cannot be encoded (an error handler of `codecs`)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    exponent = missing.translate(_EXPONENT)
    if exponent.isascii():
        return f"^{exponent}", error.end
    return "".join(PLAIN.get(sign, "?") for sign in missing), error.end


class _Unfailing(io.TextIOWrapper):
    """A stream for progress and errors: failed writes (a full disk, a closed terminal) do not end a run."""

    def write(self, text: str) -> int:
        """Write, ignoring failures."""
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, ignoring failures."""
        with suppress(OSError):
            super().flush()


def prepare() -> None:
    """Make the standard streams writable, whatever their state."""
    codecs.register_error(_HANDLER, _in_plain_signs)
    if sys.stdout is None:
        sys.stdout = _nowhere()
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_HANDLER)
    if sys.stderr is None:
        sys.stderr = _nowhere()
    elif isinstance(sys.stderr, io.TextIOWrapper):
        # the first object stays open as `sys.__stderr__`
        encoding = sys.stderr.encoding
        sys.stderr = _Unfailing(sys.stderr.buffer, encoding=encoding, errors=_HANDLER, line_buffering=True)


def _nowhere() -> io.TextIOWrapper:
    # open while the program runs
    return open(os.devnull, "w", encoding="utf-8")


def lost(error: OSError) -> Exit:
    """Return the exit status after a failed write to standard output, and print the reason.

    A reader that closes the pipe (`lanetwin parts | head`) is not an error. An `OSError` with a file name
    does not come from a stream and is raised again.
    """
    if error.filename is not None:
        raise error
    sys.stdout = _nowhere()  # Python flushes it at exit and must not complain once more
    if error.errno == errno.EPIPE:
        return Exit.OK
    err().print(f"error: cannot write to standard output: {error.strerror}", style="bold red")
    return Exit.ERROR
