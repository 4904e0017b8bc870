"""By what a configuration is the best, and how certain that is, in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from aegis_sdk.printable import shown
from aegis_sdk.reading.configurations import suppressed_cells_of
from aegis_sdk.reading.headline import kept_by_best
from aegis_sdk.wire import Advice, CoarseAdvice


def outcome(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """The sentences that say by what the configuration is the best, and how certain that is. `schema`: the entry's."""
    better = f" ({advice.better} utility is better)" if advice.better else ""
    by = f"by {advice.request.get('measure')}{_unit(advice, schema)}{better}"
    yield f"it is the best of {advice.considered} {by}"
    if advice.stale:
        yield f"stale: this is about version {advice.entry.version}, and the entry has a newer one; ask again"
    kept = kept_by_best(advice)
    if kept is not None and not (kept.of_all or kept.is_coarse or advice.transfer is not None):
        # By a joint measure, the best configuration may be all that is known of the whole.
        itself = f", which is what {advice.configuration} itself keeps" if kept.is_all and _is_joint(advice) else ""
        yield f"the share is of what is known to be there{itself}: the table may tell more"
    yield f"the ranking is {advice.ranking_basis}"
    if advice.policy:
        wanted = ", ".join(f"{name}={limit:g}" for name, limit in advice.policy.items())
        yield f"a policy requires of every configuration: {wanted}"
    if weights := advice.request.get("weights"):
        named = ", ".join(f"{shown(name)} {weight:g}" for name, weight in sorted(weights.items()))
        yield f"weights: {named} (1 unless named)"
    if cells := suppressed_cells_of(schema, advice.configuration):
        told = f"{cells:,} single cells (they become *), which its utility does not count"
        yield f"{advice.configuration} suppresses {told}"
    if len(advice.tied or []) > 1:
        yield f"tied with it: {', '.join((advice.tied or [])[1:])}"
    if advice.indistinguishable_count is not None:
        others = advice.indistinguishable_count - 1
        yield f"indistinguishable from the best, by the sample (95 %): {others or 'no'} other{'s' * (others != 1)}"


def _is_joint(advice: Advice | CoarseAdvice) -> bool:
    """Whether the answer is by a measure that takes the attributes together, and says so."""
    return isinstance(advice, Advice) and advice.joint is not None


def _unit(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> str:
    """What utilities and deviations are measured in."""
    if advice.transfer is not None and advice.request.get("measure") == "chi_square":
        return ", over the number of records"
    if _is_joint(advice):
        return f", in squared correlations with the label, at most {len(schema['label']['domain']) - 1} in all"
    words = {"bit": "in bits", "fraction": "as a fraction from 0 to 1"}
    return f", {words.get(advice.unit, f'in {advice.unit}')}" if advice.unit else ""
