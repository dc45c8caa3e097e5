"""Take the picture of the README: the first screen of a report, as a browser shows it.

``python docs/images/shoot.py`` runs the scenario, renders it and writes ``docs/images/report.png`` anew. It
needs chromium, which draws with the fonts that there are: not every machine takes the same picture.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from lanetwin import engine, report

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "oversubscription.yaml"
PICTURE = Path(__file__).with_name("report.png")
SIZE = (1280, 580)
"""Width and height of the picture [px]."""


def shoot() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(report.render(engine.run(str(SCENARIO))), encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-background-networking",
            f"--user-data-dir={folder}/profile",
            f"--window-size={SIZE[0]},{SIZE[1]}",
            f"--screenshot={PICTURE}",
        ]
        subprocess.run(["chromium", *options, page.as_uri()], check=True, capture_output=True)  # noqa: S603, S607


if __name__ == "__main__":
    shoot()
