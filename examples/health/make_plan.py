"""Writes the configurations of `plan.yaml`, each with its k, below the line of dashes.

Run it as `python -m examples.health.make_plan`. k is the number of records in the smallest group that agrees on all
seven masked attributes (k-anonymity, Sweeney 2002); no record is left out, and every attribute is masked. Candidates
are drawn with a fixed seed, from finely masked to nearly nothing left, and of every band of k those are kept that
differ most.
"""

import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from aegis_provider import Configuration, Plan, load_plan
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import DROP, IDENTITY
from aegis_provider.table import open_table

HERE = Path(__file__).parent
PLAN = HERE / "plan.yaml"
TABLE = HERE / "health.csv"

SEED = 2026
CANDIDATES = 1_500
KEPT_PER_BAND = 14
BANDS = (1, 2, 5, 10, 25, 10**9)


def main() -> None:
    """Draws, measures, keeps, writes."""
    above, line, _ = PLAN.read_text(encoding="utf-8").partition("# ---")
    head = above + line + "-" * (108 - len(line)) + "\n"
    _write(head, {"c00": {}}, {})
    attributes = load_plan(PLAN).attributes
    choices = {each.name: [masking.id for masking in each.maskings] for each in attributes}
    _write(head, dict(_candidates(choices)), {})
    kept = _spread(_smallest_groups(load_plan(PLAN)))
    named = {f"c{place:02}": each for place, each in enumerate(kept, start=1)}
    ks = {name: k for name, (_, k) in named.items()}
    _write(head, {name: each.maskings for name, (each, _) in named.items()}, ks)


def _candidates(choices: dict[str, list[str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Distinct random configurations, from finely masked to hardly anything left."""
    draw = random.Random(SEED)  # noqa: S311 - a reproducible plan, no secret
    seen = set()
    for number in range(CANDIDATES):
        coarse = draw.random()
        chosen = {name: _choice(draw, ids, coarse) for name, ids in choices.items()}
        if tuple(chosen.values()) not in seen:
            seen.add(tuple(chosen.values()))
            yield f"x{number}", chosen


def _choice(draw: random.Random, ids: list[str], coarse: float) -> str:
    """One of the maskings, which the plan lists from fine to coarse, near the coarseness asked for."""
    ordered = [*ids, DROP]
    place = round(draw.gauss(coarse, 0.2) * (len(ordered) - 1))
    return ordered[min(max(place, 0), len(ordered) - 1)]


def _smallest_groups(plan: Plan) -> list[tuple[Configuration, int]]:
    """Every configuration with its k."""
    columns = _masked_columns(plan)
    return [(each, _smallest_group(each, columns)) for each in plan.configurations]


def _masked_columns(plan: Plan) -> dict[tuple[str, str], list[str]]:
    """The masked text of every record, by attribute and masking."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    columns = {}
    with open_table(TABLE) as table:
        counted = CountedTable.of(table, plan)
        for each in counted.attributes:
            name = each.attribute.name
            columns[name, IDENTITY] = [record[name] for record in records]
            for masking in each.attribute.maskings:
                masked = counted.masked(each, masking)
                columns[name, masking.id] = [masked[each.domain.places[record[name]]] for record in records]
    return columns


def _smallest_group(configuration: Configuration, columns: dict[tuple[str, str], list[str]]) -> int:
    shared = [columns[choice] for choice in configuration.maskings.items() if choice[1] != DROP]
    records = len(next(iter(columns.values())))
    return min(Counter(zip(*shared, strict=True)).values()) if shared else records


def _spread(measured: list[tuple[Configuration, int]]) -> list[tuple[Configuration, int]]:
    """From every band of k those that use what is used least so far, by rising k."""
    kept: list[tuple[Configuration, int]] = []
    used: Counter[tuple[str, str]] = Counter()
    for lowest, above in pairwise(BANDS):
        band = [each for each in measured if lowest <= each[1] < above]
        for _ in range(min(KEPT_PER_BAND, len(band))):
            freshest = max(band, key=lambda each: sum(1 / (1 + used[item]) for item in each[0].maskings.items()))
            band.remove(freshest)
            used.update(freshest[0].maskings.items())
            kept.append(freshest)
    return sorted(kept, key=lambda each: each[1])


def _write(head: str, configurations: dict[str, Mapping[str, str]], ks: dict[str, int]) -> None:
    lines = [head + "configurations:"]
    for name, maskings in configurations.items():
        chosen = ", ".join(f"{name}: {choice}" for name, choice in maskings.items() if choice != IDENTITY)
        lines.append(f"  {name}: {{{chosen}}}")
    lines += ["privacy:", *(f"  {name}: {{k: {k}}}" for name, k in ks.items())] if ks else []
    PLAN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
