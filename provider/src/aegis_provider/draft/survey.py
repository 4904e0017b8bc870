"""Judges the labels and columns of a bare table before a plan is drafted."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aegis_provider.counting.counted_table import MOST_CLASSES
from aegis_provider.draft.attributes import Column
from aegis_provider.errors import IdentifierError, PlanError, TableError, shortened
from aegis_provider.identifiers import told
from aegis_provider.table import Table
from aegis_provider.table.values import Domain
from aegis_sdk.reading import some

_LONGEST_NAME: Final = 250
_INDEX: Final = "the index of a data frame, no column of the table; --index drafts it"
_WHOSE: Final = "says whose a record is"
_SPELLINGS: Final = 3
_COLUMNS: Final = 3


@dataclass(frozen=True)
class Survey:
    """The labels, the default one first, the columns to draft, and the columns to leave out with the reasons."""

    label: Column
    others: Sequence[Column]
    to_draft: Sequence[Column]
    left_out: Mapping[str, str]

    @classmethod
    def of(
        cls,
        table: Table,
        surveyed: Sequence[Column],
        labels: int,
        add: Sequence[str],
        person: str | None,
        *,
        accept_identifiers: bool,
        in_bins: Collection[str],
    ) -> "Survey":
        """Judge the labels, which come first, and the columns to draft.

        Raises:
            TableError: A label cannot be predicted.
            IdentifierError: A column to add, or a label, identifies persons, and that is not accepted.
        """
        of_labels, columns = surveyed[:labels], surveyed[labels:]
        for each in of_labels:
            _check_label(table.name, each, in_bins=each.name in in_bins)
        raw = [each for each in of_labels if each.name not in in_bins]
        for each in [*raw, *(column for column in columns if column.name in add)]:
            if each.identifies and not accept_identifiers:
                raise IdentifierError(
                    f"{table.name}: {shortened(each.name)}: {told(table, each.name, each.identifies)}"
                )
        index = dict.fromkeys(table.index, _INDEX)
        reasons = {
            column.name: index.get(column.name) or column.left_out() for column in columns if column.name not in add
        }
        if person in reasons:
            reasons[person] = reasons[person] or _WHOSE
        left_out = {
            column.name: why for column in columns if (why := _unnameable(column.name) or reasons.get(column.name))
        }
        to_draft = [column for column in columns if column.name not in left_out]
        return cls(of_labels[0], of_labels[1:], to_draft, left_out)

    def refuse_unread(self, table: Table, *, odd_as_missing: bool) -> None:
        """Refuse a label in several spellings, and odd texts among numbers or dates, unless an option covers them.

        Raises:
            TableError: There is such a label, or such texts.
        """
        labels = {each.name: each for each in (self.label, *self.others)}
        for label in (each for each in labels.values() if each.spellings and not each.fold_case):
            alike = some([shortened(text) for text in label.spellings], _SPELLINGS)
            raise TableError(
                f"{table.name}: the label {shortened(label.name)} is written {alike}; --fold-case (fold_case=True in "
                "Python) makes one value of those that differ only in case, or in blanks around them"
            )
        columns = (*labels.values(), *self.to_draft)
        odd = {column.name: column.recognised for column in columns if column.recognised and column.recognised.odd}
        if odd and not odd_as_missing:
            name, first = next(iter(odd.items()))
            said = "; ".join(f"{shortened(each)} has {of.in_words}" for each, of in list(odd.items())[:_COLUMNS])
            more = f"; and {len(odd) - _COLUMNS} more columns" if len(odd) > _COLUMNS else ""
            texts = f", or `aegis plan start` with --add {shlex.quote(name)} take the column for texts"
            raise TableError(
                f"{table.located(name, next(iter(first.odd)))}: {said}{more}. Clean these cells, or let "
                "--odd-as-missing (odd_as_missing=True in Python) take them for missing"
                f"{texts if name not in labels else ''}"
            )

    def refuse_empty(self, table: str) -> None:
        """Refuse a table without a column to share.

        Raises:
            PlanError: There is none.
        """
        if not (self.to_draft or self.others):
            reasons = "; ".join(f"{shortened(name)} {reason}" for name, reason in self.left_out.items())
            raise PlanError(f"{table}: no column can be shared: {reasons}")


def _unnameable(name: str) -> str | None:
    if len(name) <= _LONGEST_NAME and name.isprintable():
        return None
    return f"a name must have at most {_LONGEST_NAME} characters, all of them printable; rename the column"


def _check_label(table: str, label: Column, *, in_bins: bool) -> None:
    if why := _unnameable(label.name):
        raise TableError(f"{table}: {shortened(label.name)}: {why}")
    if len(Domain.of(label.sample)) < 2:  # noqa: PLR2004 - one class
        what = f"only one value, {shortened(label.sample[0])}" if label.sample else "no value"
        raise TableError(
            f"{table}: the label {shortened(label.name)} has {what}, so there is nothing to tell about it; name another"
        )
    if label.distinct > MOST_CLASSES and not in_bins:
        of, instead = label.recognised, "name one of classes, or write numbers plainly: 1248.77, not € 1,248.77"
        why = f"{label.distinct:,} different values, more than {MOST_CLASSES}; {instead}"
        if of is not None and of.has_many_odd:
            why = f"{of.in_words}, more than one in a hundred; write these as numbers, or leave them empty"
        raise TableError(f"{table}: the label {shortened(label.name)} has {why}")
