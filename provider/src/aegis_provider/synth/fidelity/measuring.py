"""All measures of a release beside the table that it was made of."""

from typing import Final

import numpy as np

from aegis_provider.errors import TableError, shortened
from aegis_provider.extras import refuse_without
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress
from aegis_provider.synth.fidelity.comparison import Comparison
from aegis_provider.synth.fidelity.models import Trials
from aegis_provider.synth.fidelity.parts import Parts, parts_of
from aegis_provider.synth.fidelity.result import Fidelity
from aegis_provider.synth.released import Opened, open_release
from aegis_provider.table import Source, table_name

_FOR_TRAINING, _FOR_COMPARING, _FOR_CHANCE = 2, 3, 4
_STEPS: Final = 5
"""Three trainings, the comparison, and the embedding."""


def fidelity(
    release: Source,
    table: Source,
    *,
    plan: Plan | None = None,
    configuration: str | None = None,
    label: str | None = None,
    holdout: float | None = None,
    embed: bool = False,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    seed: int = 0,
    progress: Progress = lambda _done, _total: None,
) -> Fidelity:
    """Measure what a release is worth to someone who trains models on it, and how faithful it is to the table.

    Models are tested on real records that were held out. If none were, as of masked tables, a fifth of the real records
    is drawn for that, and their rows are taken out of the release if each row of it masks a record. Models take masked
    values for values of their own. For all else, each value that a masked one stands for is drawn equally often, and
    the release is compared with half of the real records that it was made of. Equal arguments give equal results.

    Source: docs/fidelity.md lists the source of each measure.

    Args:
        release: The release: anything that `open_table` accepts.
        table: The table that it was made of.
        plan: The plan that it was made by.
        configuration: The configuration of the plan that masked it.
        label: The label, without a plan.
        holdout: The share of the records that the release never saw; see `open_release`.
        embed: Whether to return points in two dimensions, too; takes some seconds.
        delimiter: The delimiter of CSV files; by default, each one's own is found in its header.
        memory_limit: The memory limit of DuckDB.
        seed: The seed of all random choices.
        progress: Called with the number of steps that are done, and of all.

    Raises:
        AegisError: scikit-learn is not installed.
        PlanError: The plan has no such configuration.
        TableError: A table cannot be read or is too small, they have no column in common with the label, or the label
            cannot be predicted.
    """
    refuse_without("check")
    if plan is None and label is None:
        raise TableError("no label is named; name the label that models should predict")
    opened = open_release(
        release,
        table,
        plan=plan,
        configuration=configuration,
        label=label,
        holdout=holdout,
        delimiter=delimiter,
        memory_limit=memory_limit,
        seed=seed,
    )
    _refuse_unlike(opened, table_name(release), table_name(table))
    return _measured(opened, parts_of(opened, table_name(release), seed), seed, progress, embed=embed)


def _measured(opened: Opened, parts: Parts, seed: int, progress: Progress, *, embed: bool) -> Fidelity:
    trials = Trials.of(parts, opened.label, np.random.default_rng([seed, _FOR_TRAINING]))
    models = tuple(trials.values(lambda done, _: progress(done, _STEPS)))
    compared = Comparison.of(parts, np.random.default_rng([seed, _FOR_COMPARING]))
    clusters, agreement = compared.agreement()
    progress(_STEPS - 1, _STEPS)
    embedding = compared.embedding() if embed else None
    progress(_STEPS, _STEPS)
    return Fidelity(
        label=opened.label,
        models=models,
        guessed=trials.real.guessed,
        tested=len(parts.tested),
        tested_on=parts.tested_on,
        found=parts.shown_in(parts.released),
        found_by_chance=parts.shown_in(parts.released.shuffled(np.random.default_rng([seed, _FOR_CHANCE]))),
        trained=trials.released.trained,
        trained_on_real=trials.real.trained,
        compared=len(compared.real),
        clusters=clusters,
        agreement=agreement,
        associations=compared.associations(),
        mean_difference=compared.differences(np.mean),
        largest_difference=compared.differences(np.max),
        pair_total_variation=compared.pair_total_variation(),
        frechet_distance=compared.frechet_distance(),
        embedding=embedding,
        released=opened.size,
        of_records=opened.of_records,
        drawn=len(opened.records),
        lacking=opened.lacking,
        not_understood=opened.released.not_understood,
        is_masked=opened.released.is_masked,
    )


def _refuse_unlike(opened: Opened, release: str, table: str) -> None:
    """Refuse a release without the label, or without anything else."""
    names = opened.released.names
    if opened.label not in names:
        raise TableError(
            f"{release}: no column {shortened(opened.label)}, which is the label; without it no model can be trained"
        )
    if len(names) == 1:
        raise TableError(f"{release}: no column of {table} but the label is in it; give a release with attributes")
