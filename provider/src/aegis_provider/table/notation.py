"""The notation of a column of texts, and its recognition: decimal marks, orders of dates, odd texts, and case.

A column has one notation, which all its texts decide together: `01.02.1999` is in January or in February, and `1,045`
is above or below 2. The engine then reads it as plain decimals and dates (YYYY-MM-DD), so that all later steps see a
plain table.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.table.engine import Expression, ibis
from aegis_provider.table.reading import AS_TEXT, Reading
from aegis_provider.table.table import Table
from aegis_provider.table.values import MISSING, ValueType, infer_type

_BLANKS: Final = " \t\u00a0\u202f"
BETWEEN_THOUSANDS: Final = " \u00a0\u202f'\u2019"
MARKS: Final = {".": ",", ",": "."}
ORDERS: Final = ("ymd", "dmy", "mdy")

MONTHS: Final = {  # by their first letters in some languages, without accents
    1: "jan ene gen",
    2: "feb fev",
    3: "mar mrt",
    4: "apr avr abr",
    5: "may mai mei mag",
    6: "jun juin giu",
    7: "jul juil lug",
    8: "aug aou ago",
    9: "sep set",
    10: "oct okt ott",
    11: "nov",
    12: "dec dez dic",
}
_ACCENTS: Final = {"ä": "a", "é": "e", "û": "u", "ç": "c"}

_BETWEEN: Final = "[-/., ]+"
_DAY, _MONTH, _YEAR = "([0-9]{1,2})(?:st|nd|rd|th)?", "([0-9]{1,2}|[a-z]{3,10})", "([0-9]{4})"
_MIDNIGHT: Final = "(?:[ t]+00:00(?::00(?:[.]0+)?)?(?:z|[-+][0-9]{2}(?::?[0-9]{2})?)?)?"
_PARTS: Final = {"y": _YEAR, "m": _MONTH, "d": _DAY}

_LEAP: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29"
_SOME_YEAR: Final = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_CALENDAR: Final = (
    f"^({_LEAP}|{_SOME_YEAR}-(((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01]))|((0[469]|11)-(0[1-9]|[12][0-9]|30))"
    "|(02-(0[1-9]|1[0-9]|2[0-8]))))$"
)
_WHOLE: Final = "(0|[1-9][0-9]*)"  # a leading zero marks a code
_PLAIN: Final = {
    # A bare exponent, as in 1E1, may be a code.
    "numbers": (f"^[-+]?({_WHOLE}([eE][-+][0-9]{{1,3}})?|({_WHOLE}[.][0-9]*|[.][0-9]+)([eE][-+]?[0-9]{{1,3}})?)$"),
    "dates": _CALENDAR,
}


@dataclass(frozen=True)
class Plain:
    """Plain decimals, or plain dates: every value is its own plain text."""

    values: str

    @property
    def field(self) -> str:
        """The type."""
        return f"type: {self.values.removesuffix('s')}"

    def plain(self, text: str) -> str | None:
        """Return the text."""
        return text if re.fullmatch(_PLAIN[self.values], text) else None

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine."""
        return value.re_search(_PLAIN[self.values]).ifelse(value, None)


def _numbers(decimal: str) -> re.Pattern[str]:
    mark, between = f"[{decimal}]", f"[{MARKS[decimal]}{BETWEEN_THOUSANDS}]"
    whole = f"([1-9][0-9]{{0,2}}({between}[0-9]{{3}})+|{_WHOLE})"
    number = f"({whole}({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]{{1,3}})?"
    return re.compile(f"^[{_BLANKS}]*[-+\u2212]?{number}[{_BLANKS}]*$")


_NUMBERS: Final = {mark: _numbers(mark) for mark in MARKS}
_TO_PLAIN: Final = {
    mark: str.maketrans({**dict.fromkeys(other + BETWEEN_THOUSANDS + _BLANKS, ""), mark: ".", "\u2212": "-"})
    for mark, other in MARKS.items()
}


