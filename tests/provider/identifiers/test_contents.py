"""What a text contains, wherever it stands, and what only looks so."""

import pyarrow as pa

from aegis_provider.identifiers.contents import contents_of
from aegis_provider.identifiers.values import is_quantity
from aegis_provider.identifiers.written import identifying_texts
from tests.for_each import for_each

CONTAINED = [
    ("call u1@mail.example", "email"),
    ("anna (at) mail.example", "email"),
    ("see https://example.org/r?token=1", "url"),
    ("www.example.org/anna", "url"),
    ("pay AT61 1904 3002 3457 3201 back", "iban"),
    ("192.168.10.12", "ip"),
    ("4111 1111 1111 1111", "card"),
    ("ring +43 664 1234567", "phone"),
    ("0664/1234567", "phone"),
    ("(415) 555-2671", "phone"),
    ("06 12 34 56 78", "phone"),
    ("ssn 123-45-6789", "national"),
    ("RSSMRA85T10A562S", "national"),
    ("12345678Z", "national"),
    ("1234 010180", "dated"),
    ("see Anna Huber", "name"),
    ("Dr. Wagner", "name"),
    ("mevr. Willemijn Zijlstra gemachtigd", "name"),
    ("bitte Fr. Lindemann informieren", "name"),
    ("Huber, Anna", "name"),
    ("Braund, Mr. Owen Harris", "name"),
    ("Nguyen Van Anh", "name"),
    ("Иван Петров", "name"),
    ("spoke with Darnell Whitfield today", "name"),
]
NOT_CONTAINED = [
    "follow up", "San Jose", "Virginia Beach", "Grand Rapids", "Costa Rica", "Hong Kong", "Sierra Leone",
    "New York City", "Johns Hopkins Hospital", "Never married", "Prof-specialty", "2024-01-05 08:12", "1.2.3.4",
    "AT61 1904 3002 3457 3202", "12345678A", "4111 1111 1111 1112", "max 12 / 34", "Mercedes Benz", "31.12.2024",
    "1,234,567.89", "10:15-11:45", "1E1",
]  # fmt: skip
QUANTITIES = [
    "1.056,46", "$1,000.32", "10030 €", "CHF 172.88", "0.3%", "1e-05", "31.12.2024 klo 15.08",
    "2024-01-01T00:43:13Z", "01/2008", "2021-W52", "Apr 01, 1950", "1931年06月14日", "120/80", "v1.12.3",
    "20240131", "12 km/h", "2 h 15 min",
]  # fmt: skip
CODES = ["ABD-0599974", "P0317", "00734128", "ADA-425", "BC5XMT", "1234-5678", "011c7c1b9887"]


def kinds(text):
    return {kind for kind, _, _ in contents_of(pa.array([text]))}


@for_each(("text", "kind"), CONTAINED)
def test_what_a_text_contains(text, kind):
    assert kind in kinds(text), text


@for_each("text", NOT_CONTAINED)
def test_what_only_looks_so(text):
    assert kinds(text) == set(), text


def test_amounts_and_times_are_told_from_codes():
    assert [text for text in QUANTITIES if not is_quantity(text)] == []
    assert [text for text in CODES if is_quantity(text)] == []


def test_ranges_of_numbers_are_no_telephone_numbers():
    ranges = ["60000-64999", "61000-61999", "100000-200000", "1500000-1999999"]
    assert identifying_texts(pa.array(ranges)) == []
    phones = ["64999-60000", "60001-64999", "0664 1234567", "5000-649990"]
    assert set(identifying_texts(pa.array(phones))) >= {"0664 1234567"}
    assert identifying_texts(pa.array(["60001-64999"])) == ["60001-64999"]
