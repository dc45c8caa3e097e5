"""The declaration of a format of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lanetwin.results import Results


@dataclass(frozen=True, slots=True)
class Format:
    """A format in which a run writes its rows, beside the document itself."""

    name: str
    """Its name for ``--format``."""
    file: str
    """The name of its file in the folder of a run."""
    write: Callable[[Results], str | bytes]
    """The contents of the file; raises what `require` does."""
    require: Callable[[], object] = bool
    """Raises `LanetwinError` if it cannot be written here; called before a run."""
