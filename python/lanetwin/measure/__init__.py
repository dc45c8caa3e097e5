"""Measuring a scenario's fio jobs on a file or a block device; writing only to targets that are named."""

from lanetwin.measure.burden import Burden, burdens
from lanetwin.measure.jobs import Left, Test, read_tests
from lanetwin.measure.runner import Asked, measure
from lanetwin.measure.target import Target, opened
from lanetwin.measure.writing import Owned, permitted

__all__ = [
    "Asked",
    "Burden",
    "Left",
    "Owned",
    "Target",
    "Test",
    "burdens",
    "measure",
    "opened",
    "permitted",
    "read_tests",
]
