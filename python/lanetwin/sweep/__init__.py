"""Sweeps: many points of one scenario, run, kept and analysed."""

from lanetwin.sweep.design import Design, design
from lanetwin.sweep.running import Asked, Swept, sweep

__all__ = ["Asked", "Design", "Swept", "design", "sweep"]