@dataclass(frozen=True)
class Numbers:
    """Numbers with this decimal mark; thousands may be separated by the other mark, blanks or apostrophes."""

    decimal: str = "."

    values: ClassVar[str] = "numbers"

    @property
    def field(self) -> str:
        """The decimal mark."""
        return f'decimal: "{self.decimal}"'

    def plain(self, text: str) -> str | None:
        """Return the number with a decimal point and no thousands separators."""
        return text.translate(_TO_PLAIN[self.decimal]) if _NUMBERS[self.decimal].fullmatch(text) else None

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine."""
        between = f"[{MARKS[self.decimal]}{BETWEEN_THOUSANDS}{_BLANKS}]"
        digits = value.re_replace(between, "").replace(self.decimal, ".").replace("\u2212", "-")
        return value.re_search(_NUMBERS[self.decimal].pattern).ifelse(digits, None)


def _steps(order: str) -> Sequence[tuple[str, str]]:
    """Return the replacements that turn dates in this order into YYYY-MM-DD, in sequence."""
    date = f"^[ \t]*{_BETWEEN.join(_PARTS[part] for part in order)}{_MIDNIGHT}[ \t]*$"
    in_order = "-".join(rf"\{order.index(part) + 1}" for part in "ymd")
    named = [(f"-({'|'.join(names.split())})[a-z]*-", f"-{number:02}-") for number, names in MONTHS.items()]
    return (*_ACCENTS.items(), (date, in_order), *named, ("-([0-9])-", r"-0\1-"), ("-([0-9])$", r"-0\1"))


@dataclass(frozen=True)
class Dates:
    """Dates with parts in this order, possibly with the name of the month, and midnight as the time.

    Dates in the form YYYY-MM-DD count, too, since they are unambiguous.
    """

    order: str = "ymd"

    values: ClassVar[str] = "dates"

    @property
    def field(self) -> str:
        """The order."""
        return f"dates: {self.order}"

    def plain(self, text: str) -> str | None:
        """Return the date as YYYY-MM-DD."""
        if not _MAY_BE_DATE.search(text):
            return None
        word = text.lower()
        for pattern, by in _STEPS[self.order]:
            word = re.sub(pattern, by, word)
        return word if re.fullmatch(_CALENDAR, word) else None

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine."""
        word = value.lower()
        for pattern, by in _STEPS[self.order]:
            word = word.re_replace(pattern, by)
        return word.re_search(_CALENDAR).ifelse(word, None)


Form: TypeAlias = Plain | Numbers | Dates
"""A notation of numbers or dates: the kind of `values`, the `field` of a plan that states it, and plain texts."""

# A fast check, since most texts are not dates.
_MAY_BE_DATE: Final = re.compile("[0-9]{4}.*[-/., ]|[-/., ].*[0-9]{4}", re.DOTALL)
_STEPS: Final = {order: _steps(order) for order in ORDERS}
FORMS: Final[Sequence[Form]] = (*map(Plain, _PLAIN), *map(Numbers, MARKS), *map(Dates, ORDERS))


MOST_ODD: Final = 0.01
"""The largest share of a column's cells that may be odd texts read as missing."""


@dataclass(frozen=True)
class Writing:
    """The notation of a column.

    Attributes:
        form: The form of its numbers or dates; `None` for texts.
        odd_as_missing: Whether odd texts are missing values; otherwise they do not change.
        fold_case: Whether values that differ only in case or surrounding blanks are merged, in lower case.
    """

    form: Form | None = None
    odd_as_missing: bool = False
    fold_case: bool = False

    @property
    def values(self) -> str:
        """The kind of values: `numbers`, `dates` or `texts`."""
        return "texts" if self.form is None else self.form.values

    @property
    def fields(self) -> Sequence[str]:
        """The fields of an attribute in a plan that state it, besides its type."""
        form = [] if self.form is None or isinstance(self.form, Plain) else [self.form.field]
        odd = ["odd_as_missing: true"] if self.odd_as_missing else []
        return [*form, *odd, *(["fold_case: true"] if self.fold_case else [])]

    @property
    def is_plain(self) -> bool:
        """Whether texts are read unchanged."""
        return self.form is None and not self.fold_case


PLAINLY: Final = Writing()


@dataclass(frozen=True, kw_only=True)
class Written(Reading):
    """The reading of a column of texts by its notation: its keys are plain texts."""

    writing: Writing

    def key(self, value: Expression) -> Expression:
        """Return the plain text."""
        text = super().key(value.strip().lower() if self.writing.fold_case else value)
        if self.writing.form is None:
            return text
        plain = self.writing.form.key(text)
        return plain if self.writing.odd_as_missing else ibis.coalesce(plain, text)


def plainly(table: Table, writings: Mapping[str, Writing]) -> Table:
    """Return the table with these columns of texts read by their notation; others do not change.

    Raises:
        TableError: More than one cell in a hundred would become missing.
    """
    stated = [name for name, writing in writings.items() if not writing.is_plain and name in table.columns]
    readings = {name: Written(writing=writings[name]) for name in stated if is_text(table, name)}
    _refuse_many_odd(table, {name: reading for name, reading in readings.items() if reading.writing.odd_as_missing})
    return table.read_as(readings) if readings else table


