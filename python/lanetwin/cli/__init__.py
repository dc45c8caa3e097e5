"""The ``lanetwin`` command: standard output is the result, standard error the progress and the mistakes."""

from lanetwin.cli.app import app, main

__all__ = ["app", "main"]
