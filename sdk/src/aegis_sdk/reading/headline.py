"""An advice in one sentence: how much of what the table tells the best configuration keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegis_sdk.printable import shown
from aegis_sdk.reading.certainty import reference_known
from aegis_sdk.reading.configurations import measured_of
from aegis_sdk.reading.numbers import Share
from aegis_sdk.wire import Advice, CoarseAdvice

_NEARLY = 0.005
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Kept:
    """What a configuration keeps.

    Attributes:
        share: The share of the whole, from 0 to 1.
        of_all: Whether the whole is all that the table tells. Otherwise it is what is known to be there.
        is_coarse: Whether the share is rounded, so that it does not reveal counts.
    """

    share: float
    of_all: bool
    is_coarse: bool = False

    @property
    def is_all(self) -> bool:
        """Whether nothing of the whole is lost."""
        return not self.is_coarse and self.share >= 1 - _ROUNDING

    def in_words(self) -> str:
        """The share in percent; `all` and `nothing` only if they are exact."""
        if self.is_coarse:
            return f"about {Share(self.share)}"
        if self.is_all:
            return "all"
        if self.share <= _ROUNDING:
            return "nothing"
        if self.share < _NEARLY:
            return "less than 1 %"
        return "more than 99 %" if self.share > 1 - _NEARLY else Share(self.share).whole


def headline(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> str:
    """Say in one sentence which configuration is the best, and how much it keeps. `schema`: the entry's."""
    label, kept = shown(schema["label"]["name"]), kept_by_best(advice)
    if kept is None:
        return f"{advice.configuration} is the best of {advice.considered}: none keeps more about {label}"
    tells = "tells" if kept.of_all else "is known to tell"
    measured = _measured(schema, advice.configuration)
    return f"{advice.configuration} keeps {kept.in_words()} of what the table {tells} about {label}{measured}"


def _measured(schema: Mapping[str, Any], configuration: str | None) -> str:
    """What a trained model did on the configuration, in brackets, if its provider published that."""
    known = [] if configuration is None else measured_of(schema, [configuration])
    return f" ({known[0]}, measured by its provider)" if known and known[0] else ""


def kept_by_best(advice: Advice | CoarseAdvice) -> Kept | None:
    """What the best configuration keeps.

    None if deviations are not from a common whole (the reference `own`), if less utility is better, if the table tells
    nothing, and if the answer does not say.
    """
    if isinstance(advice, CoarseAdvice):
        rows = (row for row in advice.ranking or [] if row.configuration == advice.configuration)
        share = next((row.utility_share for row in rows), None)
        return None if share is None else Kept(share, of_all=False, is_coarse=True)
    whole = whole_of(advice)
    return None if whole is None or advice.deviation is None else whole.kept(advice.deviation)


@dataclass(frozen=True)
class Whole:
    """The utility that deviations are measured from, and whether it is that of the unmasked table."""

    utility: float
    of_all: bool

    def kept(self, deviation: float) -> Kept:
        """What is left of it."""
        return Kept(min(max(1 - deviation / self.utility, 0.0), 1.0), self.of_all)


def whole_of(advice: Advice) -> Whole | None:
    """The whole that shares are of; None as in `kept_by_best`."""
    if advice.request.get("reference") == "own" or advice.better == "lower":
        return None
    utility, of_all = _whole(advice)
    return Whole(utility, of_all) if utility > 0 else None


def _whole(advice: Advice) -> tuple[float, bool]:
    """The utility that deviations are measured from, and whether it is that of the unmasked table."""
    if advice.joint is not None:
        return advice.joint.reference_utility, advice.joint.reference_source == "published"
    if advice.transfer is not None:
        return advice.transfer.reference_utility, False
    weights = advice.request.get("weights") or {}
    weighted = [(weights.get(each.name, 1.0), each) for each in advice.attributes or []]
    total = sum(weight for weight, _ in weighted)
    whole = sum(weight * each.reference_utility for weight, each in weighted)
    known = all(reference_known(each) for weight, each in weighted if weight)
    return (whole / total if total else 0.0), known
