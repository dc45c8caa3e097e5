"""Runs every scenario of scenarios/ once: what a build that counts its branches learns from.

`benches/trained package` builds the package so that it counts, calls this, and builds it again.
"""

import sys
from pathlib import Path

import lanetwin

SCENARIOS = Path(__file__).parent.parent / "scenarios"

for scenario in sorted(SCENARIOS.glob("*.yaml")):
    sys.stderr.write(f"train: {scenario.name}\n")
    lanetwin.run(str(scenario), threads=1)
