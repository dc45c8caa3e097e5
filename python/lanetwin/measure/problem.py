"""Errors of a measurement, with code and remedy."""

from __future__ import annotations

from typing import NoReturn

from lanetwin.errors import Diagnostic, LanetwinError


def refuse(code: str, message: str, help_: str, *, file: str = "", path: str = "") -> NoReturn:
    """Raise the error.

    Raises `LanetwinError`, always.
    """
    raise LanetwinError("", [Diagnostic(code, "error", message, help_, file, 0, 0, path)])
