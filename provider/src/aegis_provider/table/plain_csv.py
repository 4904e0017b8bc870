"""Normalisation of real-world CSV files before an engine reads them.

Spreadsheets, statistics programs and people write titles above the header, a total below the records, an extra
delimiter at the end of lines, line ends of several kinds, and other encodings than UTF-8. The records of such a file
are copied into a folder that only its owner can read, and the copy is removed with the table.
"""

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import StringIO
from itertools import islice, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TextIO

from aegis_provider.errors import TableError, shortened
from aegis_provider.table.table import DELIMITERS

OLDER: Final = {"cp1252": "Windows-1252", "mac_roman": "Mac Roman", "cp1250": "Windows-1250"}
"""The names of the encodings. In doubt, the first."""

_USUAL: Final = "cp1252"
_LOOKED_AT: Final = 20_000
_NEARLY_ALL: Final = 0.95
_CLEARLY: Final = 0.1

_EVERYWHERE: Final = "äöüßéºªµ"  # in names, loanwords and abbreviations
_WESTERN: Final = (
    "",
    "àâæçèêëîïôœùûÿ",
    "áíóúñçàèòï",
    "áàâãçêíóôõú",
    "àèìíòóùú",
    "åæøóôêè",
    "áíóúýþðæ",
    "èëïáóúíêç",
)
_CENTRAL: Final = ("ąćęłńóśźż", "áčďěíĺľňóôŕřšťúůýž", "áíóőúű", "čćđšž", "ăâîşţ")
_LANGUAGES: Final = {"cp1252": _WESTERN, "mac_roman": _WESTERN, "cp1250": _CENTRAL}
"""The non-ASCII letters of each language written in the encoding."""

_IN_WORDS: Final = "\u2019\u2013\u2014"  # the apostrophe and the dashes of word processors


def encoding_by_letters(text: bytes) -> str:
    """Return the encoding of a text that is not UTF-8: Windows-1252, unless another one clearly fits a language.

    Greek and Cyrillic encodings are not supported.
    """
    shares = {encoding: _share(text.decode(encoding, "replace"), _LANGUAGES[encoding]) for encoding in OLDER}
    likely = max(shares, key=shares.__getitem__)
    return likely if shares[likely] >= max(_NEARLY_ALL, shares[_USUAL] + _CLEARLY) else _USUAL


def _share(text: str, languages: tuple[str, ...]) -> float:
    """Return the share of the words' non-ASCII letters in the best-fitting language; 1 without any."""
    letters = list(islice(_letters_of_words(text), _LOOKED_AT))
    alphabets = [frozenset(_EVERYWHERE + language) for language in languages]
    return (
        max(sum(letter in alphabet for letter in letters) for alphabet in alphabets) / len(letters) if letters else 1.0
    )


def _letters_of_words(text: str) -> Iterator[str]:
    """Yield the non-ASCII characters next to a letter, in lower case, except marks.

    A capital after a small letter is not a letter of a word.
    """
    for match in re.finditer(r"[^\x00-\x7f]", text):
        place, letter = match.start(), match.group()
        before, after = text[max(0, place - 1) : place].isalpha(), text[place + 1 : place + 2].isalpha()
        is_mark = letter in _IN_WORDS or not (letter.isalpha() or (before and after))
        if not is_mark and (before or after):
            yield "" if letter.isupper() and text[place - 1].islower() else letter.lower()


UNNAMED: Final = "Unnamed: 0"
"""The name in pandas of a first column without one, which is the index of a frame written as CSV."""

