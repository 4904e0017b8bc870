"""The shade of each masking of an attribute: darker the more it loses of what the attribute tells."""

from collections.abc import Mapping

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from aegis_provider.report.plots.style import INK, VERMILION, text_width
from aegis_sdk.reading import reference_known, shown, utility_bounds
from aegis_sdk.wire import DROP, IDENTITY, Advice, AttributeAdvice, MaskingScore

_DARKEST = 0.85
_MUCH_THE_SAME = 0.25
_WHITE_ON = 0.6
_UNKNOWN = "#d6d6d6"
_KEY = (0.0, 0.25, 0.5, 0.75, 1.0)
# Inches.
_SWATCH, _HIGH = 0.5, 0.19
_SPACE = 0.1
_POINTS = 9
_NOT_KNOWN = "not known"
_LONGEST_ID = 24
_SHADES = colormaps["Blues"]


def losses_of(advice: Advice | None, attribute: str) -> Mapping[str, float]:
    """Return for each masking the share that it loses of its attribute's reference utility: 0 is nothing, 1 is all.

    `identity` loses nothing and `drop` loses everything, whether they were asked about or not. A masking is left out if
    it is not known how much the unmasked attribute tells, so that the masking may lose little or much of it. For
    errors, where less is better, the whole that can be lost is not known. Then 1 is the largest loss of any of the
    attribute's maskings.
    """
    scored = next((each for each in (advice.attributes if advice else None) or () if each.name == attribute), None)
    if scored is None or advice is None:
        return {}
    if advice.better == "lower":
        most = max((score.deviation for score in scored.maskings.values()), default=0.0)
        return {IDENTITY: 0.0, **{name: _share(score.deviation, most) for name, score in scored.maskings.items()}}
    known = {
        name: _share(score.deviation, scored.reference_utility)
        for name, score in scored.maskings.items()
        if _is_certain(scored, score)
    }
    return {**known, IDENTITY: 0.0, DROP: float(scored.reference_utility > 0)}


def _share(deviation: float, whole: float) -> float:
    return min(1.0, deviation / whole) if whole > 0 else 0.0


def _is_certain(attribute: AttributeAdvice, score: MaskingScore) -> bool:
    """Return whether the share is nearly the same for every utility that the unmasked attribute may have."""
    if reference_known(attribute):
        return True
    most = utility_bounds(attribute).most
    at_most = 1 - score.utility / most if most > 0 else 0.0
    return at_most - _share(score.deviation, attribute.reference_utility) <= _MUCH_THE_SAME


def fill_of(loss: float | None, *, advised: bool) -> str | tuple[float, float, float, float]:
    """Return the colour of a box: white without an advice, grey if the loss is not known."""
    if loss is None:
        return _UNKNOWN if advised else "white"
    return _SHADES(loss * _DARKEST)


def ink_on(loss: float | None) -> str:
    """Return the colour of text on that fill."""
    return "white" if loss is not None and loss > _WHITE_ON else INK


def key_width(advice: Advice) -> float:
    """Return the width of the key that `draw_key` draws, in inches."""
    unknown = _before_unknown(advice) + _SWATCH + _SPACE + text_width(_NOT_KNOWN, _POINTS)
    return unknown + 2 * _SWATCH + _SPACE + text_width(_chosen(advice), _POINTS)


def draw_key(axes: Axes, left: float, middle: float, advice: Advice) -> None:
    """Draw the shades from no loss to full loss, that of an unknown loss, and the frame; the axes are in inches."""
    for place, loss in enumerate(_KEY):
        _swatch(axes, left + place * _SWATCH, middle, f"{100 * loss:.0f} %", loss)
    _word(axes, left + len(_KEY) * _SWATCH + _SPACE, middle, _whole(advice))
    unknown = left + _before_unknown(advice)
    _swatch(axes, unknown, middle, "", None)
    _word(axes, unknown + _SWATCH + _SPACE, middle, _NOT_KNOWN)
    framed = unknown + 2 * _SWATCH + _SPACE + text_width(_NOT_KNOWN, _POINTS)
    corner = (framed, middle - _HIGH / 2)
    axes.add_patch(Rectangle(corner, _SWATCH, _HIGH, facecolor="none", edgecolor=VERMILION, linewidth=3))
    _word(axes, framed + _SWATCH + _SPACE, middle, _chosen(advice))


def _chosen(advice: Advice) -> str:
    """Return what the frame means."""
    return f"chosen by {shown(advice.configuration or 'the best configuration', _LONGEST_ID)}"


def _whole(advice: Advice) -> str:
    """Say what the shares in the key refer to."""
    return "of the most that a masking loses" if advice.better == "lower" else "of its attribute's utility lost"


def _before_unknown(advice: Advice) -> float:
    """Return the inches from the left of the key to the swatch for "not known"."""
    return len(_KEY) * _SWATCH + _SPACE + text_width(_whole(advice), _POINTS) + _SWATCH


def _word(axes: Axes, left: float, middle: float, text: str) -> None:
    axes.text(left, middle, text, fontsize=_POINTS, color="#555555", va="center")


def _swatch(axes: Axes, left: float, middle: float, text: str, loss: float | None) -> None:
    fill = fill_of(loss, advised=True)
    axes.add_patch(Rectangle((left, middle - _HIGH / 2), _SWATCH, _HIGH, facecolor=fill, edgecolor="#666666"))
    axes.text(left + _SWATCH / 2, middle, text, fontsize=7.5, color=ink_on(loss), ha="center", va="center")
