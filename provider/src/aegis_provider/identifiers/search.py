"""Searches a table for identifying columns, and refuses those shared unmasked, unless the provider accepts them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import isfinite
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.errors import IdentifierError, TableError, shortened
from aegis_provider.identifiers.columns import identifies, is_code_like, may_stand_for_people
from aegis_provider.identifiers.contents import BY_CHANCE, CONTENTS, contents_of, contents_of_each
from aegis_provider.identifiers.values import Values, is_quantity
from aegis_provider.identifiers.written import PARTLY, Replayed, accepted_in, identifying_texts, texts_of_entry
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.table import Table
from aegis_provider.table.arrays import text_array
from aegis_provider.table.discretization import is_number, number_of
from aegis_provider.table.files import refuse_more_columns
from aegis_provider.table.values import MISSING, ValueType, infer_type
from aegis_sdk.reading import Share
from aegis_sdk.wire import EntryDocument

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
    return [
        replace(column, contents=_counted(column, contents))
        for column, contents in zip(columns, contents_of_each(texts), strict=True)
    ]


def _counted(values: Values, found: Iterable[tuple[str, int, str]]) -> dict[str, tuple[int, int]]:
    """Return for each kind of content the number of values that contain it, and of those that do among other words."""
    cells: dict[str, set[int]] = {kind: set() for kind in CONTENTS}
    among_words: Counter[str] = Counter()
    for kind, place, content in found:
        cells[kind].add(place)
        among_words[kind] += len(content) < len(values.texts[place].strip())
    return {kind: (len(places), among_words[kind]) for kind, places in cells.items() if places}


def _in_any_cell(table: Table, values: Values) -> str | None:
    """Search the values that `values.texts` lacks for contents."""
    if values.kind != "string" or values.distinct <= len(values.sample):
        return None
    reading, distinct = table.reading(values.name), table.keys([values.name]).distinct()
    for batch in table.engine.stream(distinct.select(v0=reading.text(distinct["v0"])), _RECORDS_PER_BATCH):
        texts = reading.canonical(batch.column(0))
        for kind, place, found in contents_of(texts):
            if kind not in BY_CHANCE or len(found) < len(texts[place].as_py().strip()):
                return f"contains {CONTENTS[kind].plural} in some records"
    return None


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


_NUMBERS: Final = {ValueType.INTEGER, ValueType.NUMBER}


def identifying_in_entry(entry: EntryDocument) -> dict[str, str]:
    """Return the columns of an entry that identify persons, by name, by a value or by all values, with the reasons."""
    texts = texts_of_entry(entry)
    shown = accepted_in([*texts.items(), *((name, [name]) for name in texts)], Replayed({}))
    columns = []
    for attribute in entry.attributes:  # as if all values were equally frequent
        listed = tuple(text for text in attribute.domain if text != MISSING)
        numbers = [*map(float, listed)] if infer_type(listed) in _NUMBERS else []  # an entry also lists intervals
        extent = max(numbers) - min(numbers) if numbers else None
        known = entry.records if numbers else 0
        columns.append(Values(attribute.name, entry.records, entry.records, len(listed), known, extent, listed))
    reasons = {column.name: reason for column in with_contents(columns) if (reason := identifies(column))}
    return reasons | {name: f"shows {what}" for name, what in shown.items()}


_COLUMNS_PER_READING: Final = 60

#: Maximum columns of a table to survey.
MOST_COLUMNS: Final = 2_000

# With more values, this many at both ends are sampled, and this many that are neither plain numbers nor dates.
_SAMPLED: Final = 2_000
_PLAIN: Final = "^([+-]?(0|[1-9][0-9]*)?([.][0-9]*)?|[0-9]{4}-[0-9]{2}-[0-9]{2})$"


def values_of(table: Table, names: Sequence[str]) -> list[Values]:
    """Survey these columns.

    The table is read twice for every 60 uncounted columns, and three times more for each column with many values.

    Raises:
        TableError: The table cannot be read, has no records, or has too many columns.
    """
    refuse_more_columns(table.name, names, MOST_COLUMNS)
    starts = range(0, len(names), _COLUMNS_PER_READING)
    return [each for start in starts for each in _surveyed(table, names[start : start + _COLUMNS_PER_READING])]


def _surveyed(table: Table, names: Sequence[str]) -> list[Values]:
    counted = dict(zip(names, map(table.known_counts, names), strict=True))
    rest = [name for name, known in counted.items() if known is None]
    if (texts := table.in_memory(rest)) is not None:
        counted |= {
            name: pa.Table.from_struct_array(column.value_counts()).rename_columns(["text", "n"])
            for name, column in zip(rest, texts.columns, strict=True)
        }
    surveyed = {name: _of_counts(table, name, known) for name, known in counted.items() if known is not None}
    if missing := [name for name in names if name not in surveyed]:
        surveyed |= {query.name: query for query in _by_queries(table, missing)}
    return [surveyed[name] for name in names]


def _of_counts(table: Table, name: str, counted: pa.Table) -> Values:
    """Survey a counted column."""
    records = dict(zip(counted["text"].to_pylist(), counted["n"].to_pylist(), strict=True))
    if not records:
        raise TableError(f"{table.name}: the table has no records")
    total, missing = sum(records.values()), records.pop(MISSING, 0)
    is_text = table.has_texts(name)
    if is_text:
        numbers = {text: float(text) for text in records if is_number(text)}
    else:
        dtype = table.source[f"c{table.columns.index(name)}"].type()
        is_number_type = dtype.is_numeric() and not dtype.is_boolean()
        each = ((text, float(text)) for text in (records if is_number_type else ()))
        numbers = {text: number for text, number in each if isfinite(number)}
    extent = max(numbers.values()) - min(numbers.values()) if numbers else None
    known, sample = sum(records[text] for text in numbers), _sampled(records, is_text=is_text)
    return Values(name, total, total - missing, len(records), known, extent, sample)


def _sampled(texts: Collection[str], *, is_text: bool) -> tuple[str, ...]:
    """Return the texts in order; of many, the first, the last, and the odd ones of a column of texts."""
    ordered = sorted(texts)
    if len(ordered) <= _SAMPLED:
        return tuple(ordered)
    odd = (text for text in ordered if re.fullmatch(_PLAIN, text) is None) if is_text else ()
    return tuple(sorted({*ordered[:_SAMPLED], *ordered[-_SAMPLED:], *islice(odd, _SAMPLED)}))


def _by_queries(table: Table, names: Sequence[str]) -> list[Values]:
    """Survey columns by one query for all, one for columns with few values, and more for columns with many."""
    keys = table.keys(names, names)
    asked: dict[str, Any] = {"n": keys.count()}
    for place, name in enumerate(names):
        asked |= {f"known{place}": keys[f"v{place}"].count(), f"distinct{place}": keys[f"v{place}"].nunique()}
        dtype = table.source[f"c{table.columns.index(name)}"].type()
        if dtype.is_string() or (dtype.is_numeric() and not dtype.is_boolean()):
            number = number_of(keys[f"{'v' if dtype.is_string() else 'w'}{place}"])
            asked |= {f"numbers{place}": number.count(), f"extent{place}": number.max() - number.min()}
    seen = table.engine.fetch(keys.aggregate(**asked)).to_pylist()[0]
    if not seen["n"]:
        raise TableError(f"{table.name}: the table has no records")
    few = [name for place, name in enumerate(names) if seen[f"distinct{place}"] <= _SAMPLED]
    whole = dict(zip(few, table.values(few), strict=True)) if few else {}
    columns = []
    for place, name in enumerate(names):
        sample = _sampled(whole[name].to_pylist(), is_text=False) if name in whole else _sample(table, name)
        numbers, extent = seen.get(f"numbers{place}", 0), seen.get(f"extent{place}")
        known, distinct = seen[f"known{place}"], int(seen[f"distinct{place}"])
        columns.append(Values(name, seen["n"], known, distinct, numbers, extent, sample))
    return columns


def _sample(table: Table, name: str) -> tuple[str, ...]:
    """Return the first, the last, and the odd ones of the many texts of a column."""
    reading, key = table.reading(name), table.keys([name])
    values = key.distinct()
    texts = values.select(v0=reading.text(values["v0"]))
    ends = [texts.order_by(order).limit(_SAMPLED) for order in (texts["v0"].asc(), texts["v0"].desc())]
    if key["v0"].type().is_string():
        ends.append(texts.filter(~texts["v0"].re_search(_PLAIN)).order_by("v0").limit(_SAMPLED))
    shown = [reading.canonical(table.engine.fetch(end)["v0"].combine_chunks()).to_pylist() for end in ends]
    return tuple(sorted({text for each in shown for text in each} - {MISSING}))


def shared_as_they_are(plan: Plan, configurations: Collection[Configuration]) -> list[str]:
    """Return the label, and the attributes that one of the configurations shares unmasked; none that is in bins."""
    return [
        *(name for name in (plan.label,) if name not in plan.binned),
        *(
            attribute.name
            for attribute in plan.attributes
            if attribute.discretization is None
            and any(one.maskings[attribute.name] == IDENTITY for one in configurations)
        ),
    ]


def identifying_in(table: Table, plan: Plan, names: Collection[str] | None = None) -> dict[str, str]:
    """Return why the label, attributes of a plan, or these columns of it identify persons, where they do.

    Raises:
        TableError: The table cannot be read or lacks a column.
    """
    columns = [plan.label, *(attribute.name for attribute in plan.attributes)] if names is None else list(names)
    counted = [
        attribute.name
        for attribute in plan.attributes
        if attribute.discretization is None and attribute.name in columns
    ]
    table.keep_counts(counted, plan.label)  # reused when the plan's table is counted, except where numbers are binned
    return _identifying_beside(table, columns, plan.left_out)


def _identifying_beside(table: Table, names: Collection[str], left_out: Collection[str]) -> dict[str, str]:
    """Return the columns that identify persons, also by comparison with columns left out."""
    beside = [name for name in left_out if name in table.columns and name not in names]
    reasons = identifying(table, values_of(table, [*names, *beside]))
    return {name: reason for name, reason in reasons.items() if name in names}


def refuse_identifiers(
    table: Table,
    where: str,
    names: Collection[str],
    instead: str = "",
    *,
    label: str | None = None,
    left_out: Collection[str] = (),
    known: Mapping[str, str] | None = None,
) -> None:
    """Refuse to share these columns unmasked if one of them identifies persons.

    Args:
        where: The place that shares them, for the message.
        instead: The remedy; by default that for the attribute of a plan.
        left_out: Columns left out, since others may identify the same people.
        known: Why columns identify persons, if known already.

    Raises:
        IdentifierError: A column identifies persons.
        TableError: The table cannot be read or lacks a column.
    """
    reasons = _identifying_beside(table, names, left_out) if known is None else known
    for name, reason in ((each, reasons[each]) for each in names if each in reasons):
        do = (
            "choose another label"
            if name == label
            else instead or f"set identity: false for it in {where}, or remove it"
        )
        raise IdentifierError(f"{where}: shares {shortened(name)} as it is: {told(table, name, reason)}; {do}")


def told(table: Table, name: str, reason: str) -> str:
    """Return a reason for the provider only: if some records identify persons, with their share and the first of them.

    Raises:
        TableError: The table cannot be read.
    """
    if not reason.endswith(PARTLY):
        return reason
    records, found, first = 0, 0, None
    for batch in table.batches([name]):
        [column] = batch.columns
        places = pc.indices_nonzero(pc.is_in(column, pa.array(identifying_texts(pc.unique(column)), column.type)))
        if first is None and len(places):
            first = records + places[0].as_py() + 1
        records, found = records + len(column), found + len(places)
    if first is None:
        return reason
    share = f"{Share(found / records)} of the records, first in record {first:,}"
    return f"{reason} ({share}): leave these cells empty to share it"
