"""A copy of a table in another spelling is as open to attacks as the same copy as it is."""

import datetime as dt
from decimal import Decimal
from functools import cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from aegis_provider.records import sides_of
from aegis_provider.synth.attacks.article29 import inference, linkability
from aegis_provider.synth.attacks.attack import Case, Roles, open_case
from aegis_provider.synth.attacks.judging import declared_attacks
from aegis_provider.synth.attacks.membership import exact_copies, nearest_membership
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.released.spellings import named_alike
from tests.for_each import for_each
from tests.provider.released_tables import records_of

RECORDS = 60
RNG = np.random.default_rng(7)
DAYS = [dt.date(1930, 1, 1) + dt.timedelta(days=int(n)) for n in RNG.integers(0, 25_000, RECORDS)]
TIMES = [dt.datetime(2020, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=int(n)) for n in RNG.integers(0, 10**8, RECORDS)]
AMOUNTS = [Decimal(int(n)).scaleb(-2) for n in RNG.integers(-(10**6), 10**7, RECORDS)]
WHOLE = [int(n) * 1_000 + 234 for n in RNG.integers(0, 9_000, RECORDS)]
TRUTHS = [bool(n) for n in RNG.integers(0, 2, RECORDS)]
TOWNS = ["São Paulo", "Graz", "Bad Ischl", "Köln", "Wien"]
PLACES = [TOWNS[n] for n in RNG.integers(0, 5, RECORDS)]
BERLIN = dt.timezone(dt.timedelta(hours=1))


def written(values, pattern):
    return [each.strftime(pattern) for each in values]


def german(number):
    return f"{number:,}".translate(str.maketrans(",.", ".,"))


ISO = written(DAYS, "%Y-%m-%d")
SECONDS = written(TIMES, "%Y-%m-%d %H:%M:%S")
IN_TOKYO = written([each.astimezone(ZoneInfo("Asia/Tokyo")) for each in TIMES], "%Y-%m-%d %H:%M:%S")
PLAIN = [str(each) for each in AMOUNTS]
WORDS = ["true" if each else "false" for each in TRUTHS]
GAPS = [text if place % 7 else "" for place, text in enumerate(PLAIN)]

