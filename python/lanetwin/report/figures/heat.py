"""How does a metric change along two axes of a sweep at once? A field for each pair of values."""

from __future__ import annotations

from dataclasses import dataclass

from lanetwin.report.svg import SMALL, Drawing, shortened, text_width

STEPS = 8
"""Number of colours."""


@dataclass(frozen=True, slots=True)
class Field:
    """One pair of values."""

    text: str
    """The value of the metric."""
    share: float | None
    """Its quality, 0 to 1, where 1 is the best in the figure; None if unknown."""
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Heat:
    """A metric over two axes."""

    workload: str
    title: str
    across_name: str
    across: list[str]
    down_name: str
    rows: list[tuple[str, list[Field]]]

    @property
    def description(self) -> str:
        """The figure in words, row by row."""
        rows = [f"{name}: {', '.join(field.text for field in fields)}" for name, fields in self.rows]
        return f"{self.across_name} {', '.join(self.across)}. " + "; ".join(rows) + "."


def draw(data: Heat, key: str, width: float) -> str:
    """Draw it."""
    left = min(max(text_width(name, SMALL) for name, _ in data.rows) + 12, width * 0.3)
    each = (width - left) / len(data.across)
    tall = max(20.0, min(34.0, each * 0.6))
    top = 34.0
    height = top + tall * len(data.rows) + 34
    drawing = Drawing(width, height, key=key, title=data.title, description=data.description)
    drawing.text(0, 12, data.down_name, "axis")
    for n, (name, fields) in enumerate(data.rows):
        y = top + n * tall
        drawing.text(left - 8, y + tall / 2 + 4, shortened(name, left - 8, SMALL), "tick", "end", name)
        for m, field in enumerate(fields):
            warmth = "" if field.share is None else f" warm{warmth_of(field.share)}"
            css = f"field{warmth}{' answer' if field.is_answer else ''}"
            hint = f"{data.down_name} {name}, {data.across_name} {data.across[m]}: {field.text}"
            drawing.box(left + m * each + 1, y + 1, each - 2, tall - 2, css, hint, 2)
            if text_width(field.text, SMALL) <= each - 6:
                middle = left + (m + 0.5) * each
                drawing.text(middle, y + tall / 2 + 4, field.text, f"in-field{warmth}", "middle")
    for m, name in enumerate(data.across):
        middle = left + (m + 0.5) * each
        if m % _every(data.across, each) == 0:
            drawing.text(middle, top + tall * len(data.rows) + 14, name, "tick", "middle")
    drawing.text(width, height - 3, data.across_name, "axis", "end")
    return str(drawing)


def _every(names: list[str], each: float) -> int:
    """Return the interval of names that fit: 1 is every, 2 every second."""
    widest = max(text_width(name, SMALL) for name in names) + 8
    return max(1, int(-(-widest // each)))


def warmth_of(share: float) -> int:
    """Return the colour of a share, from 0.

    >>> warmth_of(1.0), warmth_of(0.5), warmth_of(0.0)
    (7, 4, 0)
    """
    return max(0, min(STEPS - 1, int(share * STEPS)))
