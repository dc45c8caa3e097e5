"""A digital twin for PCIe, NVMe and CXL-memory systems.

One description of a machine; lanetwin predicts its behaviour, with the uncertainty::

    import lanetwin as lt

    slot = lt.Scenario("slot.yaml")
    wide, narrow = slot.run(), slot.set("links.slot.width", "x4").run()
    points = slot.sweep({"links.slot.width": ["x1", "x2", "x4", "x8"]})
    points.to_pandas()

Python is the user interface, Rust is the engine: nothing is simulated and no interval is computed here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanetwin.engine import check, compare, run, validate, version
from lanetwin.errors import Diagnostic, EngineBug, LanetwinError

if TYPE_CHECKING:
    from lanetwin import report
    from lanetwin.emulation import Device, DeviceError, device
    from lanetwin.outcome import Points, Run
    from lanetwin.results import Results
    from lanetwin.scenario import Scenario

__version__ = version()

__all__ = [
    "Device",
    "DeviceError",
    "Diagnostic",
    "EngineBug",
    "LanetwinError",
    "Points",
    "Results",
    "Run",
    "Scenario",
    "__version__",
    "check",
    "compare",
    "device",
    "report",
    "run",
    "validate",
]

_HOMES = {
    "Device": "emulation",
    "DeviceError": "emulation",
    "Points": "outcome",
    "Results": "results",
    "Run": "outcome",
    "Scenario": "scenario",
    "device": "emulation",
}
"""Modules of the other names, imported on first use, since a command that checks a file needs no report."""


def __getattr__(name: str) -> Any:
    if name == "report":
        return import_module("lanetwin.report")
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(f"lanetwin.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