_HEAD: Final = 4 << 20
_TAIL: Final = 256 << 10
_LINES: Final = 50
_TOTALS: Final = 2
_SEPARATED: Final = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_TOTAL: Final = re.compile(
    r"\W*(grand\s+|sub|eind|hoved)?(totals?|totalt|totale|totaal|totaux|toplam|sums?|summe|summa|somme|somma|soma|suma|"
    r"gesamt|gesamtsumme|gesamtergebnis|insgesamt|i\s?alt|razem|ogółem|łącznie|celkem|összesen|yhteensä)"
    r"(\s+(général|generale?|geral|complessivo|końcowa))?\W*\d*\W*",
    re.IGNORECASE,
)
_FRAME: Final = "or read it with pandas ({}) and give the frame to aegis_provider.release"
_SIGNS: Final = {
    re.compile(rb"PK\x03\x04"): "an Excel workbook, or another archive; save the sheet as CSV UTF-8, "
    + _FRAME.format("read_excel"),
    re.compile(rb"\xd0\xcf\x11\xe0"): "an old Excel workbook; save the sheet as CSV UTF-8",
    re.compile(rb"\x1f\x8b"): "compressed; unpack it with gunzip first",
    re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*[\"}]"): "JSON; save it as CSV UTF-8, " + _FRAME.format("read_json"),
    re.compile(rb"ARROW1\0\0"): "an Arrow file; save it as Parquet, " + _FRAME.format("read_feather"),
    re.compile(rb"\$FL[23]"): "a file of SPSS; save it as CSV UTF-8, " + _FRAME.format("read_spss"),
    re.compile(rb"<stata_dta>"): "a file of Stata; save it as CSV UTF-8, " + _FRAME.format("read_stata"),
    re.compile(rb"\0{12}\xc2\xea\x81\x60"): "a file of SAS; save it as CSV UTF-8, " + _FRAME.format("read_sas"),
}
"""The first bytes of files that are not CSV, and the remedy."""

_NAMES: Final = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", **OLDER}
_LETTER: Final = "[A-Za-zÀ-ÖØ-öø-ÿŒœŠšŽžŸ]"
_WORD: Final = re.compile(f"{_LETTER}{{4,}}")

LONGEST_LINE: Final = 2 << 20
"""The longest line, in characters here, and in bytes for DuckDB."""


class LongLineError(csv.Error):
    """A line is too long."""


@dataclass(frozen=True)
class CsvForm:
    """The form of a CSV file.

    Attributes:
        above: The number of lines above the header.
        below: The number of lines at the end that are totals, or blank next to one.
        spare: The places of columns without a name; they must be empty.
        mixed: Whether lines end in several ways.

    An engine can read a file of the default form unchanged.
    """

    encoding: str = "utf-8-sig"
    above: int = 0
    below: int = 0
    spare: tuple[int, ...] = ()
    mixed: bool = False

    @property
    def name(self) -> str:
        """The encoding, and the parts that do not belong to the table, in words."""
        parts = {
            "line{} above the header": self.above,
            "blank or total line{} at the end": self.below,
            "column{} without a name and values": len(self.spare),
        }
        said = [f"{number} {what.format('s' * (number != 1))}" for what, number in parts.items() if number]
        assumed = ["assumed by its letters: save it as UTF-8 if they look wrong"] if self.encoding in OLDER else []
        notes = [*assumed, *([f"{', '.join(said)} left out"] if said else [])]
        return _NAMES[self.encoding] + (f" ({'; '.join(notes)})" if notes else "")


@contextmanager
def plain_files(paths: Sequence[Path], delimiter: str) -> Iterator[tuple[list[Path], list[CsvForm]]]:
    """Yield the files, or plain copies of those that are not plain, with the form of each.

    Raises:
        TableError: A file is not CSV, a record has more or fewer fields than the header, or a column has values but no
        name.
    """
    forms = _alike(paths, [form_of(path, delimiter) for path in paths])
    with TemporaryDirectory(prefix="aegis-") as folder:
        plain = []
        for place, (path, form) in enumerate(zip(paths, forms, strict=True)):
            copy = path if form == CsvForm() else Path(folder, f"{place}.csv")
            if copy is not path:
                _copy(path, copy, delimiter, form)
            plain.append(copy)
        yield plain, forms


