"""Errors in the options of a search."""

from __future__ import annotations

from typing import NoReturn

from lanetwin.errors import Diagnostic, LanetwinError


def refuse(code: str, message: str, remedy: str, file: str = "") -> NoReturn:
    """Raise a mistake of the user as `LanetwinError`."""
    found = Diagnostic(code=code, severity="error", message=message, help=remedy, file=file)
    raise LanetwinError("", [found])
