"""Measurements of other programs as results: one file for each format, and one word in `formats.READERS`."""

from lanetwin.measured.document import imported, is_measurement, is_no_document

__all__ = ["imported", "is_measurement", "is_no_document"]
