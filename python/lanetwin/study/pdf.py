"""A study as PDF: the page printed by a browser without access to a network or other files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from lanetwin.errors import Diagnostic, LanetwinError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Browsers for printing; the first one found is used."""
LONGEST = 120
"""Timeout of the browser [s]."""


def browser() -> str:
    """Return the browser's path.

    Raises `LanetwinError` if there is none.
    """
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        message = "no browser prints the study: there is no chromium and no Chrome"
        remedy = "install chromium, or leave --pdf out and print study.html"
        raise LanetwinError("", [Diagnostic("ST006", "error", message, remedy)])
    return found


def lacks_signs(language: str) -> bool:
    """Whether this machine is known to lack a font for a language: the PDF would show boxes."""
    lister = shutil.which("fc-list")
    if language == "en" or lister is None:
        return False
    try:
        # fontconfig's list for a language of the catalogue
        asked = [lister, f":lang={language}", "file"]
        done = subprocess.run(asked, capture_output=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and not done.stdout.strip()


def printed(page: str) -> bytes:
    """Return a page as PDF.

    The page loads nothing and its policy forbids it; the browser has no network either.

    Raises `LanetwinError` if it cannot be printed.
    """
    program = browser()
    with tempfile.TemporaryDirectory(prefix="lanetwin-print-") as name:
        folder = Path(name)
        source, target = folder / "study.html", folder / "study.pdf"
        source.write_text(page, encoding="utf-8")
        options = [
            "--headless",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--proxy-server=127.0.0.1:9",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={target}",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # as root the browser refuses to run in its sandbox
        try:
            done = subprocess.run(  # noqa: S603 - our arguments
                [program, *options, source.as_uri()], capture_output=True, timeout=LONGEST, check=False
            )
            if done.returncode == 0 and target.is_file():
                return target.read_bytes()
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = said[-1] if said else f"status {done.returncode}"
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
    message = f"{program} did not print the study: {why}"
    remedy = "leave --pdf out and print study.html from a browser"
    raise LanetwinError("", [Diagnostic("ST007", "error", message, remedy)])
