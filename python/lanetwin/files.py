"""Reading a file that the user named: only plain files of limited size."""

from __future__ import annotations

import codecs
import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST = 512 << 20
"""Size above which files are refused [bytes]; the engine's own limit for results, logs and S-parameters."""


def read_text(path: Path) -> str:
    """Read a plain file whole, as UTF-8, or as UTF-16 if it begins with a mark of its byte order.

    Shells of Windows write output in that form. The mark is not part of the text. A device may have no end,
    and a pipe no writer, so neither is opened.

    Raises `OSError` if it is not a plain file, too large or unreadable, `UnicodeDecodeError` if it is not
    text.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is a folder, a device or a pipe, not a file")
    with path.open("rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise OSError(errno.EFBIG, f"it is larger than {MOST >> 20} MiB, the most that such a file may have")
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_wide else "utf-8-sig")
