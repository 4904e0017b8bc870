"""Reading a rendered chart back: every tag parsed as XML, with the places of its marks."""

import re
from xml.etree import ElementTree as ET

from app.pages.charts import rendered

SVG = "{http://www.w3.org/2000/svg}"


def parsed(chart):
    """The figure as an XML element, which fails unless all texts are escaped and all tags closed."""
    return ET.fromstring(str(rendered(chart)).replace("<figure", '<figure xmlns:x="x"', 1))


def texts_of(element):
    return [" ".join("".join(each.itertext()).split()) for each in element.iter(f"{SVG}text")]


def drawing_of(chart):
    """The drawing itself, without the legend and the line that is stretched within it."""
    return next(each for each in parsed(chart).iter(f"{SVG}svg") if each.get("role"))


def number_of(text):
    return float(re.sub(r"[%,]", "", text))


def marks_of(chart):
    """The kind and the place of each mark: the share of the width, and pixels from the top."""
    return [
        (each.get("class").removeprefix("chart-"), number_of(each.get("x")) / 100, float(each.get("y")))
        for each in drawing_of(chart).iter(f"{SVG}use")
    ]


def names_within(element):
    """Titles and texts that people can read, in order."""
    return [each.text for each in element.iter() if each.tag.endswith("title") and each.text]
