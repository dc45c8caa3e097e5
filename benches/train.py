"""Runs every scenario of scenarios/ once: what a build that counts its branches learns from.

`make install-trained` has maturin build the package so that it counts, calls this with it, and builds it again by the counts.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for scenario in sorted(SCENARIOS.glob("*.yaml")):
            print(f"train: {scenario.name}", file=sys.stderr)
            command = [sys.executable, "-m", "lanetwin", "run", str(scenario), "--quiet", "--threads", "1"]
            subprocess.run(
                [*command, "--out", f"{folder}/{scenario.stem}"], check=True, stdout=subprocess.DEVNULL
            )


if __name__ == "__main__":
    main()
