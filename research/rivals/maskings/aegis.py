"""The product's own maskings: of its draft, and of given hierarchies, both searched on the training records alone."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_provider import Requirement, find_configurations, load_plan, open_table
from aegis_provider.check.masked_records import CheckedRecords
from aegis_provider.draft import fitting, start
from aegis_provider.draft.merges import Level, Merge
from aegis_provider.plan.model import DROP, IDENTITY
from research.rivals.maskings.recoding import LEFT_OUT, Levels, Masked, Promise, recoded
from research.rivals.maskings.tables import Split

LABEL = "label of the study"
EFFORT = "small"
"""For one requirement this is the work that `aegis release` gives each of its five by default."""


def requirement(promise: Promise) -> Requirement:
    privacy = {"k": float(promise.k)} | ({"l": float(promise.l)} if promise.l > 1 else {})
    return Requirement(privacy, LEFT_OUT)


def drafted(split: Split, promise: Promise, *, by_label: bool = True) -> Masked:
    """Return both parts as masked by the best configuration of the draft of the training records.

    All attributes of the draft are quasi-identifiers. A tested value is masked as the same value of a training record.
    `by_label`: whether the draft's groups may look at the label, as the product's do.
    """
    with TemporaryDirectory(prefix="aegis-rivals-") as place:
        table, plan_file = Path(place) / "table.csv", Path(place) / "plan.yaml"
        columns = split.texts()
        _write(
            table,
            [*columns, LABEL],
            zip(*(column.tolist() for column in columns.values()), _labels(split), strict=True),
        )
        with nullcontext() if by_label else patch.object(fitting, "best_levels", _even_levels):
            start(table, LABEL, plan_file, accept_identifiers=True)
        plan = load_plan(plan_file, configurations_needed=False)
        result = find_configurations(table, plan, requirement(promise), most=1, effort=EFFORT)
        with open_table(table) as opened:
            records = CheckedRecords.read(opened, plan, 2, 0)
            masked = records.masked(result.configurations[0])
    nothing = [np.zeros(len(part), dtype=np.int64) for part in (split.train, split.test)]
    pairs = [] if masked.features else [nothing]
    for feature in masked.features:
        at = split.names.index(feature.name)
        mapping = np.zeros(len(split.domains[at]), dtype=np.int64)
        mapping[split.train[:, at]] = feature.places
        pairs.append([feature.places, mapping[split.test[:, at]]])
    train, test = (np.stack(parts, axis=1) for parts in zip(*pairs, strict=True))
    return Masked(train, test, masked.shown, exact=result.complete)


def _even_levels(joint: FloatArray, merge: Merge, minimum: int, sizes: Sequence[int]) -> list[Level]:
    return [Level(groups, by_label=False) for groups in merge(joint.sum(axis=1, keepdims=True), minimum, sizes)]


def searched(split: Split, levels: Sequence[Levels], promise: Promise) -> Masked:
    """Return both parts as masked by the best configuration of given hierarchies."""
    finest = [of[0][codes] for of, codes in zip(levels, split.train.T, strict=True)]
    with TemporaryDirectory(prefix="aegis-rivals-") as folder:
        place = Path(folder)
        names = [f"a{number}" for number in range(len(levels))]
        texts = [[f"v{code}" for code in column.tolist()] for column in finest]
        _write(place / "table.csv", [*names, LABEL], zip(*texts, _labels(split), strict=True))
        for name, of in zip(names, levels, strict=True):
            _write(place / f"{name}.csv", None, zip(*_texts(of), strict=True))
        (place / "plan.yaml").write_text("\n".join(_plan(names, levels)), encoding="utf-8")
        plan = load_plan(place / "plan.yaml", configurations_needed=False)
        result = find_configurations(place / "table.csv", plan, requirement(promise), most=1, effort=EFFORT)
    chosen = result.configurations[0].maskings
    node = tuple(_level(chosen[name], len(of)) for name, of in zip(names, levels, strict=True))
    return recoded(split, levels, node, promise, exact=result.complete)


def _labels(split: Split) -> list[str]:
    return [f"class {one}" for one in split.classes.tolist()]


def _texts(levels: Levels) -> Iterator[list[str]]:
    """Yield the levels but the last as columns of a hierarchy file: a row for each value of the finest."""
    values = np.unique(levels[0], return_index=True)[1]
    for number, level in enumerate(levels[:-1]):
        yield [f"{'v' if number == 0 else f'g{number}-'}{group}" for group in level[values].tolist()]


def _plan(names: Sequence[str], levels: Sequence[Levels]) -> Iterator[str]:
    yield from (f"label: {LABEL}", f"sensitive: [{LABEL}]", "attributes:")
    for name, of in zip(names, levels, strict=True):
        maskings = [
            f"l{number}: {{hierarchy: {{file: {name}.csv, level: {number}}}}}" for number in range(1, len(of) - 1)
        ]
        yield f"  {name}: {{maskings: {{{', '.join(maskings)}}}}}" if maskings else f"  {name}: {{}}"


def _level(choice: str, levels: int) -> int:
    return 0 if choice == IDENTITY else levels - 1 if choice == DROP else int(choice[1:])


def _write(
    path: Path, header: Sequence[str] | None, rows: "Iterator[Sequence[object]] | zip[tuple[object, ...]]"
) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="," if header else ";")
        writer.writerows([header] if header else [])
        writer.writerows(rows)
