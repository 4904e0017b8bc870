"""Searches output for identifying values of the table, and for any others."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.errors import IdentifierError, shortened
from aegis_provider.identifiers.contents import BY_CHANCE, CONTENTS, contents_of, contents_of_each
from aegis_provider.identifiers.values import MISSING_CODES, is_quantity
from aegis_provider.plan.model import LEAKS
from aegis_provider.table import Table
from aegis_provider.table.arrays import text_array
from aegis_sdk.reading import shown
from aegis_sdk.wire import EntryDocument

_MOST_VALUES: Final = 200_000
_MOST_SEEN: Final = 100_000
_MOST_WORDS: Final = 5
_SEARCHED: Final = 5_000
_OTHERS: Final = "other identifiers"
#: Endings of reasons if only some of the records identify persons.
PARTLY: Final = ("in some records", "in most records")
_NOTES: Final = "notes"
_OF_THE_TABLE: Final = " of the table"

# Reasons for leaving out columns whose whole values identify nobody, although the draft cannot mask them.
_IDENTIFIES_NOBODY: Final = (
    "no record has a value",
    "fewer than 20 records have a value",
    "every record has the same value",
    "too many different texts",
    "tells less about ",
    LEAKS,
    "numbers, ",
    "dates, ",
    "contains numbers or times",
    "contains numbers that are infinite",
    "contains times of day",
    "contains dates that are not written",
)
_TOGETHER: Final = " | "
_MORE_THAN_A_NUMBER: Final = r"[^\d.+\-eE, ]"
_TELLING_ANYTHING: Final = rf"{_MORE_THAN_A_NUMBER}|\d[\d \-/]{{6,}}"

# From a round number to a round one, or one before it.
_RANGE: Final = re.compile(r"(\d+0)-(\d+[09])", re.ASCII)

# Values distinctive enough to recognise a left-out column elsewhere: not `Anna`, 42 or a date.
_TELLING: Final = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).{5,}|\d[\d \-/]{7,}\d|[^\W\d_]{2,}\S* \S.+")


@dataclass(frozen=True, eq=False)
class Replayed:
    """Identifying values of a table, to be searched for in output made from it.

    Attributes:
        values: The values, with single blanks and in lower case, by kind: `e-mail addresses`.
        own: Columns that identify persons by their whole values: the kind, and the values.
    """

    values: Mapping[str, set[str]]
    own: Mapping[str, tuple[str, set[str]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: Table, names: Sequence[str], left_out: Mapping[str, str], masked: Mapping[str, str] | None = None
    ) -> Self:
        """Collect the identifying contents of these columns, and all distinctive values of identifying ones.

        For notes, only contents are collected, not whole notes: `type 2 diabetes` may be a category elsewhere. The
        table is read once, unless all columns are counted. At most 200,000 distinct values of a kind are collected.
        `masked`: why shared columns, masked or not, identify persons: their masked values must not list even short
        values.

        Raises:
            TableError: The table cannot be read.
        """
        values: dict[str, set[str]] = {}
        reasons = {**left_out, **(masked or {})}
        wholes = {name: called(reasons[name]) for name in names if name in reasons}
        own = {name: (what, set[str]()) for name in masked or () if (what := wholes.get(name)) is not None}
        for mine, columns in table.different(names):
            words = [column.filter(pc.match_substring_regex(column, _MORE_THAN_A_NUMBER)) for column in columns]
            parts = zip(columns, words, contents_of_each(words), strict=True)
            for name, (different, *found) in zip(mine, parts, strict=True):
                if name in own and len(own[name][1]) < _MOST_VALUES:
                    is_note = own[name][0] == _NOTES  # of notes, only distinctive ones: not `ok`
                    texts = (
                        text for text in different.to_pylist() if text and text.strip().lower() not in MISSING_CODES
                    )
                    own[name][1].update(_plain(text) for text in texts if not is_note or _TELLING.fullmatch(text))
                whole = wholes.get(name)
                for what, value in _identifying(different, None if whole == _NOTES else whole, *found):
                    of_kind = values.setdefault(what, set())
                    if len(of_kind) < _MOST_VALUES:
                        of_kind.add(value)
        return cls(values, own)

    def found_in(self, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the kind of value and the text, for each text that contains one."""
        for text in texts:
            runs = set(_runs(text))
            yield from ((what, text) for what, values in self.values.items() if not runs.isdisjoint(values))

    def lists_own(self, name: str, text: str) -> str | None:
        """Return the kind of a column's own values that a masked value lists, such as `names of persons`, if any."""
        what, values = self.own.get(name, ("", set[str]()))
        parts = {_plain(part) for part in text.split(_TOGETHER)}
        # Bare numbers may be ends of intervals, which identify nobody.
        worded = (run for run in _runs(text) if any(map(str.isalpha, run)))
        return what if values and not (values.isdisjoint(parts) and values.isdisjoint(worded)) else None

    def refuse(self, texts: Iterable[str], what: str) -> None:
        """Refuse to write texts if one contains a value.

        Raises:
            IdentifierError: A text does; the message names the kind of value, never the value.
        """
        for kind, _ in self.found_in(texts):
            raise IdentifierError(f"{what} would show {kind} of the table")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of values, without their numbers."""
        kinds = dict.fromkeys([*self.values, *(what for what, _ in self.own.values())])
        return tuple(sorted(kinds, key=lambda what: what == _OTHERS))

    def in_words(self, found: Collection[str] = ()) -> str:
        """Report a search without a match except of these kinds: `what was written shows none of ...`."""
        named = [what for what in self.kinds if what in self.values and what not in found]
        words = {} if len(named) > 1 else {_OTHERS: "identifying values"}  # of one kind, there are no others
        counted = [f"{len(self.values[what]):,} {words.get(what, what)}" for what in named]
        listed = " and ".join(filter(None, [", ".join(counted[:-1]), *counted[-1:]]))
        return f"what was written shows none of the table's {listed}" if counted else ""


def refuse_written(texts: Iterable[tuple[str, Sequence[str]]], replayed: Replayed, what: str) -> None:
    """Refuse to write texts that contain identifying values of the table, or others recognised by form.

    Raises:
        IdentifierError: A text contains such a value.
    """
    for name, said in _found_in_columns(texts, replayed):
        raise IdentifierError(
            f"{what}: {shortened(name)} would show {said}; give its masked values other names, or remove it"
        )


def accepted_in(texts: Iterable[tuple[str, Sequence[str]]], replayed: Replayed) -> dict[str, str]:
    """Return the columns with accepted identifying values in written texts, and the kinds of these."""
    found: dict[str, str] = {}
    for name, said in _found_in_columns(texts, replayed):
        found.setdefault(name, said.removesuffix(_OF_THE_TABLE))
    return found


def accepted_beside(
    texts: Iterable[tuple[str, Sequence[str]]], replayed: Replayed, reasons: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns with identifying values, by written texts or as whole columns (`reasons`), and their kinds."""
    found = accepted_in(texts, replayed)
    return found | {name: called(reason) or found.get(name, "identifiers") for name, reason in reasons.items()}


