"""An advice in sentences: how much its best configuration keeps, the basis of the ranking, and how certain that is."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aegis_sdk.printable import Share, number, shown
from aegis_sdk.reading.configurations import measured_of, suppressed_cells_of
from aegis_sdk.reading.labels import label_of, masking_of_label, most_joint, task_in_words
from aegis_sdk.wire import IDENTITY, Advice, AttributeAdvice, CoarseAdvice, Expected, MaskingScore, Worth

_FAR_APART = 2
_ROUNDING = 1e-9
_CERTAIN_SOURCES = ("counts", "definition")


@dataclass(frozen=True)
class Bounds:
    """Bounds on a true number; `least` or `most` is infinite without a bound on that side."""

    least: float
    most: float

    @property
    def far_apart(self) -> bool:
        """Whether both bounds are known and the upper one is more than twice the lower one."""
        known = math.isfinite(self.least) and math.isfinite(self.most)
        return known and self.most > _FAR_APART * self.least + _ROUNDING

    def __str__(self) -> str:
        return f"{number(self.least, 2)} to {number(self.most, 2)}"


def reference_known(attribute: AttributeAdvice) -> bool:
    """Whether the reference utility is exactly that of the unmasked attribute."""
    return attribute.bound == "exact"


def utility_bounds(attribute: AttributeAdvice) -> Bounds:
    """Bounds on the true utility of the unmasked attribute."""
    least, most = attribute.lower_bound, attribute.upper_bound
    return Bounds(-math.inf if least is None else least, math.inf if most is None else most)


def deviation_bounds(attribute: AttributeAdvice, score: MaskingScore) -> Bounds:
    """Bounds on the distance between the utility of a masking and the true utility of its attribute.

    There is no upper bound if the utility of the masking is itself fitted or computed from the reference.
    """
    if score.source not in _CERTAIN_SOURCES:
        return Bounds(0, math.inf)
    whole = utility_bounds(attribute)
    below, above = whole.least - score.utility, whole.most - score.utility
    return Bounds(max(below, -above, 0.0), max(abs(below), abs(above)))


def stated_deviation(attribute: AttributeAdvice, masking: str) -> str:
    """The deviation of a masking as text, with its uncertainty.

    `0.125` if the reference is known, `0.16 (0.002 to 0.84)` if the bounds are far apart, otherwise `at least 0.16` or
    `about 0.16`.
    """
    score = attribute.maskings[masking]
    stated = number(score.deviation)
    # An unmasked attribute loses nothing, however little is known of it.
    if reference_known(attribute) or masking == IDENTITY:
        return stated
    bounds = deviation_bounds(attribute, score)
    if bounds.far_apart:
        return f"{stated} ({bounds})"
    no_less = score.source in _CERTAIN_SOURCES and bounds.least >= score.deviation * (1 - _ROUNDING)
    return f"{'at least' if no_less else 'about'} {stated}"


_NEARLY = 0.005


@dataclass(frozen=True)
class Kept:
    """The share of the whole that a configuration keeps, from 0 to 1; if coarse, rounded so that it reveals no counts.

    The whole is the utility of the table (`of_all`), or else the known part of that.
    """

    share: float
    of_all: bool
    is_coarse: bool = False

    @property
    def is_all(self) -> bool:
        """Whether nothing is lost."""
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
    """Say in one sentence which configuration is the best, and how much it keeps."""
    name, kept = label_of(advice.request, schema), kept_by_best(advice)
    label = shown(name)
    if kept is None:
        return f"{advice.configuration} is the best of {advice.considered}: none keeps more about {label}"
    tells = "tells" if kept.of_all else "is known to tell"
    [auc] = measured_of(schema, [advice.configuration or ""], name)
    measured = f" ({auc}, measured by its provider)" if auc else ""
    return f"{advice.configuration} keeps {kept.in_words()} of what the table {tells} about {label}{measured}"


def expectation(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> str | None:
    """Say how well a model should do on the best table, and on the table as it is; None if the answer does not."""
    rows = (row for row in advice.ranking or [] if row.configuration == advice.configuration)
    expected = next((row.expected for row in rows), None)
    if expected is None:
        return None
    whole = advice.expected if isinstance(advice, Advice) else None
    label, masking = advice.request.get("label"), masking_of_label(advice, schema)
    if masking is None:  # of the default label as it is, what follows says the name
        return f"{advice.configuration}: {should_reach(expected, whole, label)}"
    return f"{advice.configuration}: {should_reach(expected, whole, label_of(advice.request, schema), masking)}"


def should_reach(
    expected: Expected, whole: Expected | None, label: str | None = None, masking: str | None = None, digits: int = 3
) -> str:
    """Say what a model should reach: `a model of smoker should reach AUC 0.70 (0.69 to 0.71); on the table ... 0.745`.

    Args:
        whole: What it should reach on the table as it is, to these digits; None if not known.
        label: What it predicts, if that needs to be said.
        masking: The masking that shows the label; None for the label as it is.
    """
    as_it_is = "" if whole is None else f"; on the table as it is {score_of(whole)[1]:.{digits}f}"
    model = "a model" if label is None else f"a model of {shown(label)}"
    model += "" if masking is None else f" as {shown(masking)} shows it"
    return f"{model} should reach {expected_words(expected)}{as_it_is}"


def worth_in_words(worth: Worth) -> str:
    """Say what a model should reach on the best table with a k: `c17 (k of at least 10): a model of ... should ...`."""
    if worth.expected is None or worth.configuration is None:
        why = {"pending": "not computed yet", "failed": "not known: its computation failed"}
        return f"what a model of {shown(worth.label)} should reach is {why.get(worth.state, 'not known')}"
    reached = should_reach(worth.expected, None, worth.label, worth.masking)
    return f"{shown(worth.configuration)} (k of at least {worth.k:g}): {reached}"


def expected_words(expected: Expected) -> str:
    """What a model should reach, with its interval: `AUC 0.70 (0.69 to 0.71)`, or of a number `R2 ..., RMSE 670`."""
    name, reached = score_of(expected)
    error = "" if expected.rmse is None else f", RMSE {number(expected.rmse, 2)}"
    return f"{name} {reached:.2f} ({expected.low:.2f} to {expected.high:.2f}){error}"


def score_of(expected: Expected) -> tuple[str, float]:
    """The AUC, or the R2 of a number."""
    return ("R2", expected.r2 or 0.0) if expected.auc is None else ("AUC", expected.auc)


def kept_by_best(advice: Advice | CoarseAdvice) -> Kept | None:
    """How much the best configuration keeps.

    None if deviations have no common whole (the reference `own`), if less utility is better, if the table's utility is
    0, or if the answer does not have it.
    """
    if isinstance(advice, CoarseAdvice):
        rows = (row for row in advice.ranking or [] if row.configuration == advice.configuration)
        share = next((row.utility_share for row in rows), None)
        return None if share is None else Kept(share, of_all=False, is_coarse=True)
    whole = whole_of(advice)
    return None if whole is None or advice.deviation is None else whole.kept(advice.deviation)


@dataclass(frozen=True)
class Whole:
    """The utility that deviations are measured from; `of_all`: whether it is that of the unmasked table."""

    utility: float
    of_all: bool

    def kept(self, deviation: float) -> Kept:
        """The part of it that is left."""
        return Kept(min(max(1 - deviation / self.utility, 0.0), 1.0), self.of_all)


def whole_of(advice: Advice) -> Whole | None:
    """The whole that shares are of; None as in `kept_by_best`."""
    if advice.request.get("reference") == "own" or advice.better == "lower":
        return None
    if advice.joint is not None:
        whole = Whole(advice.joint.reference_utility, advice.joint.reference_source == "published")
    elif advice.transfer is not None:
        whole = Whole(advice.transfer.reference_utility, of_all=False)
    else:
        weights = advice.request.get("weights") or {}
        weighted = [(weights.get(attribute.name, 1.0), attribute) for attribute in advice.attributes or []]
        total = sum(weight for weight, _ in weighted)
        utility = sum(weight * attribute.reference_utility for weight, attribute in weighted)
        known = all(reference_known(attribute) for weight, attribute in weighted if weight)
        whole = Whole(utility / total if total else 0.0, known)
    return whole if whole.utility > 0 else None


def outcome(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """The sentences about the basis of the ranking and its certainty."""
    better = f" ({advice.better} utility is better)" if advice.better else ""
    by = f"by {advice.request.get('measure')}{_unit(advice, schema)}{better}"
    yield f"it is the best of {advice.considered} {by}"
    yield from task_in_words(advice, schema)
    if advice.stale:
        yield f"stale: this is about version {advice.entry.version}, but the entry has a newer one; ask again"
    kept = kept_by_best(advice)
    if kept is not None and not (kept.of_all or kept.is_coarse or advice.transfer is not None):
        # With a joint measure, the best configuration may be the only source for the whole.
        is_joint = isinstance(advice, Advice) and advice.joint is not None
        itself = f", which is what {advice.configuration} itself keeps" if kept.is_all and is_joint else ""
        yield f"the share is of the known utility{itself}: that of the table may be higher"
    yield f"the ranking is {advice.ranking_basis}"
    if advice.policy:
        of_people = "" if advice.policy_unit is None else " of people"
        wanted = ", ".join(f"{name}={limit:g}{of_people}" for name, limit in advice.policy.items())
        yield f"a policy requires of every configuration: {wanted}"
    if weights := advice.request.get("weights"):
        named = ", ".join(f"{shown(name)} {weight:g}" for name, weight in sorted(weights.items()))
        yield f"weights: {named} (1 unless named)"
    if cells := suppressed_cells_of(schema, advice.configuration):
        suppressed = f"{cells:,} single cells (they become *), which its utility does not count"
        yield f"{advice.configuration} suppresses {suppressed}"
    if len(advice.tied or []) > 1:
        yield f"tied with it: {', '.join((advice.tied or [])[1:])}"
    if advice.indistinguishable_count is not None:
        others = advice.indistinguishable_count - 1
        yield f"indistinguishable from the best, by the sample (95 %): {others or 'no'} other{'s' * (others != 1)}"


def _unit(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> str:
    """The unit of utilities and deviations."""
    if advice.transfer is not None and advice.request.get("measure") == "chi_square":
        return ", over the number of records"
    if isinstance(advice, Advice) and advice.joint is not None:
        return f", in squared correlations with the label, at most {most_joint(advice, schema)} in all"
    words = {"bit": "in bits", "fraction": "as a fraction from 0 to 1"}
    return f", {words.get(advice.unit, f'in {advice.unit}')}" if advice.unit else ""
