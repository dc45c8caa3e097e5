"""The supported formats, in the order of recognition: one file and one entry each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanetwin.measured import (
    fio_hist,
    fio_json,
    fio_log,
    fio_terse,
    iometer_csv,
    memtier,
    mlc,
    redis_benchmark,
    smart,
    sysbench,
    ycsb,
)

if TYPE_CHECKING:
    from lanetwin.measured.values import Format, Source

READERS = (
    fio_hist,
    fio_log,
    fio_json,
    fio_terse,
    iometer_csv,
    sysbench,
    ycsb,
    memtier,
    mlc,
    redis_benchmark,
    smart,
)
FORMATS: tuple[Format, ...] = tuple(reader.FORMAT for reader in READERS)


def format_of(text: str, source: Source) -> Format | None:
    """Return the format of a text, or None if it is not known."""
    return next((one for one in FORMATS if one.recognises(text, source)), None)


def named(name: str) -> Format | None:
    """Return a format by its name."""
    return next((one for one in FORMATS if one.name == name), None)
