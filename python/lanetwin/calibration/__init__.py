"""A part from measurements: some rows calibrate its parameters, the others judge the result."""

from lanetwin.calibration.calibrate import Asked, calibrate
from lanetwin.calibration.outcome import Outcome, document
from lanetwin.calibration.part_file import part_text

__all__ = ["Asked", "Outcome", "calibrate", "document", "part_text"]
