"""A digital twin for PCIe, NVMe and CXL-memory systems.

One description of a machine; lanetwin predicts what it does, and says how sure it is::

    import lanetwin

    results = lanetwin.run("slot.yaml", seed=1)
    html = lanetwin.report.render(results)

Python is the face, Rust is the engine: nothing is simulated and no interval is computed here.
"""

from lanetwin import report
from lanetwin.engine import check, compare, run, validate, version
from lanetwin.errors import Diagnostic, EngineBug, LanetwinError
from lanetwin.results import Results

__version__ = version()

__all__ = [
    "Diagnostic",
    "EngineBug",
    "LanetwinError",
    "Results",
    "__version__",
    "check",
    "compare",
    "report",
    "run",
    "validate",
]
