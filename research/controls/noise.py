"""How the ranking degrades if published counts are inexact: noise, rounding, records left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation, evidence_of
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from app.entries.api.uploads import read_publication
from app.entries.model.configurations import ConfigurationTable, unpack_configurations
from app.entries.model.documents import Document, entry_in
from research.report import table
from tests import example, made_up_entries

MEASURE = "mutual_information"
REPETITIONS = 3
SCALES = (0, 1, 2, 5, 10, 20, 50, 100)
BASES = (0, 5, 10, 20, 50, 100, 200)
SHARES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.3)
MADE_UP = made_up_entries.Shape(attributes=6, values=60, labels=4, groups=(4, 6, 9, 13, 20), records=20_000)

Publish = Callable[[np.random.Generator, IntArray], tuple[IntArray, Perturbation]]


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry's evidence, its configurations, and their utilities (configurations,)."""

    evidence: Sequence[AttributeEvidence]
    configurations: ConfigurationTable
    utilities: FloatArray


def main() -> None:
    entries = {
        "the example": read(example.entry("health")),
        "a made-up entry": read(made_up_entries.entry(MADE_UP, "made-up")),
    }
    threadpool_limits(1)  # as workers do
    for name, entry in entries.items():
        print(f"\nRanking {entry.utilities.size} configurations of {name} by {MEASURE} from inexact counts")
        print(f"Spearman's correlation with the true order, mean of {REPETITIONS} (smallest): for the fitted tables,")
        print("and for the published counts taken for exact, negative ones set to 0. Last, the misfit of the views.")
        series(entry, "noise of scale", {f"{scale}": noise(scale) for scale in SCALES})
        series(entry, "rounded to", {f"{base}": rounding(base) for base in BASES})
        series(entry, "records left out", {f"{share:.1%}": leaving_out(share) for share in SHARES})


def read(document: Document) -> Entry:
    """Read an entry with exact counts, as its provider knows it."""
    content = read_publication(orjson.dumps(document)).content
    evidence = evidence_of(entry_in(document))
    configurations = unpack_configurations(content.configuration_table, content.outline)
    return Entry(evidence, configurations, utilities(evidence, configurations)[0])


def series(entry: Entry, name: str, ways: Mapping[str, Publish]) -> None:
    """Print a row for each way of publishing."""
    rows = [[value, *figures(entry, publish)] for value, publish in ways.items()]
    print("", table([name, "fitted", "taken for exact", "misfit"], rows), sep="\n", flush=True)


def figures(entry: Entry, publish: Publish) -> list[str]:
    """Return correlations of fitted and naive utilities with the true ones, and the mean standardised misfit."""
    fitted, naive, misfits = [], [], []
    for seed in range(REPETITIONS):
        rng = np.random.default_rng(seed)
        published = [inexact(rng, attribute, publish) for attribute in entry.evidence]
        values, misfit = utilities(published, entry.configurations)
        fitted.append(float(spearmanr(entry.utilities, values).statistic))
        naive.append(float(spearmanr(entry.utilities, taken_for_exact(published, entry.configurations)).statistic))
        misfits.append(misfit)
    shown = [f"{np.mean(values):.3f} ({min(values):.3f})" for values in (fitted, naive)]
    return [*shown, "exact" if misfits[0] is None else f"{np.mean(np.array(misfits, dtype=float)):.2f}"]


def utilities(
    evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable
) -> tuple[FloatArray, float | None]:
    """Return the utilities (configurations,) that advice reports, and the mean standardised misfit."""
    names = tuple(attribute.name for attribute in evidence)
    question = Question(MEASURE, names, np.full(len(names), 1 / len(names)))
    references = [reconstruct(attribute) for attribute in evidence]
    ranking = recommend(evidence, references, configurations.codes, configurations.options, question).ranking
    by_place = np.empty(len(ranking))
    by_place[ranking.index] = ranking.utility
    all_misfits = [misfit.standardised for one in references for misfit in one.certificate.misfits.values()]
    known = [misfit for misfit in all_misfits if misfit is not None]
    return by_place, float(np.mean(known)) if known else None


def taken_for_exact(evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable) -> FloatArray:
    """Return the mean utility (configurations,) of the published counts, clipped at 0. No masking is `identity`."""
    total = np.zeros(len(configurations.ids))
    for attribute, options, codes in zip(evidence, configurations.options, configurations.codes.T, strict=True):
        tables = {masking.id: masking.joint for masking in attribute.maskings}
        clipped = (np.maximum(np.asarray(tables.get(option, 0)), 0) for option in options)
        total += np.array([MEASURES[MEASURE](np.atleast_2d(one).astype(float)) for one in clipped])[codes]
    return total / len(evidence)


def inexact(rng: np.random.Generator, attribute: AttributeEvidence, publish: Publish) -> AttributeEvidence:
    """Return the evidence on an attribute whose masked counts are all published in that way."""
    maskings = tuple(_inexact(rng, masking, publish) for masking in attribute.maskings)
    return replace(attribute, maskings=maskings)


def _inexact(rng: np.random.Generator, masking: Masking, publish: Publish) -> Masking:
    if masking.joint is None:
        return masking
    joint, declared = publish(rng, masking.joint)
    return replace(masking, joint=joint, perturbation=declared)


def noise(scale: float) -> Publish:
    """Add discrete Laplace noise to each count."""

    def publish(rng: np.random.Generator, joint: IntArray) -> tuple[IntArray, Perturbation]:
        if not scale:
            return joint, Perturbation()
        chance = -np.expm1(-1 / scale)
        drawn: Any = rng.geometric(chance, joint.shape) - rng.geometric(chance, joint.shape)
        return joint + drawn, Perturbation(noise_scale=scale)

    return publish


def rounding(base: int) -> Publish:
    """Round each count to the nearest multiple."""

    def publish(_: np.random.Generator, joint: IntArray) -> tuple[IntArray, Perturbation]:
        if not base:
            return joint, Perturbation()
        return (joint + base // 2) // base * base, Perturbation(rounded_to=base)

    return publish


def leaving_out(share: float) -> Publish:
    """Leave out that share of the records of each table, at random."""

    def publish(rng: np.random.Generator, joint: IntArray) -> tuple[IntArray, Perturbation]:
        if not share:
            return joint, Perturbation()
        kept = round(int(joint.sum()) * (1 - share))
        drawn = rng.multivariate_hypergeometric(joint.ravel(), kept).reshape(joint.shape)
        return drawn, Perturbation(records=kept)

    return publish


if __name__ == "__main__":
    main()
