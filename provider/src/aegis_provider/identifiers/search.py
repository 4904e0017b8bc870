"""Searches a table for identifying columns: all distinct values, and pairs of columns."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.identifiers.columns import identifies, is_code_like, may_stand_for_people
from aegis_provider.identifiers.contents import BY_CHANCE, CONTENTS, contents_of, contents_of_each
from aegis_provider.identifiers.values import Values, is_quantity
from aegis_provider.table import Table
from aegis_provider.table.arrays import text_array

_RECORDS_PER_BATCH: Final = 1 << 16
_MOST_PAIRS: Final = 60
_ALIKE: Final = 0.85
_SAME: Final = 1.03
_FEWEST_PEOPLE: Final = 30
# Without further evidence, since ages and years of birth also determine each other.
_FEWEST_UNKNOWN: Final = 130
_REPEATED: Final = 1.2

# A number inside a code, such as a customer's in HAPPY-BDAY-4048.
_NUMBER: Final = re.compile(r"(?<!\d)\d{3,}(?!\d)")
_FEWEST_NUMBERED: Final = 10
_FEWEST_MATCHES: Final = 3
_MOST_PER_CODE: Final = 1.2


def identifying(table: Table, columns: Sequence[Values]) -> dict[str, str]:
    """Return the columns that identify persons, each with the reason in one short sentence without numbers or values.

    Raises:
        TableError: The table cannot be read.
    """
    reasons: dict[str, str] = {}
    for content in with_contents([column for column in columns if column.known]):
        reason = identifies(content) or _in_any_cell(table, content)
        if reason is not None:
            reasons[content.name] = reason
    reasons |= dict(_one_to_one(table, columns, reasons))
    return reasons | dict(_with_numbers(table, columns, reasons))


def with_contents(columns: Sequence[Values]) -> list[Values]:
    """Return the values of columns, including the contents of their texts."""
    texts = [text_array(column.texts if column.kind == "string" else ()) for column in columns]
    return [_with(*both) for both in zip(columns, contents_of_each(texts), strict=True)]


def _with(values: Values, found: Iterable[tuple[str, int, str]]) -> Values:
    cells: dict[str, set[int]] = {}
    among_words: Counter[str] = Counter()
    for kind, place, content in found:
        cells.setdefault(kind, set()).add(place)
        among_words[kind] += len(content) < len(values.texts[place].strip())
    contents = {kind: (len(places), among_words[kind]) for kind, places in cells.items()}
    return replace(values, contents={kind: contents[kind] for kind in CONTENTS if kind in contents})


def _in_any_cell(table: Table, values: Values) -> str | None:
    """Search the values that `values.texts` lacks for contents."""
    if values.kind != "string" or values.distinct <= len(values.sample):
        return None
    for texts in texts_of(table, values.name):
        for kind, place, found in contents_of(texts):
            if kind not in BY_CHANCE or len(found) < len(texts[place].as_py().strip()):
                return f"contains {CONTENTS[kind].plural} in some records"
    return None


def texts_of(table: Table, name: str) -> Iterator[pa.Array]:
    """Yield the distinct texts of a column, some thousand at a time.

    Raises:
        TableError: The table cannot be read.
    """
    reading, values = table.reading(name), table.keys([name]).distinct()
    for batch in table.engine.stream(values.select(v0=reading.text(values["v0"])), _RECORDS_PER_BATCH):
        yield reading.canonical(batch.column(0))


def _one_to_one(table: Table, columns: Sequence[Values], reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield columns whose values correspond one-to-one to those of an identifier."""
    people = [
        column for column in columns if column.distinct >= _FEWEST_PEOPLE and column.records_per_value >= _REPEATED
    ]
    known = [column for column in people if column.name in reasons]
    others = [column for column in people if column.name not in reasons and may_stand_for_people(column)]
    pairs = [(one, other) for one in known for other in others]
    codes = [each for each in others if is_code_like(each)]
    alone = [code for code in codes if code.distinct >= _FEWEST_UNKNOWN and code.records_per_value <= 20]
    pairs += combinations(alone, 2)
    alike = [(one, other) for one, other in pairs if _ALIKE <= one.distinct / other.distinct <= 1 / _ALIKE]
    for one, other in alike[:_MOST_PAIRS]:
        keys = table.keys([one.name, other.name])
        both = int(table.engine.fetch(keys.distinct().aggregate(n=keys.distinct().count()))["n"][0].as_py())
        if both <= _SAME * max(one.distinct, other.distinct):
            reason = "has about one value for each value of another identifier"
            yield other.name, reason
            if one.name not in reasons:
                yield one.name, reason


def _with_numbers(table: Table, columns: Sequence[Values], reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield columns with codes that contain a person's number, such as HAPPY-BDAY-4048, among codes that many share."""
    known = [column.name for column in columns if column.name in reasons and any(map(_NUMBER.search, column.texts))]
    for column in columns:
        numbered = [text for text in column.texts if _NUMBER.search(text) and not is_quantity(text)]
        if (
            column.name in reasons
            or column.kind != "string"
            or len(numbered) < _FEWEST_MATCHES
            or column.header.is_place
        ):
            continue
        if known and _has_numbers_of(table, column.name, known):
            yield column.name, "contains codes with the number of another identifier"
        elif len(numbered) >= _FEWEST_NUMBERED and _is_numbered_alike(table.counts_of_values(column.name)):
            yield column.name, "contains numbered codes that hardly any two records share"


def _has_numbers_of(table: Table, name: str, known: Sequence[str]) -> bool:
    """Return whether several values contain a number from an identifier of the same record."""
    matching: set[str] = set()
    for batch in table.batches([name, *known]):
        texts, *identifiers = (pa.array(column) for column in batch.columns)
        places = pc.indices_nonzero(pc.match_substring_regex(texts, r"\d{3}"))
        rows = zip(
            texts.take(places).to_pylist(),
            *(identifier.take(places).to_pylist() for identifier in identifiers),
            strict=True,
        )
        for text, *others in set(rows):
            digits = {"".join(filter(str.isdigit, other)) for other in others}
            if not digits.isdisjoint(_NUMBER.findall(text)):
                matching.add(text)
        if len(matching) >= _FEWEST_MATCHES:
            return True
    return False


def _is_numbered_alike(records: Mapping[str, int]) -> bool:
    """Return whether some codes differ only in their number, and are nearly unique."""
    numbered: dict[str, list[int]] = {}
    for text, number in records.items():
        if _NUMBER.search(text) and not is_quantity(text):
            numbered.setdefault(_NUMBER.sub("#", text), []).append(number)
    return any(len(each) >= _FEWEST_NUMBERED and sum(each) <= _MOST_PER_CODE * len(each) for each in numbered.values())