SPELLINGS = {
    "itself": (ISO, ISO),
    "datetimes": (ISO, written(DAYS, "%Y-%m-%d 00:00:00")),
    "datetimes with T and parts of a second": (ISO, written(DAYS, "%Y-%m-%dT00:00:00.000000000")),
    "dates of datetimes": (written(DAYS, "%Y-%m-%d 00:00:00"), ISO),
    "dd.mm.yyyy": (ISO, written(DAYS, "%d.%m.%Y")),
    "ISO dates of dd.mm.yyyy": (written(DAYS, "%d.%m.%Y"), ISO),
    "mm/dd of dd.mm": (written(DAYS, "%d.%m.%Y"), written(DAYS, "%m/%d/%Y")),
    "d/m without zeros": (ISO, [f"{each.day}/{each.month}/{each.year}" for each in DAYS]),
    "mm/dd/yyyy": (ISO, written(DAYS, "%m/%d/%Y")),
    "mm-dd-yy": (ISO, written(DAYS, "%m-%d-%y")),
    "yyyy/mm/dd": (ISO, written(DAYS, "%Y/%m/%d")),
    "yyyymmdd": (ISO, written(DAYS, "%Y%m%d")),
    "5 Mar 2001": (ISO, written(DAYS, "%d %b %Y")),
    "05-MAR-01": (ISO, [each.upper() for each in written(DAYS, "%d-%b-%y")]),
    "Monday, March 5, 2001": (ISO, written(DAYS, "%A, %B %d, %Y")),
    "5. März 2001": (ISO, [each.replace("March", "März") for each in written(DAYS, "%d. %B %Y")]),
    "midnight in a zone": (ISO, written(DAYS, "%Y-%m-%dT00:00:00+01:00")),
    "midnight elsewhere": (
        ISO,
        [f"{dt.datetime(*each.timetuple()[:3], tzinfo=BERLIN).astimezone(dt.UTC):%Y-%m-%dT%H:%MZ}" for each in DAYS],
    ),
    "days of a spreadsheet": (ISO, [str((each - dt.date(1899, 12, 30)).days) for each in DAYS]),
    "days since 1970": (ISO, [str((each - dt.date(1970, 1, 1)).days) for each in DAYS]),
    "moments in milliseconds": (SECONDS, [str(int(each.timestamp() * 1_000)) for each in TIMES]),
    "moments with am and pm": (SECONDS, written(TIMES, "%d.%m.%Y %I:%M:%S %p")),
    "moments in another zone": (SECONDS, [str(each.astimezone(BERLIN)) for each in TIMES]),
    "decimal commas": (PLAIN, [each.replace(".", ",") for each in PLAIN]),
    "numbers of decimal commas": ([each.replace(".", ",") for each in PLAIN], PLAIN),
    "thousands of commas": (PLAIN, [f"{each:,}" for each in AMOUNTS]),
    "thousands of points": (PLAIN, list(map(german, AMOUNTS))),
    "thousands of points alone": (list(map(str, WHOLE)), list(map(german, WHOLE))),
    "thousands of blanks": (PLAIN, [f"{each:,}".replace(",", "\u202f") for each in AMOUNTS]),
    "thousands of apostrophes": (PLAIN, [f"{each:,}".replace(",", "'") for each in AMOUNTS]),
    "1.0 for 1": (list(map(str, WHOLE)), [f"{each}.0" for each in WHOLE]),
    "powers of ten": (list(map(str, WHOLE)), [f"{each:.8E}" for each in WHOLE]),
    "zeros before": ([f"{each:09}" for each in WHOLE], list(map(str, WHOLE))),
    "percent": (PLAIN, [f"{each * 100} %" for each in AMOUNTS]),
    "money": (PLAIN, [f"{each:,} €" for each in AMOUNTS]),
    "a minus sign": (PLAIN, [each.replace("-", "\u2212") for each in PLAIN]),
    "floats of 32 bits": (PLAIN, [repr(float(np.float32(each))) for each in AMOUNTS]),
    "floats that were computed": (PLAIN, [repr(float(each) / 3 * 3) for each in AMOUNTS]),
    "NaN for missing": (GAPS, [each or "NaN" for each in GAPS]),
    "nothing for NA": ([each or "NA" for each in GAPS], GAPS),
    "other numbers beside NA": ([each or "NA" for each in GAPS], [each.replace(".", ",") for each in GAPS]),
    "TRUE": (WORDS, [each.upper() for each in WORDS]),
    "1 and 0": (WORDS, [str(int(each)) for each in TRUTHS]),
    "yes and no": (WORDS, ["yes" if each else "no" for each in TRUTHS]),
    "true of 1": ([str(int(each)) for each in TRUTHS], WORDS),
    "true of yes": (["yes" if each else "no" for each in TRUTHS], WORDS),
    "ja and nein": (WORDS, ["Ja" if each else "Nein" for each in TRUTHS]),
    "upper case": (PLACES, [each.upper() for each in PLACES]),
    "blanks": (PLACES, [f" {each}\t" for each in PLACES]),
    "blanks within": (PLACES, [each.replace(" ", "\u00a0 ") for each in PLACES]),
    "names for programs": (PLACES, [each.lower().replace(" ", "_") for each in PLACES]),
    "without accents": (PLACES, [each.replace("ã", "a").replace("ö", "o") for each in PLACES]),
    "composed accents": (PLACES, [each.replace("ö", "o\u0308") for each in PLACES]),
    "quotes": (PLACES, [f'"{each}"' for each in PLACES]),
}

ARROW = {
    "booleans": (WORDS, pa.array(TRUTHS)),
    "numbers of booleans": (WORDS, pa.array(map(int, TRUTHS), pa.int8())),
    "dates": (ISO, pa.array(DAYS)),
    "moments": (ISO, pa.array(DAYS).cast(pa.timestamp("ns"))),
    "zoned moments": (IN_TOKYO, pa.array(TIMES, pa.timestamp("us", tz="Asia/Tokyo"))),
    "decimals": (PLAIN, pa.array(AMOUNTS, pa.decimal128(12, 4))),
    "32-bit floats": (PLAIN, pa.array(map(float, AMOUNTS), pa.float32())),
    "categories": (PLACES, pa.array(PLACES).dictionary_encode()),
}


def case_of(original, release):
    """A case where the column is known and guessed."""
    rng = np.random.default_rng(3)
    rest = {"number": rng.integers(0, 90, RECORDS).astype(str), "sick": rng.choice(["a", "b"], RECORDS)}
    records = records_of(pa.table({"column": original, **rest}))
    sides = sides_of(records, 0.3)
    released = Released.of(records, pa.table({"column": release, **rest}))
    return Case(released, sides.training, sides.held_out, ("column", "number"), ("sick", "column"))


