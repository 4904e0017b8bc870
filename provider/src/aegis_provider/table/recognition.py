"""Recognition of a column of texts: numbers or dates, their notation, and the texts among them that are neither."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.table.forms import BETWEEN_THOUSANDS, FORMS, MARKS, Form, Numbers, Plain
from aegis_provider.table.table import Table
from aegis_provider.table.values import MISSING, ValueType, infer_type
from aegis_provider.table.writing import MOST_ODD, is_text

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
        table: The table.
        name: The column.
        of: Its recognised content.
        place: The place of the attribute in the plan, in brackets.
    """
    rest = "clean them, or write `type: string` if they are texts"
    if not of.has_many_odd:
        rest = "write `odd_as_missing: true` to read such values as missing, or `type: string` if they are texts"
    return TableError(f"{table.located(name, next(iter(of.odd)))}: {name}: {of.in_words}; {rest}{place}")
