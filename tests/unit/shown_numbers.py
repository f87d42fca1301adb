"""The numbers that a widget shows, read as a reader reads them."""

import re

UNITS = {"바이트": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


def parse(text):
    """"4.00 GiB", "12.5 %" or "1,024바이트" as the digits, the number, and the unit."""
    digits, unit = re.fullmatch(r"([\d,]+(?:\.\d+)?) ?(\D*)", text).groups()
    return digits, float(digits.replace(",", "")), unit


def is_rounded(text, exact):
    """Whether this is the exact number to its printed digits."""
    digits, number, unit = parse(text)
    decimals = len(digits.partition(".")[2])
    return abs(number - exact / UNITS.get(unit, 1)) <= 0.5 * 10**-decimals + 1e-9


def is_size(text, exact):
    """Whether this is the number of bytes, in the unit that leaves 1 to 1023, with at least three digits."""
    digits, number, unit = parse(text)
    enough = unit == "바이트" or sum(map(str.isdigit, digits)) >= 3
    return is_rounded(text, exact) and enough and 1 <= number < 1024
