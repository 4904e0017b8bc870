"""The colours of charts, read from the style sheet: marks and texts stand out in light and dark."""

import re

import pytest

from aegis_sdk.charts import style

CHARTS = style()
TEXTS = ("ink", "soft", "red-text")
MARKS = ("blue", "red", "grey", "sky", "green", "pink", "rule", "focus")


def _colours(block):
    return dict(re.findall(r"--chart-([a-z-]+): (#[0-9a-f]{6})", block))


LIGHT = _colours(CHARTS[: CHARTS.index("@media")])
DARK = _colours(CHARTS[CHARTS.index("prefers-color-scheme: dark") : CHARTS.index("forced-colors")])


def _luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_and_texts_stand_out(colours):
    surface = colours["surface"]
    assert {
        name: round(_contrast(colours[name], surface), 1) for name in TEXTS if _contrast(colours[name], surface) < 4.5
    } == {}
    assert {
        name: round(_contrast(colours[name], surface), 1) for name in MARKS if _contrast(colours[name], surface) < 3
    } == {}


def test_no_text_of_a_chart_is_smaller_than_eleven_pixels():
    sizes = [float(size) * 16 for size in re.findall(r"font-size: ([0-9.]+)rem", CHARTS)]
    assert sizes
    assert min(sizes) >= 11


def test_print_is_black():
    printed = CHARTS[CHARTS.index("@media print") :]
    assert re.findall(r"--chart-(?:ink|soft|blue|red|red-text|grey|rule): (\S+);", printed) == ["#000"] * 7
