"""Drafts a usable plan for a bare table, for `aegis plan start`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.label_tasks import label_tasks
from aegis_provider.counting.people import People
from aegis_provider.draft.attributes import MOST_NUMBERS, Column, DraftedAttribute, columns_of, drafted, telling_most
from aegis_provider.draft.bins import LABEL_BINS, bins_of, label_in_bins
from aegis_provider.draft.fitting import default_minimum
from aegis_provider.draft.leaks import Leaks, leaks_in, telling_among
from aegis_provider.draft.survey import Survey
from aegis_provider.draft.writing import extended, plan_text
from aegis_provider.errors import PlanError, shortened
from aegis_provider.files import refuse_overwriting, written_whole
from aegis_provider.identifiers import MOST_COLUMNS
from aegis_provider.plan.limits import with_person
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.plan.reading import is_sketch, load_plan
from aegis_provider.plan.writing import members_of_person
from aegis_provider.processes import Progress
from aegis_provider.table import Source, Table, delimiter_in, described, open_table
from aegis_provider.table.discretization import Binned, discretized
from aegis_provider.table.notation import plainly
from aegis_provider.table.values import MISSING
from aegis_sdk.reading import shown
from aegis_sdk.wire.labels import LABELS

#: With more columns, a draft includes the most informative ones: a search over hundreds would not finish.
MOST_DRAFTED: Final = 60

_RARE: Final = 5


@dataclass(frozen=True)
class Started:
    """The result of `start`.

    Attributes:
        plan: The plan file.
        delimiter: The delimiter of the table; `None` if it is not CSV.
        described: The table in a few words.
        records: The number of records of the table.
        labels: The number of records of each label value, the most frequent first.
        minimum: Minimum records of a drafted group.
        attributes: The attributes drafted now.
        left_out: The columns left out now, each with the reason.
        kept: The attributes of an existing plan.
        new: The columns of the table that an existing plan does not name.
        unlabelled: A note on the place of the first record without a label, if there are a few; otherwise empty.
        leaks: The columns that give the label away, left out or not, and those that repeat others.
        repeating: The identifiers left out that are the same in several records, each with its number of values.
        people: Whose the records are, if that was asked.
        doubts: What speaks against predicting a label, by label.
        other_labels: For each label besides the default one, the number of records of each value or bin, likewise.
    """

    plan: Path
    delimiter: str | None
    described: str
    records: int
    labels: Mapping[str, int]
    minimum: int
    attributes: tuple[DraftedAttribute, ...]
    left_out: Mapping[str, str]
    kept: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    unlabelled: str = ""
    leaks: Leaks = field(default_factory=Leaks)
    repeating: Mapping[str, int] = field(default_factory=dict)
    people: People | None = None
    doubts: Mapping[str, str] = field(default_factory=dict)
    other_labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        """A sentence for each label that should perhaps not be predicted."""
        return [
            f"label {shown(label)}: {why}; predicting it may find people, so name another label unless that is the aim"
            for label, why in self.doubts.items()
        ]

    @property
    def rare_labels(self) -> tuple[str, ...]:
        """The label values with fewer than 5 records."""
        return tuple(value for value, records in self.labels.items() if value and records < _RARE)


def start(
    table: Source,
    label: str,
    output: Path,
    *,
    other_labels: Sequence[str] = (),
    add: Sequence[str] = (),
    minimum: int | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    accept_identifiers: bool = False,
    index: bool = False,
    odd_as_missing: bool = False,
    fold_case: bool = False,
    keep_leaks: Sequence[str] = (),
    person: str | None = None,
    rows_per_person: int | None = None,
    progress: Progress = lambda _done, _columns: None,
) -> Started:
    """Survey a table and draft a plan for it; nothing in an existing plan is changed.

    A file that only states how to read some columns (their types, `decimal`, `dates`) is not a plan yet: the draft
    follows it and replaces it. With more than 60 columns, the draft includes those with the most information about the
    label, adjusted for chance, and all that are named; the others are left out. So are columns that give the label away
    (`leaks_in`), unless all do.

    Args:
        table: The table, as for `open_table`.
        label: The column to predict from the others.
        output: The plan file (YAML).
        other_labels: Further columns to predict. The draft shows them as they are, and leaves out what leaks one of
            them, too.
        add: Columns to add to an existing plan, or to draft although they would be left out.
        minimum: Minimum records of a drafted group; by default 5, or 0.5 % of the records if that is more.
        delimiter: The delimiter of CSV files; by default, the one with which the header has the label.
        accept_identifiers: Whether columns to add, and the label, may identify persons.
        index: Whether to include the index of a data frame as a column.
        odd_as_missing: Whether other texts in a column of numbers or dates are missing, if they are in at most 1 % of
            its cells. Otherwise they are refused, except in columns to add, which are then texts.
        fold_case: Whether values that differ only in case or surrounding blanks are one. Otherwise a label with such
            values is refused.
        keep_leaks: Columns to draft although they give the label away.
        person: The column that says whose a record is; it is never shared. By default that of an existing plan.
        rows_per_person: The most records of a person to use; see `People.of`.
        progress: Called with the number of columns drafted, and of all.

    Raises:
        TableError: The table cannot be read or lacks a column, the label cannot be predicted, or a column does not have
            its stated form.
        PlanError: The existing plan is for another label or cannot be read, or no column can be shared.
        IdentifierError: A column to add, or the label, identifies persons, and that is not accepted.
        OutputError: The plan cannot be written.
    """
    refuse_overwriting(output, table)
    there, sketch = _read(output, label)
    stated: Mapping[str, Attribute] = {}
    if sketch is not None:
        stated = {attribute.name: attribute for attribute in sketch.attributes}
        other_labels, fold_case = other_labels or sketch.other_labels, fold_case or sketch.fold_case
    new_labels = () if there is not None else _checked_labels(output, (label, *other_labels))
    separator = delimiter if delimiter is not None else delimiter_in(table, label)
    with open_table(table, delimiter=separator, memory_limit=memory_limit, most_columns=MOST_COLUMNS) as given:
        found = replace(given, index=()) if index else given
        opened = plainly(found, there.writings if there else {name: each.writing for name, each in stated.items()})
        opened.positions([label, *new_labels, *add, *keep_leaks, *stated])
        drafting = there or Plan(str(output), label, (), (), {}, other_labels=new_labels)
        whose = _whose(output, there, drafting, [*add, *stated], person, rows_per_person)
        people = None if whose.person is None else People.of(opened, whose.person, whose.rows_per_person)
        if there is not None:
            add = [*add, *(name for name in keep_leaks if name in there.left_out and name not in add)]
        new = [] if there is None else _checked_new(there, opened, (label, *other_labels), add, output)
        names = add if there else [name for name in opened.columns if name not in drafting.labels]
        beside = [name for name in there.left_out if name not in add and name in opened.columns] if there else []
        as_texts = () if odd_as_missing else add
        surveyed, number = [*new_labels, *names, *beside], 1 + len(new_labels)
        as_read, columns = columns_of(opened, label, surveyed, as_texts, fold_case=fold_case, stated=stated)
        as_read, bins = _in_bins(as_read, columns[:number], there, whose.person, minimum)
        survey = Survey.of(
            opened,
            columns[: number + len(names)],
            number,
            add,
            whose.person,
            accept_identifiers=accept_identifiers,
            in_bins={*bins, *([label] if isinstance(as_read.reading(label), Binned) else [])},
        )
        survey.refuse_unread(opened, odd_as_missing=odd_as_missing)
        _refuse_survey(survey, there, output, opened.name)
        least = minimum or default_minimum(survey.label.records)
        named, kept = {*add, *stated}, {*add, *keep_leaks}
        attributes, leaks = _drafted(as_read, whose, survey, named, kept, bins, least, progress)
        if there is not None:
            leaks = replace(leaks, telling={**_telling_already(opened, there), **leaks.telling})
        left_out = _left_out(survey, leaks, [attribute.column.name for attribute in attributes], names)
        others = _labels_beside(as_read, survey.others, bins, there)
        (labels, unlabelled), source = _labels_of(as_read, label, survey.label.records), described(opened)
    if there is None:
        drafting = replace(whose, fold_case=survey.label.fold_case, label_as=bins.get(label))
        _write(output, _text(drafting, f"{source}, {survey.label.records:,} records", attributes, left_out))
    elif attributes:
        _write(output, extended(output, attributes, label))
    there_already = tuple(attribute.name for attribute in there.attributes) if there else ()
    about = output, opened.delimiter, source, survey.label.records, labels, least, attributes, left_out, there_already
    repeating = _repeating(columns[1:], left_out)
    return Started(*about, tuple(new), unlabelled, leaks, repeating, people, _doubts(columns[:number]), others)


def _read(output: Path, label: str) -> tuple[Plan | None, Plan | None]:
    """Return the plan that is there, which stays, and the one that only says how to read columns, which is replaced.

    A plan of the second kind for another label is both: it is refused later.
    """
    there = load_plan(output, configurations_needed=False) if output.exists() else None
    if there is None or not is_sketch(output):
        return there, None
    return None if there.label == label else there, there


def _refuse_survey(survey: Survey, there: Plan | None, output: Path, table: str) -> None:
    """Refuse what an existing plan reads otherwise, and a table of which a new one could share nothing."""
    if there is None:
        survey.refuse_empty(table)
    elif survey.label.fold_case and not there.fold_case:
        raise PlanError(f"{output}: an existing plan is not changed; write `fold_case: true` into it")


def _text(drafting: Plan, heading: str, attributes: Sequence[DraftedAttribute], left_out: Mapping[str, str]) -> str:
    """Return the text of a new plan."""
    how: dict[str, Any] = {"fold_case": drafting.fold_case, "person": dict(members_of_person(drafting))}
    return plan_text(heading, drafting.labels, attributes, left_out, label_as=drafting.label_as, **how)


def _repeating(columns: Sequence[Column], left_out: Collection[str]) -> dict[str, int]:
    """Return the identifiers left out that are the same in several records, each with its number of values."""
    own = (each for each in columns if each.identifies and each.name in left_out)
    return {each.name: each.distinct for each in own if 1 < each.distinct < each.known}


def _doubts(labels: Sequence[Column]) -> dict[str, str]:
    """Return what speaks against predicting a label, by label."""
    return {each.name: why for each in labels if (why := each.doubt_as_label)}


def _labels_beside(
    table: Table, labels: Sequence[Column], bins: Mapping[str, Attribute], there: Plan | None
) -> dict[str, Mapping[str, int]]:
    """Return the records of each value, or bin, of each label besides the default one, the most frequent first."""
    rules = {**(there.binned if there else {}), **Plan("", "", tuple(bins.values()), (), {}).binned}
    shown = discretized(table, {each.name: rules[each.name] for each in labels if each.name in rules})
    return {each.name: _labels_of(shown, each.name, each.records)[0] for each in labels}


def _in_bins(
    table: Table, labels: Sequence[Column], there: Plan | None, person: str | None, minimum: int | None
) -> tuple[Table, dict[str, Attribute]]:
    """Return the new bins of each label that is a number, and the table with the default label in its bins.

    The bins of an existing plan are not changed.
    """
    label = labels[0]
    if there is not None:
        return discretized(table, {name: rule for name, rule in there.binned.items() if name == label.name}), {}
    numbers = [each for each in labels if each.is_number and each.distinct > LABEL_BINS and each.numbers == each.known]
    least = minimum or default_minimum(label.records)
    bins = {
        each.name: replace(label_in_bins(table, each.name, least, person), value_type=each.type, writing=each.writing)
        for each in numbers
    }
    return discretized(table, Plan("", label.name, (), (), {}, label_as=bins.get(label.name)).binned), bins


def _labels_of(table: Table, label: str, records: int) -> tuple[dict[str, int], str]:
    """Return the records of each label value, the most frequent first, and what is to be said of missing ones."""
    counted = table.counts_of_values(label)
    labels = dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0] != MISSING, pair[0])))
    return labels, table.unlabelled(label, labels.get(MISSING, 0), records)


def _whose(
    output: Path, there: Plan | None, drafting: Plan, named: Collection[str], person: str | None, rows: int | None
) -> Plan:
    """Return the plan to be drafted, or the one that is there, which says whose a record is."""
    plan = with_person(drafting, person, rows)
    wanted = dict(members_of_person(plan))
    if there is not None and wanted != dict(members_of_person(there)):
        lines = " and ".join(f"`{member}: {value}`" for member, value in wanted.items())
        raise PlanError(f"{output}: an existing plan is not changed; write {lines} into it")
    if plan.person in named:
        raise PlanError(f"{output}: person: {plan.person!r} is never shared, so nothing is drafted for it")
    return plan


def _checked_labels(output: Path, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels besides the first of a plan to be drafted."""
    if len(labels) > LABELS:
        raise PlanError(f"{output}: labels: at most {LABELS} are possible, not {len(labels)}")
    for place, name in enumerate(labels):
        if name in labels[:place]:
            raise PlanError(f"{output}: labels: {shortened(name)} is given twice")
    return labels[1:]


