"""What the tables of a version are worth: the best one for each label and each k, and what a model should reach on it.

Anyone who sees the entry reads this, so it says no more than coarse answers do: it follows their order and their two
digits, is computed once for a version, and says nothing about a table that shares one attribute at most. The interval
is wider by the sampling error, since tables are compared.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.errors import AdvisorError
from aegis_advisor.evidence import IDENTITY
from aegis_advisor.expected import beyond_table
from aegis_advisor.reconstruction import reconstruct
from app.advice.model import AdviceQuestion
from app.advice.service.advice_input import AdviceInput, Known
from app.advice.service.coarse import Grid
from app.advice.service.computation import expected_of, of_one_attribute, order_together, ranked
from app.advice.service.questions import refuse_unanswerable, selected_places
from app.advice.service.tasks import Task, class_of, label_in, task_of
from app.entries.model.configurations import MASKED_ONLY, ConfigurationTable, unpack_configurations
from app.entries.model.documents import stored_entry
from app.entries.model.entries import AttributeOutline, CountTable, PackedConfigurations
from app.entries.model.worth import ASKED_K, Worth, WorthState
from app.platform.errors import InvalidDocumentError
from app.tenants.model import RequiredPrivacy

MOST_POINTS = 12
"""For so many k the performance of a model is expected, a tenth of a second each."""


@dataclass(frozen=True, slots=True)
class WorthInput:
    """A version as stored, with all its counts, and the privacy that service and tenant require."""

    schema: bytes
    outline: tuple[AttributeOutline, ...]
    count_tables: tuple[CountTable, ...]
    configurations: PackedConfigurations
    policy: RequiredPrivacy


def compute_worth(given: WorthInput) -> list[Worth]:
    """The worth of the best table for each label, by the k at which the best table changes, and by `ASKED_K`."""
    entry = stored_entry(given.schema)
    table = unpack_configurations(given.configurations, given.outline)
    return [
        worth
        for label in entry.labels or (entry.label.name,)
        for worth in _of_label(given, table, label, label == entry.label.name)
    ]


def _of_label(given: WorthInput, table: ConfigurationTable, label: str, is_default: bool) -> list[Worth]:  # noqa: FBT001
    asked = AdviceQuestion("joint", policy=given.policy, label=None if is_default else label, limit=None)
    try:
        return list(_points(asked, label, *_known(given, table, asked)))
    except (AdvisorError, InvalidDocumentError):  # it lacks the counts of pairs, for example
        most = float(np.nanmax(table.privacy["k"])) if "k" in table.privacy else 0.0
        return [Worth(label, k) for k in ASKED_K if k <= most]


def _known(given: WorthInput, table: ConfigurationTable, asked: AdviceQuestion) -> tuple[AdviceInput, Known]:
    """The input of a question, and what follows from it."""
    task, of_default = Task(given.outline, table), tuple[AttributeOutline, ...]()
    if asked.label is not None:
        task, of_default = task_of(given.schema, given.outline, table, asked.label), given.outline
    refuse_unanswerable(asked, task.outline, task.table, None)
    places = tuple(selected_places(asked, task.outline))
    stored = given.schema, given.count_tables, given.configurations
    whole = AdviceInput(0, "", asked, task.outline, places, *stored, of_default=of_default)
    known = Known.of(whole, table)
    return whole, replace(known, references=tuple(map(reconstruct, known.evidence)))


def _points(asked: AdviceQuestion, label: str, given: AdviceInput, known: Known) -> Iterator[Worth]:
    """The worth for one label."""
    answer = ranked(given, known, known.table.of_kinds(MASKED_ONLY), has_errors=False)
    order = order_together(answer, Grid.of(known.records), None).order
    promised = known.table.privacy.get("k", np.full(len(known.table.codes), np.nan))
    kept = promised[known.table.meeting(asked.required, asked.policy)][order]
    levels = _levels(kept)
    rows = order[list(levels.values())]
    names = [answer.ids[row] for row in rows]
    each, _ = expected_of(answer, known, rows)
    alone = of_one_attribute(answer, names, answer.codes[rows])
    shown = [None, *(masking.id for masking in known.label.maskings)]
    codes = np.zeros(rows.size, dtype=np.intp) if answer.labels is None else answer.labels.codes[rows]
    for k, name, code, expected in zip(levels, names, codes.tolist(), each, strict=True):
        if expected is None or name in alone:
            yield Worth(label, k, WorthState.UNKNOWN, name, masking=shown[code])
            continue
        classes = int(class_of(known.label, shown[code] or IDENTITY).max()) + 1
        told = beyond_table(expected.in_two_digits, known.records, classes)
        numbers = asdict(replace(told, low=round(told.low, 2), high=round(told.high, 2)))
        yield Worth(label, k, WorthState.KNOWN, name, numbers, shown[code])


def _levels(promised: NDArray[np.float64]) -> dict[float, int]:
    """By k, the place of the first table that promises it: for `ASKED_K`, and for the best table's k and higher ones.

    Args:
        promised: (tables,) the k of each, the best table first.
    """
    most = np.maximum.accumulate(np.nan_to_num(promised, nan=0.0))
    steps = np.flatnonzero(np.diff(most, prepend=0.0))
    levels = {float(k): int(np.argmax(most >= k)) for k in ASKED_K if most.size and k <= most[-1]}
    points = {float(most[step]): int(step) for step in steps[: MOST_POINTS - len(levels)]}
    return dict(sorted((points | levels).items()))


def tasks_of(schema: bytes) -> dict[str, str]:
    """The label of each task of a version: by its name, and by the URI of its concept."""
    entry = stored_entry(schema)
    labels = [label_in(entry, name) for name in entry.labels or (entry.label.name,)]
    by_concept = {label.concept.uri: label.name for label in labels if label.concept is not None}
    return by_concept | {label.name: label.name for label in labels}
