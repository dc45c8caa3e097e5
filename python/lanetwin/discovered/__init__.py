"""The PCIe functions of a machine, as found by the engine, as pictures and as a scenario."""

from lanetwin.discovered.cost import costs
from lanetwin.discovered.drawing import html, svg
from lanetwin.discovered.names import described
from lanetwin.discovered.parts import recognised
from lanetwin.discovered.pictures import dot, mermaid, tree
from lanetwin.discovered.scenario import scenario

__all__ = ["costs", "described", "dot", "html", "mermaid", "recognised", "scenario", "svg", "tree"]