def is_text(table: Table, name: str) -> bool:
    """Return whether a column has texts that are read unchanged."""
    return table.reading(name) == AS_TEXT


def _refuse_many_odd(table: Table, readings: Mapping[str, Written]) -> None:
    if not readings:
        return
    asked: dict[str, Expression] = {}
    for n, (name, reading) in enumerate(readings.items()):
        text = AS_TEXT.key(table.source[f"c{table.columns.index(name)}"])
        asked |= {f"known{n}": text.count(), f"odd{n}": text.count() - reading.key(text).count()}
    [seen] = table.engine.fetch(table.source.aggregate(**asked)).to_pylist()
    for n, name in enumerate(readings):
        if seen[f"odd{n}"] > MOST_ODD * seen[f"known{n}"]:
            share = f"{seen[f'odd{n}']:,} of its {seen[f'known{n}']:,} values"
            raise TableError(
                f"{table.name}: {name}: {share} are not {readings[name].writing.values}, more than one in a "
                "hundred, so they cannot be left out as missing; clean them, or share them as `type: string`"
            )


_MOSTLY: Final = 0.9
_FEWEST_VALUES: Final = 5
_FEWEST_IF_MANY_ODD: Final = 20
_PROBED: Final = 200
_LIKELY: Final = 0.5
_SHOWN: Final = 3
_IN_A_CODE: Final = 2
_DIGIT: Final = re.compile("[0-9]")


@dataclass(frozen=True)
class Recognised:
    """The recognised content of a column of texts.

    Attributes:
        form: The notation of its numbers or dates.
        odd: The texts in no such notation, the most frequent first, with their records.
        records: The records with a value.
        example: A text that is not plain, to show how it was read; `None` without one.
    """

    form: Form
    odd: Mapping[str, int]
    records: int
    example: str | None = None

    @property
    def cells(self) -> int:
        """The number of odd cells."""
        return sum(self.odd.values())

    @property
    def has_many_odd(self) -> bool:
        """Whether there are more odd cells than may become missing."""
        return self.cells > MOST_ODD * self.records

    @property
    def in_words(self) -> str:
        """The content in words, such as `numbers, except '90+' (1 of 800 records)`; quotes make blanks visible."""
        shown = [shortened(text) for text in list(self.odd)[:_SHOWN]]
        more = f" and {len(self.odd) - _SHOWN} more" if len(self.odd) > _SHOWN else ""
        return f"{self.form.values}, except {', '.join(shown)}{more} ({self.cells:,} of {self.records:,} records)"

    @property
    def how_read(self) -> str | None:
        """The reading of a text that is not plain: `'3,5' is read as 3.5`."""
        if self.example is None:
            return None
        return f"{shortened(self.example)} is read as {self.form.plain(self.example)} ({self.form.field})"


class AmbiguousWritingError(UnmaskableValueError):
    """A column may be read in two ways, and nothing in it decides; the plan has to."""

    def __init__(self, text: str, forms: Sequence[Form]) -> None:
        first, second = (f"{form.plain(text)} (`{form.field}`)" for form in forms)
        super().__init__(text, f"may be {first} or {second}, and the others do not tell")
        self.field = forms[0].field


def recognised(counts: Mapping[str, int], declared: ValueType | None = None) -> Recognised | None:
    """Recognise a column of texts; `None` if it is plain, or of texts.

    It has numbers or dates if at least nine cells in ten are, with at least 20 different values, or 5 if at most one
    cell in a hundred is not. Digits of one length, some with a leading zero, are codes, and so are numbers in equally
    many groups (telephone numbers, IP addresses).

    Args:
        counts: The records of each text.
        declared: The type that a plan states.

    Raises:
        AmbiguousWritingError: Its numbers or dates are ambiguous.
    """
    records = {text: n for text, n in counts.items() if text != MISSING}
    if not records or (infer_type(records) is not ValueType.STRING and declared is None):
        return None
    total = sum(records.values())
    plain = {form: {text: form.plain(text) for text in records} for form in _likely(records, declared)}
    cells = {form: sum(records[text] for text, of in texts.items() if of is not None) for form, texts in plain.items()}
    enough = (1 - MOST_ODD) * total
    form = max(cells, key=lambda form: (isinstance(form, Plain) and cells[form] >= enough, cells[form]), default=None)
    if form is None:
        return None
    fitting = {text: of for text, of in plain[form].items() if of is not None}
    odd = {text: n for text, n in records.items() if text not in fitting}
    example = next((text for text, of in fitting.items() if of != text), None)
    result = Recognised(form, dict(sorted(odd.items(), key=lambda pair: (-pair[1], pair[0]))), total, example)
    fewest = 0 if not odd else _FEWEST_IF_MANY_ODD if result.has_many_odd else _FEWEST_VALUES
    is_known = result.cells <= (1 - _MOSTLY) * total and len(set(fitting.values())) >= fewest
    if not is_known or (declared is None and _are_codes(form, fitting, odd)) or (example is None and not odd):
        return None
    least = total if isinstance(form, Plain) else enough
    for other in (
        candidate for candidate in plain if cells[candidate] >= least and (odd or not isinstance(form, Plain))
    ):
        for text, of in fitting.items():
            if plain[other][text] not in (None, of):
                raise AmbiguousWritingError(text, sorted((form, other), key=FORMS.index))
    return result


