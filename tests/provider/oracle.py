"""Masking functions and counts, done again row by row and with fractions: slow, but independent of the tested code."""

import csv
from collections import Counter
from fractions import Fraction
from math import floor


def records_of(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def plain(number, places=0):
    """Return a fraction as decimal text with that many places."""
    scaled = number * 10**places
    assert scaled.denominator == 1
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    whole = digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{whole}" if scaled < 0 else whole


def equal_bucket(text, width, origin="0"):
    """Return the bounds of the half-open interval that contains the number."""
    step = floor((Fraction(text) - Fraction(origin)) / Fraction(width))
    lower = Fraction(origin) + step * Fraction(width)
    return lower, lower + Fraction(width)


def integer_bucket(text, width):
    if text == "":
        return ""
    lower, upper = equal_bucket(text, width)
    return plain(lower) if upper - lower == 1 else f"{plain(lower)}-{plain(upper - 1)}"


def decimal_bucket(text, width, places):
    if text == "":
        return ""
    lower, upper = equal_bucket(text, width)
    return f"[{plain(lower, places)},{plain(upper, places)})"


def edge_bucket(text, edges):
    """Name integers by position: the last edge at or below an integer decides."""
    if text == "" or int(text) < edges[0]:
        return ""
    place = max(place for place, edge in enumerate(edges) if edge <= int(text))
    if place + 1 == len(edges):
        return f"{edges[place]}+"
    last = edges[place + 1] - 1
    return str(last) if last == edges[place] else f"{edges[place]}-{last}"


def blurred(text, keep):
    return "".join(character if place < keep else "*" for place, character in enumerate(text))


def rounded(text, to):
    if text == "":
        return ""
    number = Fraction(text)
    multiple = floor(abs(number) / Fraction(to) + Fraction(1, 2)) * Fraction(to)
    return plain(-multiple if number < 0 else multiple)


def joint_counts(masked, labels):
    """Count how often each masked value occurs with each label."""
    return Counter(zip(masked, labels, strict=True))