def _checked_new(there: Plan, table: Table, labels: Sequence[str], add: Sequence[str], output: Path) -> list[str]:
    """Return the columns that a plan does not name and that are not added."""
    label, *others = labels
    if there.label != label:
        raise PlanError(
            f"{output}: is a plan for the label {shortened(there.label)}, not {shortened(label)}; name another --output"
        )
    for name in others:
        if name not in there.labels:
            raise PlanError(f"{output}: an existing plan is not changed; add {shortened(name)} to its `labels`")
    for name in add:
        if name in there.columns:
            raise PlanError(f"{output}: has {shortened(name)} already; remove it there to draft it again")
    known = {*there.columns, *there.left_out, *add, there.person}
    return [name for name in table.columns if name not in known]


def _telling_already(table: Table, plan: Plan) -> dict[str, float]:
    """Return the attributes of an existing plan that tell over 80 % of the label, each with that share."""
    plain = tuple(
        Attribute(each.name, each.value_type, (), each.discretization, writing=each.writing)
        for each in plan.attributes
        if each.name in table.columns
    )
    return telling_among(CountedTable.of(table, Plan("", plan.label, plain, (), {})), plan.label) if plain else {}


def _left_out(survey: Survey, leaks: Leaks, attributes: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return why columns are not drafted, in order: unsuitable ones, leaks, copies, and those that tell too little."""
    copied = {name: f"a copy of {shown(of)}, which is enough" for name, [of] in leaks.copies.items()}
    less = f"tells less about {shortened(survey.label.name)} than {MOST_DRAFTED} others; --add NAME drafts it"
    surplus = {column.name: less for column in survey.to_draft if column.name not in attributes}
    reasons = {**surplus, **survey.left_out, **leaks.left_out, **copied}
    return {name: reasons[name] for name in columns if name in reasons}


def _drafted(
    table: Table,
    whose: Plan,
    survey: Survey,
    named: Collection[str],
    kept: Collection[str],
    of_labels: Mapping[str, Attribute],
    minimum: int,
    progress: Progress,
) -> tuple[tuple[DraftedAttribute, ...], Leaks]:
    """Draft the named columns, and the most informative of the others; without those that leak, unless kept.

    `whose`: what says whose a record is, and the labels; `of_labels`: the bins of those that are numbers.
    """
    columns, others = [*survey.to_draft, *survey.others], {each.name for each in survey.others}
    if not columns:
        return (), Leaks()
    numbers = [each for each in columns if each.is_number and each.distinct > MOST_NUMBERS]
    bins = bins_of(table, [each.name for each in numbers if each.name not in of_labels])
    plain = tuple(
        of_labels.get(each.name) or Attribute(each.name, each.type, (), bins.get(each.name), writing=each.writing)
        for each in columns
    )
    label, person, rows = whose.label, whose.person, whose.rows_per_person
    of = tuple(name for name in whose.other_labels if name in others)
    counting = Plan("", label, plain, (), {}, person=person, rows_per_person=rows, other_labels=of)
    counted = CountedTable.of(table, counting)
    leaks = leaks_in(counted, label, {*kept, *others})
    if len(leaks.left_out) == len(columns):  # of a plan without attributes, nobody would see the warning
        leaks = leaks_in(counted, label, [each.name for each in columns])
    for other, task in label_tasks(counted, counting).items():
        left_out = leaks_in(task, other, {*kept, *counting.labels}).left_out
        leaks = replace(leaks, left_out={**left_out, **leaks.left_out})
    pairs = [both for both in zip(counted.attributes, columns, strict=True) if both[1].name not in leaks.left_out]
    most = telling_most([each for each, _ in pairs], MOST_DRAFTED)
    chosen = [both for place, both in enumerate(pairs) if place in most or both[1].name in {*named, *others}]
    attributes = []
    for done, (each, column) in enumerate(chosen, start=1):
        notes = tuple(leaks.notes.get(column.name, ()))
        draft = drafted(counted, each, column, minimum, fit=column.name not in others)
        if column.name in of_labels:
            notes = ("a label that is a number, shown in bins or in fewer", *notes)
        elif column.name in others:
            draft = replace(draft, attribute=each.attribute, levels=())
            notes = ("a label, shown as it is", *notes)
        attributes.append(replace(draft, notes=notes))
        progress(done, len(chosen))
    copies = _needless(attributes, leaks.copies, {*named, *kept, *others})
    return tuple(each for each in attributes if each.column.name not in copies), replace(leaks, copies=copies)


def _needless(
    attributes: Sequence[DraftedAttribute], copies: Mapping[str, Sequence[str]], kept: Collection[str]
) -> dict[str, list[str]]:
    """Return the copies whose maskings merge the same records as those of an earlier column, each with that.

    A search can do nothing with such a copy that it cannot do without. Other copies stay: numbers and texts, say, are
    merged differently.
    """
    merged = {
        each.column.name: [(level.groups, level.smallest, round(level.kept or 0, 9)) for level in each.levels]
        for each in attributes
    }
    alike = {name: [of for of in copies[name] if merged.get(of) == merged[name]] for name in merged if name in copies}
    return {name: of[:1] for name, of in alike.items() if of and name not in kept}


def _write(output: Path, text: str) -> None:
    with written_whole(output, private=True) as part:  # it has counts and values
        part.write_text(text, encoding="utf-8")
        load_plan(part, configurations_needed=False)
