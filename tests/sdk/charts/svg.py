"""Reading a rendered chart back: every tag parsed as XML, with the places of its marks."""

import re
from xml.etree import ElementTree as ET

from aegis_sdk.charts import rendered

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


#: About how wide a character is, as a share of the size of its text: less than any common font has on average.
CHARACTER = 0.5


def boxes(svg):
    """Each text of an SVG file with its rectangle in pixels, by an estimate of its width."""
    root = ET.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    return (width, height), list(_boxes(root, 0.0, 0.0, width, height))


def _boxes(element, left, top, width, height):
    for child in element:
        if child.tag == f"{SVG}svg":
            x, y = _length(child.get("x"), width), _length(child.get("y"), height)
            yield from _boxes(
                child, left + x, top + y, _length(child.get("width"), width), _length(child.get("height"), height)
            )
        elif child.tag == f"{SVG}text":
            yield _box(child, left, top, width, height)
        else:
            yield from _boxes(child, left, top, width, height)


def _box(text, left, top, width, height):
    said = "".join(text.itertext())
    names = text.get("class", "")
    size = 17.0 if "title" in names else 13.0 if re.search("axis|notes|legend|heading", names) else 12.0
    x = left + _length(text.get("x"), width) + float(text.get("dx") or 0)
    y = top + _length(text.get("y"), height) + float(text.get("dy") or 0)
    long = CHARACTER * size * sum(2 if ord(each) > 0x2E80 else 1 for each in said)
    start = x - {"middle": long / 2, "end": long}.get(text.get("text-anchor"), 0.0)
    return said, (start, y - 0.7 * size, start + long, y)


def _length(text, whole):
    if text is None:
        return 0.0
    return whole * float(text[:-1]) / 100 if text.endswith("%") else float(text)


def overlapping(svg):
    """The pairs of texts that lie over each other."""
    _, texts = boxes(svg)
    pairs = ((one, other) for place, one in enumerate(texts) for other in texts[:place])
    return [(one[0], other[0]) for one, other in pairs if _touch(one[1], other[1])]


def _touch(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def outside(svg):
    """The texts that the edge of the picture cuts off."""
    (width, height), texts = boxes(svg)
    return [said for said, (left, top, right, low) in texts if left < 0 or top < 0 or right > width or low > height]
