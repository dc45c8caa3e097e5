"""Measuring a scenario's jobs of fio on a file or a block device that exists, without writing to it."""

from lanetwin.measure.jobs import Left, Test, read_tests
from lanetwin.measure.runner import Asked, measure
from lanetwin.measure.target import Target, opened

__all__ = ["Asked", "Left", "Target", "Test", "measure", "opened", "read_tests"]
