"""Standard output and error as a shell hands them over: closed, full, or of an encoding without our signs."""

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
"""What is written for a sign that the encoding of a stream does not have; `?` for all others."""

_EXPONENT = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b", "0123456789-")
_HANDLER = "lanetwin.plain"


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded (an error handler of `codecs`)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    exponent = missing.translate(_EXPONENT)
    if exponent.isascii():
        return f"^{exponent}", error.end
    return "".join(PLAIN.get(sign, "?") for sign in missing), error.end


class _Unfailing(io.TextIOWrapper):
    """A stream for progress and mistakes: losing them (a full disk, a terminal that has gone) ends no run."""

    def write(self, text: str) -> int:
        """Write as much as can be written."""
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with suppress(OSError):
            super().flush()


def prepare() -> None:
    """Make the standard streams ones that can be written to, whatever the shell has made of them."""
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
    # open for as long as the program runs
    return open(os.devnull, "w", encoding="utf-8")


def lost(error: OSError) -> Exit:
    """Return the status with which the command ends when standard output took no more, and tell why.

    A reader that has what it wanted (`lanetwin parts | head`) is no error. An `OSError` that names a file is
    not one of a stream and is raised again.
    """
    if error.filename is not None:
        raise error
    sys.stdout = _nowhere()  # Python flushes it at exit and must not complain once more
    if error.errno == errno.EPIPE:
        return Exit.OK
    err().print(f"error: cannot write to standard output: {error.strerror}", style="bold red")
    return Exit.ERROR
