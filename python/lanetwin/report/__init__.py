"""The report of a run: one HTML file that needs nothing else, for a screen, a phone or a sheet of paper."""

from lanetwin.report.page import render

__all__ = ["render"]