def accepted_in_words(accepted: Mapping[str, str]) -> str:
    """Report columns with identifying values: `'Berater' has names of persons, shared because ...`."""
    has = " and ".join(f"{shown(name)} has {what}" for name, what in accepted.items())
    return f"{has}, shared because that was accepted" if has else ""


def _found_in_columns(texts: Iterable[tuple[str, Sequence[str]]], replayed: Replayed) -> Iterator[tuple[str, str]]:
    """Yield columns with the kinds of values that they show: recognised by form, from the table, and their own."""
    for columns in _grouped(texts):
        found = contents_of_each([text_array(mine) for _, mine in columns])
        for (name, mine), contents in zip(columns, found, strict=True):
            counted = (kind for kind, place, content in contents if _counts(kind, content, mine[place]))
            yield from ((name, CONTENTS[kind].plural) for kind in counted)
            yield from ((name, f"{kind}{_OF_THE_TABLE}") for kind, _ in replayed.found_in(mine))
            own = (kind for text in mine if (kind := replayed.lists_own(name, text)) is not None)
            yield from ((name, f"{kind}{_OF_THE_TABLE}") for kind in own)


def _grouped(texts: Iterable[tuple[str, Sequence[str]]]) -> Iterator[list[tuple[str, Sequence[str]]]]:
    """Yield groups of columns with enough texts for an efficient search."""
    group: list[tuple[str, Sequence[str]]] = []
    for column in texts:
        group.append(column)
        if sum(len(mine) for _, mine in group) >= _SEARCHED:
            yield group
            group = []
    yield group