def figures(case):
    """What the quick attacks achieve."""
    attacks = (exact_copies, inference, linkability, nearest_membership)
    return [(each.variant, each.success, each.held_out) for attack in attacks for each in attack(case)]


@cache
def figures_of_copy(original):
    """What they achieve on a copy of the table as it is."""
    return figures(case_of(original, original))


@for_each("name", SPELLINGS)
def test_a_copy_in_another_spelling_is_attacked_as_the_same_copy_is(name):
    original, release = SPELLINGS[name]
    case, expected = case_of(original, release), figures_of_copy(tuple(original))
    assert figures(case) == expected
    assert expected[0][1].value > 0.5  # copies of what was not held out
    assert not case.release.not_understood


def test_a_copy_in_the_types_of_arrow_is_attacked_as_the_same_copy_is():
    original, copy = (pa.table({name: both[side] for name, both in ARROW.items()}) for side in (0, 1))
    same, typed = (open_case(each, original, roles=Roles("categories"), holdout=0.3) for each in (original, copy))
    assert not typed.case.release.not_understood
    assert figures(typed.case) == figures(same.case)


WORSE = {
    "another order in one cell": (written(DAYS, "%d.%m.%Y"), ["31/12/1999", *written(DAYS, "%m/%d/%Y")[1:]]),
    "words": (PLACES, ["Dorf"] * RECORDS),
    "numbers in letters": (list(map(str, WHOLE)), ["forty"] * RECORDS),
}


@for_each("name", WORSE)
def test_what_is_in_no_spelling_is_said_to_be_not_understood(name):
    original, release = WORSE[name]
    case = case_of(original, release)
    assert case.release.not_judged["column"].share > 0.5
    assert declared_attacks(case) == {}
    assert not any(look in release for look in case.release.not_judged["column"].looks)


def test_values_that_the_table_lacks_are_read_in_the_spelling_of_the_column():
    """As numbers and dates that lie between others, not as ones in another spelling."""
    original = [str(each) for each in range(1_000, 1_000 + 2 * RECORDS, 2)]
    release = [f"{int(each) + (place % 10 == 0):,}" for place, each in enumerate(original)]
    column = case_of(original, release).release.column("column")
    assert [column.meanings[code] for code in column.codes[:2]] == [1_001.0, [1]]


def test_copies_among_other_values_of_the_same_day_or_with_the_same_digits_are_still_copies():
    moments = [f"2020-01-{place % 9 + 1:02} 10:{place:02}:00" for place in range(RECORDS)]
    numbers = [str(Decimal(10**9 + 3 * place) / 1_000) for place in range(RECORDS)]
    for values, other in ((moments, lambda text: f"{text[:-2]}30"), (numbers, lambda text: f"{text}1")):
        column = case_of(values, values[:9] + [other(text) for text in values[9:]]).release.column("column")
        copies = [column.original.domain.texts[place] for place in column.only[column.codes[:9]]]
        assert copies == values[:9]


def test_masked_values_may_stand_among_values_in_another_spelling():
    column = case_of(ISO, ["1962", *written(DAYS, "%d.%m.%Y")[1:-1], "*"]).release.column("column")
    original = [column.original.domain.texts[place] for place in column.only[column.codes[1:-1]]]
    assert original == ISO[1:-1]
    assert {column.original.domain.texts[place][:4] for place in column.meanings[column.codes[0]]} == {"1962"}


def test_one_cell_in_a_hundred_need_not_be_understood():
    few, more = ([text if place >= n else "odd" for place, text in enumerate(ISO * 5)] for n in (3, 4))
    for release, judged in ((few, True), (more, False)):
        released = Released.of(records_of(pa.table({"a": ISO * 5})), pa.table({"a": release}))
        assert (not released.not_judged) == judged


@for_each(
    ("name", "others", "expected"),
    [
        ("birth", ["Birth"], "Birth"),
        ("date of birth", ["DATE_OF_BIRTH", "x"], "DATE_OF_BIRTH"),
        ("birth", ["birth", "Birth"], "birth"),
        ("birth", ["Birth", "BIRTH"], None),
        ("birth", ["day"], None),
    ],
)
def test_columns_are_found_by_their_names_in_other_spellings(name, others, expected):
    assert named_alike([name], others).get(name) == expected