def _likely(texts: Collection[str], declared: ValueType | None) -> list[Form]:
    """Return the forms of the declared type that most of some texts have."""
    probed = list(texts)[:: max(1, len(texts) // _PROBED)]
    if sum(_DIGIT.search(text) is not None for text in probed) < _LIKELY * len(probed):
        return []
    kinds = {None: ("numbers", "dates"), ValueType.DATE: ("dates",)}
    numeric = (ValueType.INTEGER, ValueType.NUMBER)
    suitable = ("numbers",) if declared in numeric else kinds.get(declared, ())
    forms = [form for form in FORMS if form.values in suitable]
    return [form for form in forms if sum(form.plain(text) is not None for text in probed) >= _LIKELY * len(probed)]


def are_likely(texts: Collection[str]) -> bool:
    """Return whether some of a column's texts look like numbers or dates, so that all of them must be examined."""
    return bool(texts) and bool(_likely(texts, None))


def _are_codes(form: Form, fitting: Mapping[str, str], odd: Mapping[str, int]) -> bool:
    """Return whether apparent numbers are codes: zip codes, telephone numbers, network addresses."""
    have_one_length = len({len(text) for text in (*fitting, *odd)}) == 1
    if odd and have_one_length and all(re.fullmatch("[0-9]+", text) for text in odd):
        return True
    if not isinstance(form, Numbers) or any(form.decimal in text for text in fitting):
        return False
    thousands = {len(re.findall(f"[{MARKS[form.decimal]}{BETWEEN_THOUSANDS}]", text)) for text in fitting}
    blanks = all(set(text) & set(BETWEEN_THOUSANDS) for text in fitting)
    return len(thousands) == 1 and (min(thousands) >= _IN_A_CODE or (have_one_length and blanks))


def recognised_in(table: Table, name: str, declared: ValueType | None = None) -> Recognised | None:
    """Recognise a column of texts, like `recognised`; `None` for other columns.

    Raises:
        TableError: The column is ambiguous, or the table cannot be read.
    """
    if not is_text(table, name):
        return None
    counted = table.combinations([name])
    texts, records = counted["v0"].combine_chunks().to_pylist(), counted["n"].to_pylist()
    return recognised_or_located(table, name, dict(zip(texts, records, strict=True)), declared)


def recognised_or_located(
    table: Table, name: str, counts: Mapping[str, int], declared: ValueType | None
) -> Recognised | None:
    """Recognise a column with counted texts; errors name the line.

    Raises:
        TableError: It may be read in two ways.
    """
    try:
        return recognised(counts, declared)
    except AmbiguousWritingError as fault:
        only = f"if only one of `label` and `attributes: {{{name}: {{{fault.field}}}}}` for `aegis plan start`"
        say = f"a plan must, {only}"
        raise TableError(f"{table.located(name, fault.text)}: {name}: {fault}; {say}") from fault


def odd_texts(table: Table, name: str, of: Recognised, place: str = "") -> TableError:
    """Return the error for a column of numbers or dates with some other texts, with the remedy in the plan.

    Args:
        place: The place of the attribute in the plan, in brackets.
    """
    rest = "clean them, or write `type: string` if they are texts"
    if not of.has_many_odd:
        rest = "write `odd_as_missing: true` to read such values as missing, or `type: string` if they are texts"
    return TableError(f"{table.located(name, next(iter(of.odd)))}: {name}: {of.in_words}; {rest}{place}")
