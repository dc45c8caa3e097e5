"""What the pages link to outside of docs/ is in the site, too: under tree/, by its path in the repository."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS, OUTSIDE = "docs/", "tree/"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s#]*)(#[^)\s]*)?\)")
"""A link to a file, or a picture: its words, the file, the place in it."""


def in_repository(page: str) -> str:
    """Return the path in the repository of a page of the site.

    >>> in_repository("sweep.md"), in_repository("tree/CLAIMS.md")
    ('docs/sweep.md', 'CLAIMS.md')
    """
    return page.removeprefix(OUTSIDE) if page.startswith(OUTSIDE) else DOCS + page


def in_site(path: str) -> str | None:
    """Return the page of a path in the repository; of a folder, of what tells of it, if anything does."""
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    if not (ROOT / path).is_file():
        return None
    return path.removeprefix(DOCS) if path.startswith(DOCS) else OUTSIDE + path


def target(page: str, link: str) -> str:
    """Return the path in the repository that a link of a page names."""
    return os.path.normpath(os.path.join(os.path.dirname(in_repository(page)), link))


def outside(page: str) -> Iterator[str]:
    """Yield the pages outside of docs/ that a page links to."""
    for _, link, _ in LINK.findall((ROOT / in_repository(page)).read_text(encoding="utf-8")):
        found = in_site(target(page, link)) if link else None
        if found and found.startswith(OUTSIDE):
            yield found


def on_files(files: Any, config: Any) -> Any:
    """Add what pages link to outside of docs/, and what that links to."""
    known = {file.src_uri for file in files}
    todo = sorted(page for page in known if page.endswith(".md"))
    for page in todo:
        for found in outside(page):
            if found not in known:
                known.add(found)
                files.append(File.generated(config, found, abs_src_path=str(ROOT / in_repository(found))))
                if found.endswith(".md"):
                    todo.append(found)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links lead to where their files are in the site; without a file there, their words stay."""
    own = page.file.src_uri

    def moved(link: re.Match[str]) -> str:
        words, path, place = link.groups()
        found = in_site(target(own, path)) if path else own
        if not found:
            return words
        return f"[{words}]({os.path.relpath(found, os.path.dirname(own) or '.')}{place or ''})"

    return LINK.sub(moved, markdown)
