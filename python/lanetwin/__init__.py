"""A digital twin for PCIe, NVMe and CXL-memory systems.

One description of a machine; lanetwin predicts what it does, and says how sure it is::

    import lanetwin as lt

    slot = lt.Scenario("slot.yaml")
    wide, narrow = slot.run(), slot.set("links.slot.width", "x4").run()
    points = slot.sweep({"links.slot.width": ["x1", "x2", "x4", "x8"]})
    points.to_pandas()

Python is the face, Rust is the engine: nothing is simulated and no interval is computed here.
"""

from lanetwin import report
from lanetwin.emulation import Device, DeviceError, device
from lanetwin.engine import check, compare, run, validate, version
from lanetwin.errors import Diagnostic, EngineBug, LanetwinError
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
