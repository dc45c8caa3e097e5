"""The page, containing its scripts and style sheet, which are allowed only by their hashes."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lanetwin import engine
from lanetwin.report.page import style

SCRIPTS = ("dom", "server", "charts", "completion", "edit", "run", "views", "main")
"""The scripts, one subject each, in the order of their dependences."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its content security policy."""

    text: str
    policy: str


@cache
def page() -> Page:
    """Return the page, the same for every user: it contains no text of a user."""
    styles = [str(style()), _file("style.css")]
    scripts = [_file(f"{name}.js") for name in SCRIPTS]
    environment = Environment(
        loader=PackageLoader("lanetwin.ui", "page"), autoescape=True, undefined=StrictUndefined
    )
    text = environment.get_template("index.html.j2").render(
        version=engine.version(),
        styles=[Markup(one) for one in styles],  # noqa: S704 - ours
        scripts=[Markup(one) for one in scripts],  # noqa: S704 - ours
    )
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return Page(text, policy)


def _file(name: str) -> str:
    return files("lanetwin.ui").joinpath(f"page/{name}").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
