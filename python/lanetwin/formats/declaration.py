"""What a format of results is, as it is declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lanetwin.results import Results


@dataclass(frozen=True, slots=True)
class Format:
    """A form in which a run writes its rows, beside the document itself."""

    name: str
    """What ``--format`` calls it."""
    file: str
    """The file that it writes into the folder of a run."""
    write: Callable[[Results], str | bytes]
    """The contents of the file; raises what `require` does."""
    require: Callable[[], object] = bool
    """Raises `LanetwinError` if it cannot be written here; asked before anything is run."""
