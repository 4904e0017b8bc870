"""What functions say of themselves: in words, and as parameters in the entry."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from aegis_provider.masking.blur import Blur, BlurPositions, Suppress
from aegis_provider.masking.bucketize import EdgeBuckets, EqualBuckets, EqualFrequency, FittedBuckets
from aegis_provider.masking.hierarchy import (
    DateHierarchy,
    FileHierarchy,
    IntervalHierarchy,
    PrefixHierarchy,
    TreeHierarchy,
)
from aegis_provider.masking.lookup import Mapped
from aegis_provider.masking.masked_table import MaskedTable
from aegis_provider.masking.noise import Noise
from aegis_provider.masking.numbers import Round, TopBottom
from aegis_provider.masking.randomisation import Pram, RandomisedResponse, Shuffle
from aegis_provider.masking.token import Token
from tests.provider.masking.functions import concrete_functions

INTERVALS = (Decimal(5), Decimal(10))
TREE = {"Europe": {"North": ("SE", "DK"), "South": ("IT",)}, "Asia": ("JP",)}

SAID = [
    (EqualBuckets(Decimal("2.5")), "intervals of width 2.5, from 0"),
    (EdgeBuckets((Decimal(0), Decimal(18), Decimal("inf"))), "intervals with the edges 0, 18, inf"),
    (EqualFrequency(5), "5 intervals of about as many records each"),
    (
        FittedBuckets((Decimal("-inf"), Decimal(18), Decimal("inf")), 2),
        "intervals with the edges -inf, 18, inf, of about as many records each",
    ),
    (TopBottom(Decimal(90), Decimal(18)), "one value from 90 on and one below 18; all others stay"),
    (TopBottom(bottom=Decimal(18)), "one value below 18; all others stay"),
    (Round(Decimal(10)), "the nearest multiple of 10"),
    (Blur(3), "texts of which all but the first 3 characters are written over with *"),
    (Blur(1, "#", "end"), "texts of which all but the last 1 character are written over with #"),
    (BlurPositions((1, -1)), "texts whose characters 1, -1 are written over with *"),
    (Suppress(), "one masked value, *, whatever they are"),
    (FileHierarchy("ages.csv", 2, {}), "level 2 of ages.csv"),
    (Mapped({"a": "x", "b": "x", "c": "y"}), "x, y, as a table of 3 values says"),
    (Mapped({str(n): str(n) for n in range(9)}), "0, 1, 2, 3, 4, ..., as a table of 9 values says"),
    (Mapped({"a": "x"}, "z"), "x, as a table of 1 value says, all others: z"),
    (IntervalHierarchy(INTERVALS, 2), "intervals of width 10, from 0 (level 2 of 2)"),
    (
        PrefixHierarchy((3, 1), 1),
        "texts of which all but the first 3 characters are written over with * (level 1 of 2)",
    ),
    (DateHierarchy(("month", "year"), 2), "the year of each date (level 2 of 2)"),
    (TreeHierarchy(TREE, 1), "groups of a tree: North, South, Asia (level 1 of 2)"),
    (Token(b"0123456789abcdef"), "tokens of 12 hexadecimal digits, a keyed hash (HMAC-SHA256)"),
    (
        Noise("laplace", Decimal(2)),
        "themselves plus Laplace noise of scale 2, rounded to multiples of 1",
    ),
    (
        Noise("gaussian", Decimal(2), Decimal("0.5")),
        "themselves plus Gaussian noise of standard deviation 2, rounded to multiples of 0.5",
    ),
    (
        RandomisedResponse(0.8),
        "themselves with probability 0.8, otherwise any value of the domain, each as likely",
    ),
    (
        Pram({"a": {"a": 1.0}}),
        "values drawn with the probabilities that each value has in the transition matrix",
    ),
    (Shuffle(), "the same values, permuted over the records"),
    (MaskedTable(Path("/data/masked.csv")), "those of masked.csv, a table masked elsewhere"),
    (MaskedTable(Path("m.csv"), "old"), "those of column old of m.csv, a table masked elsewhere"),
]


@pytest.mark.parametrize(("function", "said"), SAID)
def test_a_function_says_in_words_what_values_become(function, said):
    assert function.describe() == said


def test_every_function_is_described():
    assert {type(function) for function, _ in SAID} == set(concrete_functions())


@pytest.mark.parametrize("function", [function for function, _ in SAID])
def test_parameters_are_json(function):
    assert json.loads(json.dumps(function.parameters())) == function.parameters()


def test_parameters_say_what_the_plan_says():
    parameters = {type(function): function.parameters() for function, _ in SAID[::-1]}
    assert parameters[TreeHierarchy] == {
        "tree": {"Europe": {"North": ["SE", "DK"], "South": ["IT"]}, "Asia": ["JP"]},
        "level": 1,
    }
    assert parameters[IntervalHierarchy] == {"intervals": [5, 10], "origin": 0, "level": 2}
    assert parameters[PrefixHierarchy] == {"prefixes": [3, 1], "level": 1}
    assert parameters[DateHierarchy] == {"dates": ["month", "year"], "level": 2}
    assert parameters[TopBottom] == {"top": 90, "bottom": 18}
    assert parameters[Blur] == {"keep": 3, "character": "*"}
    assert Blur(1, "#", "end").parameters() == {"keep": 1, "at": "end", "character": "#"}
    assert parameters[BlurPositions] == {"positions": [1, -1], "character": "*"}
    assert parameters[Noise] == {"kind": "laplace", "scale": 2, "step": 1}
    assert parameters[RandomisedResponse] == {"keep": 0.8}
