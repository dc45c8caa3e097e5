"""What is a packet made of? Its fields in a row, each with its size; in a column if there is no room."""

from __future__ import annotations

from dataclasses import dataclass

from lanetwin.report.svg import NORMAL, SMALL, Drawing, shortened, text_width

TALL = 54.0
"""Height of a field in a row [px]."""
LOW = 26.0
"""Height of a field of a column [px]."""
MARGIN = 8.0
"""Margin of a text [px]."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its name and length; data are coloured, overhead is not."""

    name: str
    size: str
    is_data: bool


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one packet, in the order of sending."""

    workload: str
    title: str
    description: str
    fields: tuple[Field, ...]


def draw(figure: Fields, key: str, width: float) -> str:
    """Draw the fields from left to right, or from top to bottom."""
    need = [_need(field) for field in figure.fields]
    is_row = sum(need) <= width
    height = TALL + 2 if is_row else LOW * len(need) + 2
    drawing = Drawing(width, height, key=key, title=figure.title, description=figure.description)
    x, y = 1.0, 1.0
    for field, least in zip(figure.fields, need, strict=True):
        if is_row:
            room = least * (width - 2) / sum(need)
            _one(drawing, field, (x, y, room, TALL))
            drawing.text(x + room / 2, y + 23, field.name, "label", "middle")
            drawing.text(x + room / 2, y + 41, field.size, "small", "middle")
            x += room
        else:
            _one(drawing, field, (x, y, width - 2, LOW))
            beside = text_width(field.size, SMALL) + 3 * MARGIN
            drawing.text(x + MARGIN, y + 17, shortened(field.name, width - beside), "label")
            drawing.text(x + width - 2 - MARGIN, y + 17, field.size, "small", "end")
            y += LOW
    return str(drawing)


def _one(drawing: Drawing, field: Field, place: tuple[float, float, float, float]) -> None:
    css = "node margin" if field.is_data else "node"
    drawing.box(*place, css, f"{field.name}: {field.size}")


def _need(field: Field) -> float:
    return max(text_width(field.name, NORMAL), text_width(field.size, SMALL)) + 2 * MARGIN
