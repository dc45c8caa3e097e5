"""The ``lanetwin`` command: results on standard output, progress and errors on standard error."""

from lanetwin.cli.app import app, main

__all__ = ["app", "main"]
