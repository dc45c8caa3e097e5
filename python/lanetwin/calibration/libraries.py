"""The numerical libraries, which are not installed with lanetwin."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lanetwin.calibration.problem import refuse


def libraries() -> tuple[Any, Any, Any]:
    """Return numpy, scipy's optimisers and its designs. Raises `LanetwinError` (CA001) without them."""
    try:
        return import_module("numpy"), import_module("scipy.optimize"), import_module("scipy.stats.qmc")
    except ImportError:
        refuse(
            "CA001", "parts cannot be calibrated: scipy is not installed", "pip install 'lanetwin[calibrate]'"
        )
