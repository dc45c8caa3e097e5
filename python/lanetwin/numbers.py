"""Numbers for people: digits, intervals, changes and sizes, the same in tables, plots and prose."""

from __future__ import annotations

import math
import re

NARROW_SPACE = "\u202f"
"""The non-breaking space between thousands, and between a number and its unit."""
MINUS = "\u2212"
DIGITS = 4
"""Significant digits of a value with unknown or no spread."""
MAX_DIGITS = 4
"""Maximum significant digits of a value with a spread."""
_MICROSECONDS = re.compile(r"(?<=\d)([ \u202f\u00a0])us\b|(?<=\[)us(?=\])")
"""Spellings of YAML and the engine; without a space it is a value to be typed, and is kept."""


def spelt(text: str) -> str:
    """Spell the unit of values and headings as in the rest of a page: µs.

    >>> spelt("a wait of 1.879 us, 1 us or more"), spelt("time [us]"), spelt("latency=1us for us")
    ('a wait of 1.879 µs, 1 µs or more', 'time [µs]', 'latency=1us for us')
    """
    return _MICROSECONDS.sub(lambda found: f"{found[1] or ''}µs", text) if "us" in text else text


def fixed(value: float, decimals: int) -> str:
    """Write `value` with this many decimals, grouped by thousands, with a true minus sign.

    >>> fixed(-14108.26, 1)
    '−14\u202f108.3'
    """
    text = f"{abs(value):,.{max(decimals, 0)}f}".replace(",", NARROW_SPACE)
    is_zero = not any(digit in text for digit in "123456789")
    return text if value >= 0 or is_zero else MINUS + text


def capital(words: str) -> str:
    """Begin words with a capital, and leave the rest as it is.

    >>> capital("read latency"), capital("IOPS")
    ('Read latency', 'IOPS')
    """
    return words[:1].upper() + words[1:]


def decimals_for(value: float, digits: int = DIGITS) -> int:
    """Return the number of decimals for this many significant digits of `value`."""
    if value == 0 or not math.isfinite(value):
        return 0
    rounded = float(
        f"{abs(value):.{digits - 1}e}"
    )  # 9.9996 with four digits is 10.00, which needs two decimals
    return max(0, digits - 1 - math.floor(math.log10(rounded)))


