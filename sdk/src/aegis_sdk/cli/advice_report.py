"""An advice as text for people: what `aegis advise` prints."""

from collections.abc import Iterator
from typing import Any

from aegis_sdk.cli.saying import aligned
from aegis_sdk.wire import Advice


def report(advice: Advice, schema: dict[str, Any]) -> Iterator[str]:
    """Lines: the ranking, and what the best configuration costs per attribute. `schema`: the entry's."""
    measure = advice.request.get("measure")
    unit = f", in {advice.unit}" if advice.unit else ""
    better = f" ({advice.better} utility is better)" if advice.better else ""
    yield f"{advice.configuration} is the best of {advice.considered} by {measure}{unit}{better}"
    yield f"the ranking is {advice.ranking_basis}"
    if len(advice.tied or []) > 1:
        yield f"tied with it: {', '.join((advice.tied or [])[1:])}"
    if advice.indistinguishable_count is not None:
        others = advice.indistinguishable_count - 1
        yield f"as good, as far as a sample of records can tell (95 %): {others or 'no'} other{'s' * (others != 1)}"
    if advice.joint is not None:
        yield f"all attributes together: {advice.joint.reference_utility:.6f} is there to keep, as far as is known"
    ranking = [(each.configuration, each.deviation, each.utility) for each in advice.ranking or []]
    if ranking:
        yield from ("", *aligned(("configuration", "deviation", "utility"), ranking))
    costs = _costs(advice, _maskings_of(schema, advice.configuration))
    header = ("attribute", "masking", "deviation", "utility", "of", "source")
    alone = "" if advice.joint is None else ", each attribute by itself"
    yield from ("", f"what {advice.configuration} costs{alone}:", *aligned(header, costs))


def _maskings_of(schema: dict[str, Any], configuration: str | None) -> dict[str, str]:
    """The masking of every attribute in a configuration, however the entry lists its configurations."""
    for each in schema.get("configurations") or []:
        if each["id"] == configuration:
            return dict(each["maskings"])
    table = schema.get("configuration_table")
    if table is None or configuration not in table["ids"]:
        return {}
    row = table["ids"].index(configuration)
    return {name: column[row] for name, column in table["maskings"].items()}


def _costs(advice: Advice, maskings: dict[str, str]) -> list[tuple[str | float, ...]]:
    costs: list[tuple[str | float, ...]] = []
    for attribute in advice.attributes or []:
        masking = maskings.get(attribute.name, "")
        if score := attribute.maskings.get(masking):
            whole = attribute.reference_utility
            costs.append((attribute.name, masking, score.deviation, score.utility, whole, score.source))
    return sorted(costs, key=lambda cost: cost[2], reverse=True)
