"""Descriptions of masking functions: in words, and as parameters in the entry."""

import json
from decimal import Decimal
from pathlib import Path

from aegis_provider.masking.hierarchy import (
    DateHierarchy,
    FileHierarchy,
    IntervalHierarchy,
    PrefixHierarchy,
    TreeHierarchy,
)
from aegis_provider.masking.lookup import Mapped, MaskedTable
from aegis_provider.masking.microaggregate import Microaggregate, Microaggregated
from aegis_provider.masking.numbers import EdgeBuckets, EqualBuckets, EqualFrequency, FittedBuckets, Round, TopBottom
from aegis_provider.masking.randomisation import Noise, Pram, RandomisedResponse, Shuffle
from aegis_provider.masking.texts import Blur, BlurPositions, Suppress, Token
from aegis_sdk.reading.maskings import as_given
from tests.for_each import for_each
from tests.provider.masking.functions import concrete_functions

INTERVALS = (Decimal(5), Decimal(10))
TREE = {"Europe": {"North": ("SE", "DK"), "South": ("IT",)}, "Asia": ("JP",)}

FUNCTIONS = (
    EqualBuckets(Decimal("2.5")),
    EdgeBuckets((Decimal(0), Decimal(18), Decimal("inf"))),
    EqualFrequency(5),
    FittedBuckets((Decimal("-inf"), Decimal(18), Decimal("inf")), 2),
    TopBottom(Decimal(90), Decimal(18)),
    Round(Decimal(10)),
    Microaggregate(5),
    Microaggregated(5, (Decimal(1),), ("2.5",)),
    Blur(3),
    BlurPositions((1, -1)),
    Suppress(),
    FileHierarchy("ages.csv", 2, {}),
    Mapped({"a": "x", "b": "x", "c": "y"}),
    IntervalHierarchy(INTERVALS, 2),
    PrefixHierarchy((3, 1), 1),
    DateHierarchy(("month", "year"), 2),
    TreeHierarchy(TREE, 1),
    Token(b"0123456789abcdef"),
    Noise("laplace", Decimal(2)),
    RandomisedResponse(0.8),
    Pram({"a": {"a": 1.0}}),
    Shuffle(),
    MaskedTable(Path("/data/masked.csv")),
)
SAID = [
    (TreeHierarchy(TREE, 1), "3 groups: North, South, Asia"),
    (MaskedTable(Path("/data/masked.csv")), "those of masked.csv, a table masked elsewhere"),
    (MaskedTable(Path("m.csv"), "old"), "those of column old of m.csv, a table masked elsewhere"),
    (Round(Decimal(10)), "the nearest multiple of 10"),
    (Microaggregate(5), "the mean of a group of at least 5 records with near numbers"),
]


@for_each(("function", "said"), SAID)
def test_a_function_says_in_words_what_values_become(function, said):
    assert function.describe() == said


def test_the_words_for_each_function_are_more_than_its_name_and_parameters():
    assert set(map(type, FUNCTIONS)) == set(concrete_functions())
    for function in FUNCTIONS:
        assert function.describe() != as_given(function.name, function.parameters())


@for_each("function", FUNCTIONS)
def test_parameters_are_json(function):
    assert json.loads(json.dumps(function.parameters())) == function.parameters()


def test_parameters_say_what_the_plan_says():
    parameters = {type(function): function.parameters() for function in FUNCTIONS}
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