def significant(value: float, digits: int = DIGITS) -> str:
    """Write `value` with this many significant digits; infinity as ∞, not-a-number as –.

    >>> significant(53.7249), significant(546), significant(0.0123456), significant(2500000)
    ('53.72', '546.0', '0.01235', '2\u202f500\u202f000')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    return fixed(value, decimals_for(value, digits))


def compact(value: float, digits: int = DIGITS) -> str:
    """Write `value` without trailing zeros, for labels of axes and cases.

    >>> compact(64.0), compact(0.5), compact(1500)
    ('64', '0.5', '1\u202f500')
    """
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimals_of_spread(value: float, half_width: float) -> int:
    """Show one digit of a spread, two if it begins with 1, and three or four digits of the value."""
    mantissa = float(f"{half_width:e}".split("e")[0])
    wanted = decimals_for(half_width, 2 if mantissa < 2 else 1)
    return min(max(wanted, decimals_for(value, 3)), decimals_for(value, MAX_DIGITS))


def measured(value: float, low: float, high: float) -> str:
    """Write a value with its interval: ``53.7 ± 0.2``, or ``53.7 (53.1 – 54.9)`` if it lies off the middle.

    An interval without width means that nothing varied; then only the value is written.

    >>> measured(53.7, 53.5, 53.9), measured(53.7, 53.1, 54.9), measured(546, 546, 546)
    ('53.7 ± 0.2', '53.7 (53.1 – 54.9)', '546.0')
    """
    half_width = (high - low) / 2
    if not (math.isfinite(half_width) and half_width > 0) or half_width < abs(value) * 1e-6:
        return significant(value)
    decimals = _decimals_of_spread(value, half_width)
    off_centre = abs((low + high) / 2 - value)
    if off_centre > half_width / 4:
        return f"{fixed(value, decimals)} ({fixed(low, decimals)} – {fixed(high, decimals)})"
    shown = fixed(half_width, decimals)
    if not any(digit in shown for digit in "123456789"):
        return f"{fixed(value, decimals)} ± < {fixed(10.0**-decimals, decimals)}"
    return f"{fixed(value, decimals)} ± {shown}"


def by_powers(value: float) -> str:
    """Write a small number with two digits and its power of ten.

    >>> by_powers(0.0058), by_powers(3e-10)
    ('5.8\u202f×\u202f10⁻³', '3.0\u202f×\u202f10⁻¹⁰')
    """
    digits, power = f"{value:.1e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits}{NARROW_SPACE}×{NARROW_SPACE}10{raised}"


def headed(name: str, unit: str) -> str:
    """Write the heading of a column of numbers.

    >>> headed("throughput", "Gb/s"), headed("fairness", "")
    ('throughput [Gb/s]', 'fairness')
    """
    return f"{name} [{unit}]" if unit else name


def percentile_name(percent: float) -> str:
    """Name a percentile; the hundredth is the maximum.

    >>> percentile_name(99.9), percentile_name(100.0)
    ('p99.9', 'max')
    """
    return "max" if percent >= 100 else f"p{percent:g}"


def signed(value: float, decimals: int) -> str:
    """Write a number with its sign, zero without one."""
    text = fixed(value, decimals)
    is_zero = not any(digit in text for digit in "123456789")
    return text if is_zero or text.startswith(MINUS) else f"+{text}"


def _percent_decimals(fraction: float) -> int:
    magnitude = abs(fraction) * 100
    return 0 if magnitude >= 999.5 else 1 if magnitude >= 0.995 else 2


def change(fraction: float) -> str:
    """Write a relative change in per cent.

    >>> change(0.0213), change(-0.4), change(0.0004), change(11.97)
    ('+2.1\u202f%', '−40.0\u202f%', '+0.04\u202f%', '+1\u202f197\u202f%')
    """
    return f"{signed(fraction * 100, _percent_decimals(fraction))}{NARROW_SPACE}%"


_NO_SPREAD = 1e-6
"""Relative difference of repeats below which there is no spread."""


NO_SPREAD = "no spread"
"""Text in place of such an interval."""


def change_interval(low: float, high: float) -> str:
    """Write the interval of a relative change, both ends alike, or that there is no spread.

    >>> change_interval(0.019, 0.023), change_interval(0.02, 0.02)
    ('+1.9 … +2.3\u202f%', 'no spread')
    """
    if abs(high - low) < _NO_SPREAD:
        return NO_SPREAD
    decimals = _percent_decimals(max(abs(low), abs(high)))
    return f"{signed(low * 100, decimals)} … {signed(high * 100, decimals)}{NARROW_SPACE}%"


def share(fraction: float) -> str:
    """Write a fraction of a whole in per cent, small ones with a decimal more.

    >>> share(0.91), share(0.003), share(0.0)
    ('91.0\u202f%', '0.30\u202f%', '0\u202f%')
    """
    if fraction == 0:
        return f"0{NARROW_SPACE}%"
    return f"{fixed(fraction * 100, 2 if abs(fraction) < 0.00995 else 1)}{NARROW_SPACE}%"


def with_unit(text: str, unit: str) -> str:
    """Join a number and its unit by a space that does not break.

    >>> with_unit('53.7', 'Gb/s')
    '53.7\u202fGb/s'
    """
    return f"{text}{NARROW_SPACE}{unit}" if unit else text


def quantity(value: float, unit: str) -> str:
    """Write a value of an axis with its unit; whole sizes in bytes by binary multiples.

    >>> quantity(64, 'B'), quantity(4096, 'B'), quantity(8, 'requests'), quantity(4097, 'B')
    ('64\u202fB', '4\u202fKiB', '8\u202frequests', '4\u202f097\u202fB')
    """
    if unit == "B" and value >= 1024:
        for step, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if value % step == 0:
                return with_unit(compact(value / step), name)
    return with_unit(compact(value), unit)