def texts_written(table: Table) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and distinct texts of each column of a written table, some thousand records at a time.

    Short numbers are omitted. Texts may repeat only if there are many.

    Raises:
        TableError: It cannot be read.
    """
    seen: dict[str, set[str]] = {name: set() for name in table.columns}
    for names, columns in table.different(table.columns):
        for name, different in zip(names, columns, strict=True):
            telling = different.filter(pc.match_substring_regex(different, _TELLING_ANYTHING)).to_pylist()
            texts = [text for text in telling if text not in seen[name]]
            if len(seen[name]) < _MOST_SEEN:
                seen[name].update(texts)
            yield name, texts


def texts_of_entry(entry: EntryDocument) -> dict[str, list[str]]:
    """Return the values that an entry lists, of the label and of each attribute, raw and masked."""
    texts = {entry.label.name: list(entry.label.domain)}
    for attribute in entry.attributes:
        listed = [attribute.domain, *(masking.domain for masking in attribute.maskings)]
        texts[attribute.name] = list(dict.fromkeys(text for domain in listed for text in domain))
    return texts


def _counts(kind: str, content: str, text: str) -> bool:
    """Whether content identifies: not in a range of integers from a round one, like masked numbers: `60000-64999`."""
    ends = _RANGE.fullmatch(text)
    is_range = ends is not None and len(ends[1]) == len(ends[2]) and int(ends[1]) < int(ends[2])
    return not is_range and (kind not in BY_CHANCE or len(content) < len(text.strip()))


def identifying_texts(texts: pa.Array) -> list[str]:
    """Return the texts with identifying contents, recognised by form."""
    texts = texts.drop_null()
    found = ((texts[place].as_py(), kind, content) for kind, place, content in contents_of(texts))
    return list(dict.fromkeys(text for text, kind, content in found if _counts(kind, content, text)))


def called(reason: str) -> str | None:
    """Return the kind of values of a column left out for this reason; `None` if only parts identify persons."""
    if reason.endswith(PARTLY) or reason.startswith(_IDENTIFIES_NOBODY):
        return None
    if reason == "free text":
        return _NOTES
    return next((content.plural for content in CONTENTS.values() if content.plural in reason), _OTHERS)


def _identifying(
    texts: pa.Array, whole: str | None, words: pa.Array, contents: Iterable[tuple[str, int, str]]
) -> Iterator[tuple[str, str]]:
    if whole is not None:
        telling = filter(_TELLING.fullmatch, texts.to_pylist())
        yield from ((whole, _plain(text)) for text in telling if text.isdigit() or not is_quantity(text))
    for kind, place, content in contents:
        if kind not in BY_CHANCE or len(content) < len(words[place].as_py()):
            yield CONTENTS[kind].plural, _plain(content)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _runs(text: str) -> Iterator[str]:
    """Yield a text and all runs of up to five of its words, in the form of stored values."""
    words = _plain(text).split()
    yield " ".join(words)
    for start in range(len(words)):
        for end in range(start + 1, min(start + _MOST_WORDS, len(words)) + 1):
            run = " ".join(words[start:end])
            yield run
            yield run.strip(".,;:!?()[]{}<>\"'|")
