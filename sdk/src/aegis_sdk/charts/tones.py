"""Colours of series, which also differ by the shapes of marks, dashes of lines and hatches of bars."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from aegis_sdk.charts.markup import Markup, joined, tag

Colour = Literal["blue", "red", "sky", "grey", "green", "pink"]


@dataclass(frozen=True)
class Tone:
    """A colour of the style sheet and its opacity, from 0 to 1."""

    colour: Colour
    strength: float = 1.0


BAD: Final = Tone("red")
GOOD: Final = Tone("blue")
OTHER: Final = Tone("sky")
NEUTRAL: Final = Tone("grey")
TONES: Final = (GOOD, BAD, OTHER, Tone("green"), Tone("pink"), NEUTRAL)
"""The colours of similar series."""

DASHES: Final = (None, "7 3", "2 3", "9 3 2 3", "4 2", "1 4")
_SHAPES: Final = (
    ("circle", MappingProxyType({"r": "5"})),
    ("path", MappingProxyType({"d": "M-4.5-4.5H4.5V4.5H-4.5Z"})),
    ("path", MappingProxyType({"d": "M0-6.5 6.5 0 0 6.5-6.5 0Z"})),
    ("path", MappingProxyType({"d": "M0-6 5.5 4.5H-5.5Z"})),
    ("path", MappingProxyType({"d": "M0 6-5.5-4.5H5.5Z"})),
    ("path", MappingProxyType({"d": "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z"})),
)
_HATCHES: Final = ("rotate(45)", "rotate(-45)", "rotate(0)", "rotate(90)", "rotate(20)")


def marks(id: str) -> Markup:  # noqa: A002 - the name that HTML has for it
    """The shapes of marks, for `mark`."""
    return joined(*(tag(name, id=f"{id}-mark-{place}", **shape) for place, (name, shape) in enumerate(_SHAPES)))


def mark(id: str, place: int, tone: Tone, x: str | float, y: str | float) -> Markup:  # noqa: A002 - as above
    """A mark of the series with this index."""
    href = f"#{id}-mark-{place % len(_SHAPES)}"
    return tag("use", href=href, class_=f"chart-mark chart-fill-{tone.colour}", x=x, y=y)


def hatches(id: str, tones: tuple[Tone, ...]) -> Markup:  # noqa: A002 - as above
    """The hatches of all series but the first, which is plain."""
    return joined(
        *(
            tag(
                "pattern",
                tag("rect", width=6, height=6, class_="chart-paper"),
                tag("rect", width=4, height=6, class_=f"chart-fill-{tone.colour}", fill_opacity=_opacity(tone)),
                id=f"{id}-hatch-{place}",
                width=6,
                height=6,
                patternUnits="userSpaceOnUse",
                patternTransform=_HATCHES[place % len(_HATCHES)],
            )
            for place, tone in enumerate(tones[1:])
        )
    )


def bar(id: str, place: int, tone: Tone, **places: str | float) -> Markup:  # noqa: A002 - as above
    """A bar of the series with this index."""
    if place == 0:
        return tag("rect", class_=f"chart-fill-{tone.colour} chart-outline", fill_opacity=_opacity(tone), **places)
    return tag("rect", fill=f"url(#{id}-hatch-{place - 1})", class_="chart-outline", **places)


def _opacity(tone: Tone) -> float | None:
    return None if tone.strength == 1 else tone.strength
