"""Channels as networks of scikit-rf, which has to be installed: ``pip install lanetwin[si]``.

lanetwin reads Touchstone files that other readers refuse (option lines in any order, wrapped rows). This
module passes them on.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from lanetwin import engine
from lanetwin.errors import LanetwinError

__all__ = ["network"]


def network(path: str | Path) -> Any:
    """Return a Touchstone file as a ``skrf.Network``, read by lanetwin.

    Raises `LanetwinError` if scikit-rf is not installed, or the file cannot be read.
    """
    try:
        import skrf
    except ImportError as error:
        raise LanetwinError("scikit-rf is not installed; `pip install lanetwin[si]`") from error
    text = engine.link_rewritten(str(path))
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / Path(path).name
        clean.write_text(text, encoding="utf-8")
        return skrf.Network(str(clean))
