"""The report of a run: one self-contained HTML file, for a screen, a phone or paper."""

from lanetwin.report.page import render

__all__ = ["render"]
