"""The folder of a run: written completely or not at all."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import lanetwin
from lanetwin import yaml_out
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.formats import ALWAYS, FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lanetwin.results import Results

LONGEST_NAME = 80
"""Longest part of a folder's name that comes from the user [characters]."""

RESULTS = "results.json"
"""The file that makes a folder that of a run."""

GENERATOR = 'name="generator" content="lanetwin'
"""The mark in the head of a page of lanetwin."""
_ATTACHMENT = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*/){0,8}[A-Za-z0-9][A-Za-z0-9._-]*")


NOT_OURS = "name another place with --out: --force replaces what lanetwin has written, and empty folders"
"""Remedy for a folder that is not a run's."""


def folder_name(results: Results) -> str:
    """Return the folder's name: the run's name, its digest, and a mark if the result is partial.

    A run's name may contain any characters; a folder's name only letters, digits and ``._-``.
    """
    name = slug(results["name"])
    partial = "" if results["complete"] else "-partial"
    if results["digest"] is None:
        return f"{results['kind']}-{name}{partial}"
    return f"{name}-{results['digest']}{partial}"


def slug(name: str) -> str:
    """Return the part of a folder's name that comes from the user.

    >>> slug("my slot (2)")
    'my-slot-2'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:LONGEST_NAME] or "run"


def digest_of(document: object) -> str:
    """Return the digest of a document: 16 hexadecimal digits."""
    text = json.dumps(document, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def files(results: Results, formats: Iterable[str] = ()) -> dict[str, str | bytes]:
    """Return the contents of the folder, by file name; `formats` names forms of the rows beside CSV.

    A document may come from anywhere: attachments whose names are not plain paths inside the folder, or are
    those of lanetwin's own files, are left out.
    """
    attached = {file["name"]: file["text"] for file in results.get("attachments", [])}
    kept: dict[str, str | bytes] = {
        name: text for name, text in attached.items() if _ATTACHMENT.fullmatch(name)
    }
    written = [FORMATS[name] for name in dict.fromkeys([ALWAYS, *formats])]
    return (
        kept
        | {form.file: form.write(results) for form in written}
        | {
            RESULTS: json.dumps(results, ensure_ascii=False, indent=1) + "\n",
            "plan.yaml": yaml_out.dump(results["plan"]),
            "report.html": lanetwin.report.render(results),
        }
    )


def refuse_to_overwrite(path: Path, *, force: bool, mark: str | None = None) -> None:
    """Refuse a folder that could not be written in the end: before anything is computed for it.

    Contents are not overwritten without the user's agreement, and with it only those of a folder that has the
    file `mark`, if one is named; an empty folder may be replaced. Raises `LanetwinError` with its code.
    """
    is_nothing = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    if not (force or is_nothing):
        raise taken(path)
    if mark is not None and path.exists() and not _may_replace(path, mark):
        raise taken(path, "there is something already that is not the folder of a run", NOT_OURS)
    require_place(path)


def next_free(path: Path) -> Path:
    """Return this folder or the first of path-2, path-3 … that is not there: nothing measured is replaced."""
    others = (path.with_name(f"{path.name}-{number}") for number in itertools.count(2))
    return next(folder for folder in itertools.chain([path], others) if not folder.exists())


def claim_file(path: Path, *, force: bool, option: str = "--out") -> None:
    """Refuse a file that could not be written in the end, or must not be: before anything is computed for it.

    Only files are replaced, never folders and devices, and only with the user's agreement. Raises
    `LanetwinError` with its code.
    """
    if path.exists() and not path.is_file():
        what = "it is a folder" if path.is_dir() else "it is a device, not a file"
        raise taken(path, what, f"name another file with {option}")
    if path.exists() and not force:
        raise taken(path, remedy=f"name another place with {option}, or overwrite it with --force")
    require_place(path, f"name another file with {option}")


def claim_page(path: Path, option: str = "--report") -> None:
    """Refuse a page that could not be written in the end; only a page of lanetwin is overwritten."""
    if path.is_file() and not _is_page(path):
        what = "there is a file already that is not a page of lanetwin, and is not overwritten"
        raise taken(path, what, f"name another file with {option}")
    claim_file(path, force=True, option=option)


def _is_page(path: Path) -> bool:
    return GENERATOR in path.read_text("utf-8", "replace")[:4096]


def require_place(path: Path, remedy: str = "name another folder with --out") -> None:
    """Raise `LanetwinError` if nothing can be written to this place; its folders need not exist yet."""
    above = path.absolute().parent
    while not above.exists() and above != above.parent:
        above = above.parent
    try:
        if not above.is_dir():
            raise FileExistsError(above)
        with tempfile.TemporaryFile(dir=above):  # permissions alone do not tell, above all to root
            pass
    except OSError as error:
        raise unwritable(path, error, remedy) from error


def taken(
    path: Path,
    what: str = "there is something already, which is not overwritten",
    remedy: str = "name another place with --out, or overwrite it with --force",
) -> LanetwinError:
    """Return the error of an existing place."""
    found = Diagnostic(code="RS006", severity="error", message=what, help=remedy, file=str(path))
    return LanetwinError("", [found])


def unwritable(path: Path, error: OSError, remedy: str = "name another folder with --out") -> LanetwinError:
    """Return the error of an unwritable place, with the message of the system."""
    is_file = isinstance(error, FileExistsError)
    why = "a file is where a folder would be" if is_file else error.strerror or str(error)
    said = f"cannot write there: {why}"
    found = Diagnostic(code="RS018", severity="error", message=said, help=remedy, file=str(path))
    return LanetwinError("", [found])


def render_beside(results: Results, stored: Path, *, force: bool = False) -> Path | None:
    """Write the report of stored results again beside them, and return the folder.

    For a document outside the folder of a run nothing is written, and None is returned.

    Raises `LanetwinError` if there is a `report.html` that is not from lanetwin, or it cannot be written.
    """
    folder = stored if stored.is_dir() else stored.parent
    if not stored.is_dir() and stored.name != RESULTS:
        return None
    page = folder / "report.html"
    try:
        if page.exists() and not force and not _is_page(page):
            raise taken(page)
        fresh = folder / f".{page.name}-{os.getpid()}"
        fresh.write_text(lanetwin.report.render(results), encoding="utf-8", newline="")
        fresh.replace(page)
    except OSError as error:
        raise unwritable(page, error) from error
    return folder


def save(results: Results, folder: Path, formats: Iterable[str] = ()) -> Path:
    """Write the folder, with the rows in these `formats` beside CSV, and return its path.

    A reader sees the old folder or the new one, never half of one: the files are written beside it and the
    folder renamed. A folder that is not a run's is never replaced.

    Raises `LanetwinError` if it cannot be written.
    """
    return write_folder(folder, files(results, formats), RESULTS)


def write_folder(folder: Path, contents: Mapping[str, str | bytes], mark: str) -> Path:
    """Write a folder of these files and return its path; a folder without the file `mark` is not replaced.

    Raises `LanetwinError` if it cannot be written.
    """

    def write(fresh: Path) -> None:
        for name, content in contents.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return replace(folder, write, mark)


def replace(folder: Path, write: Callable[[Path], object], mark: str) -> Path:
    """Replace `folder` by a new one filled by `write`, and return its path.

    An existing folder is replaced only if it is empty or has the file `mark`.

    Raises `LanetwinError` if it cannot be written.
    """
    if folder.exists() and not _may_replace(folder, mark):
        raise taken(folder, "there is something already that is not the folder of a run", NOT_OURS)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            write(fresh)
            fresh.chmod(0o777 & ~_umask())
            _swap(fresh, folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def write_file(file: Path, text: str | bytes, remedy: str = "name another file with --out") -> None:
    """Write a file whole or not at all, with its folder. Raises `LanetwinError` if it cannot be written."""
    fresh = file.parent / f".{file.name}-{os.getpid()}"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(text if isinstance(text, bytes) else text.encode())
            fresh.replace(file)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritable(file, error, remedy) from error


def _may_replace(folder: Path, mark: str) -> bool:
    return folder.is_dir() and ((folder / mark).is_file() or not any(folder.iterdir()))


def _umask() -> int:
    """Return the process's file mode mask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _swap(fresh: Path, folder: Path) -> None:
    """Rename `fresh` to `folder`, which is moved aside first if it exists."""
    if not folder.exists():
        fresh.rename(folder)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    folder.rename(aside / "old")
    try:
        fresh.rename(folder)
    except OSError:
        (aside / "old").rename(folder)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