def _alike(paths: Sequence[Path], forms: list[CsvForm]) -> list[CsvForm]:
    """Return the forms with a common older encoding, chosen by the letters of all files that are not UTF-8.

    A single file may have too few letters, and a word must not become two.
    """
    older = [path for path, form in zip(paths, forms, strict=True) if form.encoding in OLDER]
    if len({form.encoding for form in forms} & OLDER.keys()) < 2:  # noqa: PLR2004 - two that differ
        return forms
    encoding = encoding_by_letters(b"\n".join(_bytes_of(path, 0, _HEAD // len(older)) for path in older))
    return [replace(form, encoding=encoding) if form.encoding in OLDER else form for form in forms]


def form_of(path: Path, delimiter: str) -> CsvForm:
    """Recognise the form of a file from its beginning and its end.

    Raises:
        TableError: It is not CSV.
    """
    head = _bytes_of(path, 0, _HEAD)
    for sign, what in _SIGNS.items():
        if sign.match(head):
            raise TableError(f"{path}: is {what}")
    encoding = _encoding_of(head)
    text = _text(head, encoding)
    if encoding in OLDER:
        _refuse_other_alphabets(path, text)
    above, header = _header_in(text, delimiter)
    _refuse_other_delimiter(path, text.splitlines()[:above], header, delimiter)
    spare = tuple(place for place, name in enumerate(header) if place and not name.strip())
    below = _below(_tail_of(path, encoding), delimiter, len(header))
    both, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    mixed = sum(map(bool, (both, feeds - both, returns - both))) > 1
    return CsvForm(encoding, above, below, spare, mixed)


def _refuse_other_delimiter(path: Path, above: Sequence[str], header: Sequence[str], delimiter: str) -> None:
    """Reject a header most of whose fields contain another usual delimiter, like a line above it.

    Then that line has the names, and the apparent header is a record with decimal commas. Names alone may contain other
    delimiters.
    """
    for mark, (word, option) in DELIMITERS.items():
        within = sum(mark in field for field in header) if any(mark in line for line in above) else 0
        if mark not in {delimiter, ":"} and len(header) > 1 and 2 * within > len(header):
            raise TableError(f"{path}: looks separated by {word}; add --delimiter {option}")


def fields_of_header(path: Path, delimiter: str) -> tuple[str, ...]:
    """Return the fields of the header, on any line; none without one, as in Parquet.

    Raises:
        TableError: The file cannot be read.
    """
    head = _bytes_of(path, 0, _HEAD)
    if head.startswith(b"PAR1"):
        return ()
    return tuple(_header_in(_text(head, _encoding_of(head)), delimiter)[1])


def _bytes_of(path: Path, start: int, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error


def _encoding_of(head: bytes) -> str:
    """Return the encoding of a text with this beginning; an older one if its non-ASCII bytes are not UTF-8."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    try:
        getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return encoding_by_letters(head) if head.decode("utf-8", "ignore").isascii() else "utf-8-sig"
    return "utf-8-sig"


def _refuse_other_alphabets(path: Path, text: str) -> None:
    """Reject words of Cyrillic or Greek read in a Western encoding: they only have non-ASCII letters."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    foreign = [word for word in words if not any(map(str.isascii, word))]
    if 2 * len(foreign) > len(words):
        raise TableError(f"{path}: neither UTF-8 nor Windows-1252 ({foreign[0]!r}); save it as CSV UTF-8")


def _text(part: bytes, encoding: str) -> str:
    return getincrementaldecoder(encoding)(errors="replace").decode(part)


def _tail_of(path: Path, encoding: str) -> str:
    start = max(0, path.stat().st_size - _TAIL) // 2 * 2
    if encoding == "utf-16":  # only its first bytes have the byte order
        is_big = _bytes_of(path, 0, 2) == BOM_UTF16_BE
        return _text(_bytes_of(path, start, _TAIL + 2), "utf-16-be" if is_big else "utf-16-le")
    return _text(_bytes_of(path, start, _TAIL + 2), encoding)


def _rows(text: str, delimiter: str, most: int | None = None) -> list[list[str]]:
    """Return the records of a text, up to the first that is not CSV."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(csv.reader(StringIO(text, newline=""), delimiter=delimiter), most))
    return rows


def _header_in(text: str, delimiter: str) -> tuple[int, list[str]]:
    """Return the number of lines above the header, and its fields.

    Lines above it may be titles (one field), blank lines, and `sep=;`.
    """
    rows = _rows(text, delimiter, _LINES)
    above = int(_SEPARATED.fullmatch(text.partition("\n")[0].strip()) is not None)
    if any(len(row) > 1 for row in rows[above:]):
        above += len(list(takewhile(lambda row: not any(row[1:]), rows[above:])))
    return above, rows[above] if above < len(rows) else []


def _below(tail: str, delimiter: str, columns: int) -> int:
    """Return the number of last lines that are totals (a word in one field, most others blank), or blank next to one.

    Blank lines alone are records without a value.
    """
    if columns < 2:  # noqa: PLR2004 - a blank line is a missing value then
        return 0
    rows = [row for row in _rows(tail, delimiter) if row][1:]
    below = list(takewhile(lambda row: not any(map(str.strip, row)) or _is_total(row, columns), reversed(rows)))
    if not any(_is_total(row, columns) for row in below):
        return 0
    words = Counter(field for row in rows for field in row if _TOTAL.fullmatch(field))
    return len(below) if max(words.values(), default=0) <= _TOTALS else 0


def _is_total(row: Sequence[str], columns: int) -> bool:
    said = [field for field in row if field.strip()]
    return bool(said) and 2 * len(said) <= columns + 1 and _TOTAL.fullmatch(said[0]) is not None


def _copy(path: Path, copy: Path, delimiter: str, form: CsvForm) -> None:
    """Write the header and the records of a file as plain CSV."""
    with path.open(encoding=form.encoding, newline="") as file, copy.open("w", encoding="utf-8", newline="") as plain:
        reader = csv.reader(lines_of(file), delimiter=delimiter, strict=True)
        records = _kept(path, ((reader.line_num, row) for row in reader), form)
        try:
            csv.writer(plain, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(records)
        except (csv.Error, UnicodeError) as error:
            where = f"{path}: line {reader.line_num + 1}" if isinstance(error, csv.Error) else str(path)
            raise TableError(f"{where}: not CSV in {_NAMES[form.encoding]}; save it as CSV UTF-8 ({error})") from error


def _kept(path: Path, rows: Iterator[tuple[int, list[str]]], form: CsvForm) -> Iterator[list[str]]:
    """Yield the header and the records, which end before the last `below`."""
    waiting: deque[list[str]] = deque()
    columns = 0
    for line, row in islice(rows, form.above, None):
        if row or columns == 1:  # with one column, a blank line is a missing value
            columns = columns or len(row)
            waiting.append(_named(f"{path}: line {line}", row or [""], columns, form.spare))
            yield from (waiting.popleft() for _ in range(len(waiting) - form.below))


def _named(where: str, row: list[str], columns: int, spare: Sequence[int]) -> list[str]:
    """Return the fields of the columns with a name; delimiters at the end of a line are ignored."""
    full = row + [""] * (columns - len(row)) if set(range(len(row), columns)) <= set(spare) else row
    while len(full) > columns and not full[-1]:
        full = full[:-1]
    if len(full) != columns:
        raise TableError(f"{where}: {len(row)} fields where the header has {columns}")
    for place in spare:
        if full[place].strip():
            raise TableError(f"{where}: column {place + 1} has the value {shortened(full[place])}, but no name")
    return [field for place, field in enumerate(full) if place not in spare]


def lines_of(file: TextIO) -> Iterator[str]:
    """Yield the lines of a file.

    Raises:
        LongLineError: A line is too long.
    """
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise LongLineError
        yield line
