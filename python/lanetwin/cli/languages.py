"""The option `--lang`, which sets the language of everything that a command prints and writes."""

from __future__ import annotations

import re
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lanetwin.language import LANGUAGES, written_in

if TYPE_CHECKING:
    from collections.abc import Callable


def _known(name: str) -> str:
    """Return the language for `zh`, `ZH` or `zh_CN.UTF-8`; refuse an unknown one."""
    found = re.split(r"[-_.]", name.lower())[0]
    if found not in LANGUAGES:
        raise typer.BadParameter(f"there is no language {name!r}; the languages are {', '.join(LANGUAGES)}")
    return found


Language = Annotated[
    str,
    typer.Option("--lang", metavar="|".join(LANGUAGES), callback=_known, help="Language of what is said."),
]


def in_languages(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option `--lang`, and let it run in that language."""
    own = signature(command, eval_str=True)
    option = Parameter("language", Parameter.KEYWORD_ONLY, default="en", annotation=Language)

    @wraps(command)
    def spoken(*args: Any, language: str = "en", **options: Any) -> None:
        with written_in(language):
            command(*args, **options)

    parameters = [*own.parameters.values(), option]
    # from which Typer reads a command's options
    spoken.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    spoken.__annotations__ = {one.name: one.annotation for one in parameters}
    return spoken
