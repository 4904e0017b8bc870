"""Learns from a table and generates records that resemble its own."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from time import monotonic
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aegis_advisor.arrays import FloatArray
from aegis_provider.counting.label_scores import scores_of_bins
from aegis_provider.counting.people import People
from aegis_provider.errors import OutputError, PlanError, needs_extra
from aegis_provider.files import none_if_refused, refuse_overwriting
from aegis_provider.identifiers import Replayed, accepted_beside, identifying_in, refuse_identifiers
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.records import (
    Column,
    held_out_share,
    read_records,
)
from aegis_provider.release.table_file import refuse_escaping
from aegis_provider.synth.generate.generated import Generated, write
from aegis_provider.synth.generate.levels import Levels
from aegis_provider.synth.generate.methods.method import (
    Knobs,
    Method,
    Private,
    knobs_of_records,
)
from aegis_provider.synth.generate.methods.registry import METHODS, method_of, usual_knobs
from aegis_provider.synth.generate.prepared import Prepared, Wish
from aegis_provider.synth.generate.training import Checkpoint, Trainer, Watch
from aegis_provider.table import Source, Table, open_table, table_name
from aegis_provider.table.discretization import discretized
from aegis_provider.table.notation import plainly

DEFAULT_METHOD: Final = next(iter(METHODS))
MOST: Final = 10_000_000
"""Maximum number of records; all are in memory."""

_MOST_LAMBDA: Final = 1e6
_ANY: Final = Wish()


def generate(
    table: Source,
    plan: Plan,
    output: Path | None = None,
    *,
    method: str = DEFAULT_METHOD,
    knobs: Knobs | None = None,
    wish: Wish = _ANY,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    escape_formulas: bool = False,
    accept_identifiers: bool = False,
    watch: Watch = lambda _: None,
) -> Generated:
    """Learn from the records of a table, and generate similar ones.

    Attributes that the plan forbids to share unmasked (`identity: false`) are left out, and so is the column that says
    whose a record is: a generated record is nobody's. At most `rows_per_person` real ones of each person are used. A
    label that is a number is generated as its bins.

    Args:
        output: The file to write, Parquet if it ends in `.parquet`, otherwise CSV; by default none.
        method: A name in `METHODS`.
        knobs: The parameters of the method; by default `usual_knobs`.
        escape_formulas: Whether CSV cells and headers that a spreadsheet would run get an apostrophe before them.

    Raises:
        PlanError: The method is unknown or ignores a knob, a number is out of range, no attribute can be generated, or
            a guarantee for people lacks a stated `rows_per_person`.
        TableError: The table cannot be read or learnt from.
        IdentifierError: An attribute, or the label, identifies persons, and `accept_identifiers` is off.
        OutputError: The output cannot be written, or is Parquet and formulas were to be escaped.
        AegisError: The extra `synth` is not installed.
    """
    began, chosen, holdout = monotonic(), method_of(method), held_out_share(plan, wish.holdout)
    knobs = usual_knobs(method) if knobs is None else knobs
    _refuse_unheeded(method, chosen, knobs, wish)
    guarantee = chosen.guarantee(knobs)
    learns = _knobs_of_people(plan, knobs, guarantee) if guarantee and plan.person else knobs
    attributes = _generable(plan)
    _refuse_output(output, table, plan, escape_formulas=escape_formulas)
    seed = secrets.randbits(63) if wish.seed is None else wish.seed
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as given:
        opened = discretized(plainly(given, plan.writings), plan.label_bins)
        used, people, whose = _people_of(opened, plan)
        records = read_records(used, attributes, plan.label, as_written=guarantee is not None, person=whose)
        of_records, separator, rows = used.records(), opened.delimiter or ",", 1 if people is None else people.rows
        prepared = Prepared.of(records, plan, attributes, chosen, learns, holdout, seed, table_name(table), rows)
        scores = _scores_of_levels(used, plan, records.columns[-1], prepared.task.levels[-1])
        reasons = {} if guarantee else _identifying(opened, plan, attributes, output, accepted=accept_identifiers)
    checkpoint = None if output is None or wish.seed is None else _checkpoint(output, prepared, method, wish)
    about = (prepared.task, prepared.validation, seed, wish.seconds, checkpoint, watch, monotonic() - began, scores)
    with needs_extra("synth"):
        training = Trainer(chosen, *about).train()
    texts = prepared.generated(training.model, wish, seed, guaranteed=guarantee is not None)
    if guarantee:
        # A refusal must not depend on the real values, since it would disclose them.
        with open_table(texts) as opened:
            reasons = _identifying(opened, plan, attributes, output, accepted=accept_identifiers)
    warnings = () if output is None else write(output, texts, separator, escape_formulas=escape_formulas)
    if checkpoint is not None:
        checkpoint.remove()
    return Generated(
        table=texts,
        output=output,
        method=method,
        knobs=knobs,
        guarantee=guarantee,
        steps=chosen.steps if guarantee and isinstance(chosen, Private) else {},
        training=training,
        learnt_from=len(prepared.task.codes),
        validated=len(prepared.validation),
        held_out=prepared.held_out,
        holdout=holdout,
        combinations=prepared.combinations,
        of_records=of_records,
        left_out=tuple(attribute.name for attribute in plan.attributes if attribute not in attributes),
        weights=prepared.weights(),
        warnings=warnings,
        accepted=_accepted(texts, reasons) if accept_identifiers else {},
        people=people,
    )


def _knobs_of_people(plan: Plan, knobs: Knobs, guarantee: tuple[float, float]) -> Knobs:
    """Return the knobs that guarantee for a person what these do for a record."""
    if plan.rows_per_person is None:
        raise PlanError(
            f"{plan.source}: rows_per_person: state it; the default would tell how many records people have"
        )
    return knobs_of_records(knobs, guarantee, plan.rows_per_person)


def _scores_of_levels(table: Table, plan: Plan, label: Column, levels: Levels) -> FloatArray | None:
    """(levels,) Return the mean score of each level of a label that is a number; `None` if it has classes."""
    scores = scores_of_bins(table.reading(label.name), plan, label.domain, label.counts)
    if scores is None:
        return None
    weights = np.maximum(label.counts, 1e-9)  # a level without records has a score, too
    sums, sizes = (np.bincount(levels.of_value, each, levels.size) for each in (weights * scores, weights))
    return np.divide(sums, sizes, out=np.zeros(levels.size), where=sizes > 0)


def _people_of(table: Table, plan: Plan) -> tuple[Table, People | None, str | None]:
    """Return the records that are used, whose they are, and the column that splits them, if the plan names people."""
    if plan.person is None:
        return table, None, None
    people = People.of(table, plan.person, plan.rows_per_person)
    return people.bounded(table), people, people.split_by(plan.rows_per_person)


def _generable(plan: Plan) -> tuple[Attribute, ...]:
    attributes = tuple(attribute for attribute in plan.attributes if attribute.is_generable)
    if not attributes:
        raise PlanError(f"{plan.source}: no attribute may be shared unmasked, so none can be generated")
    return attributes


def _accepted(texts: pa.Table, reasons: Mapping[str, str]) -> Mapping[str, str]:
    """Return the columns with accepted identifying values, and the kinds of these."""
    distinct = ((name, pc.unique(texts[name]).to_pylist()) for name in texts.column_names)
    return accepted_beside(distinct, Replayed({}), reasons)


def _refuse_output(output: Path | None, table: Source, plan: Plan, *, escape_formulas: bool) -> None:
    """Refuse an output that is an input, except a generated table of the plan, which may be replaced."""
    if output is None:
        return
    generated = {each.file for each in plan.generated}
    refuse_overwriting(output, table, *(file for file in plan.files if file not in generated))
    if escape_formulas:
        refuse_escaping(output)


def _refuse_unheeded(name: str, method: Method, knobs: Knobs, wish: Wish) -> None:
    """Refuse parameters that the method ignores or does not support, so that no request for privacy is ignored."""
    for each in fields(knobs):
        if getattr(knobs, each.name) != each.default and each.name not in method.heeds:
            raise PlanError(f"the method {name} does not support {each.name}; omit it, or choose another method")
    for lambda_of, asked in (("privacy", knobs.privacy), ("value", knobs.value)):
        if not 0 <= asked <= _MOST_LAMBDA:
            raise PlanError(f"{lambda_of} is {asked:g}; choose a number from 0 to {_MOST_LAMBDA:g}")
    if wish.records is not None and not 0 < wish.records <= MOST:
        raise PlanError(f"{wish.records:,} records were requested; choose a number from 1 to {MOST:,}")


def _identifying(
    table: Table, plan: Plan, attributes: Sequence[Attribute], output: Path | None, *, accepted: bool
) -> Mapping[str, str]:
    """Return why generated columns identify persons.

    Args:
        output: The file to remove on a refusal, since an older table would look like this run's.
    """
    learnt = [plan.label, *(attribute.name for attribute in attributes if attribute.discretization is None)]
    found = identifying_in(table, plan, learnt)
    if not accepted:
        with none_if_refused(*([] if output is None else [output])):
            refuse_identifiers(table, plan.source, learnt, label=plan.label, known=found)
    return found


def _checkpoint(output: Path, prepared: Prepared, method: str, wish: Wish) -> Checkpoint:
    """Return the checkpoint file beside the output."""
    task = prepared.task
    digest = hashlib.sha256(json.dumps([method, asdict(task.knobs), wish.seed, wish.seconds, [*task.sizes]]).encode())
    for each in (task.codes, prepared.validation, task.privacy_weights, task.importance, task.quasi_identifiers):
        digest.update(np.ascontiguousarray(each).tobytes())
    if not output.parent.is_dir():
        raise OutputError(f"{output}: there is no directory {output.parent}; create it first")
    return Checkpoint(output.with_name(f".{output.name}.training.npz"), digest.hexdigest())
