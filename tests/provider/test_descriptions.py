"""What functions say of themselves: in words, and as parameters in the entry."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from aegis_provider import masking

INTERVALS = (Decimal(5), Decimal(10))
TREE = {"Europe": {"North": ("SE", "DK"), "South": ("IT",)}, "Asia": ("JP",)}

SAID = [
    (masking.EqualBuckets(Decimal("2.5")), "intervals of width 2.5, from 0"),
    (masking.EdgeBuckets((Decimal(0), Decimal(18), Decimal("inf"))), "intervals with the edges 0, 18, inf"),
    (masking.EqualFrequency(5), "5 intervals of about as many records each"),
    (
        masking.FoundBuckets((Decimal("-inf"), Decimal(18), Decimal("inf")), 2),
        "intervals with the edges -inf, 18, inf, of about as many records each",
    ),
    (masking.TopBottom(Decimal(90), Decimal(18)), "one value from 90 on and one below 18; all others stay"),
    (masking.TopBottom(bottom=Decimal(18)), "one value below 18; all others stay"),
    (masking.Round(Decimal(10)), "the nearest multiple of 10"),
    (masking.Blur(3), "texts of which all but the first 3 characters are written over with *"),
    (masking.Blur(1, "#", "end"), "texts of which all but the last 1 character are written over with #"),
    (masking.BlurPositions((1, -1)), "texts whose characters 1, -1 are written over with *"),
    (masking.Suppress(), "one masked value, *, whatever they are"),
    (masking.Hierarchy("ages.csv", 2, {}), "level 2 of ages.csv"),
    (masking.Mapped({"a": "x", "b": "x", "c": "y"}), "x, y, as a table of 3 values says"),
    (masking.Mapped({str(n): str(n) for n in range(9)}), "0, 1, 2, 3, 4, ..., as a table of 9 values says"),
    (masking.Mapped({"a": "x"}, "z"), "x, as a table of 1 value says, all others: z"),
    (masking.IntervalHierarchy(INTERVALS, 2), "intervals of width 10, from 0 (level 2 of 2)"),
    (
        masking.PrefixHierarchy((3, 1), 1),
        "texts of which all but the first 3 characters are written over with * (level 1 of 2)",
    ),
    (masking.DateHierarchy(("month", "year"), 2), "the year of each date (level 2 of 2)"),
    (masking.TreeHierarchy(TREE, 1), "groups of a tree: North, South, Asia (level 1 of 2)"),
    (masking.Token(b"0123456789abcdef"), "tokens of 12 hexadecimal digits, a keyed hash (HMAC-SHA256)"),
    (
        masking.Noise("laplace", Decimal(2)),
        "themselves plus Laplace noise of scale 2, rounded to multiples of 1",
    ),
    (
        masking.Noise("gaussian", Decimal(2), Decimal("0.5")),
        "themselves plus Gaussian noise of standard deviation 2, rounded to multiples of 0.5",
    ),
    (
        masking.RandomisedResponse(0.8),
        "themselves with probability 0.8, otherwise any value of the domain, each as likely",
    ),
    (
        masking.Pram({"a": {"a": 1.0}}),
        "values drawn with the probabilities that each value has in the transition matrix",
    ),
    (masking.Shuffle(), "the same values, permuted over the records"),
    (masking.MaskedTable(Path("/data/masked.csv")), "those of masked.csv, a table masked elsewhere"),
    (masking.MaskedTable(Path("m.csv"), "old"), "those of column old of m.csv, a table masked elsewhere"),
]


@pytest.mark.parametrize(("function", "said"), SAID)
def test_a_function_says_in_words_what_values_become(function, said):
    assert function.describe() == said


def test_every_function_is_described():
    public = {getattr(masking, name) for name in masking.__all__}
    functions = {each for each in public if isinstance(each, type) and issubclass(each, masking.Function)}
    concrete = {each for each in functions if not each.__abstractmethods__}
    assert {type(function) for function, _ in SAID} == concrete


@pytest.mark.parametrize("function", [function for function, _ in SAID])
def test_parameters_are_json(function):
    assert json.loads(json.dumps(function.parameters())) == function.parameters()


def test_parameters_say_what_the_plan_says():
    parameters = {type(function): function.parameters() for function, _ in SAID[::-1]}
    assert parameters[masking.TreeHierarchy] == {
        "tree": {"Europe": {"North": ["SE", "DK"], "South": ["IT"]}, "Asia": ["JP"]},
        "level": 1,
    }
    assert parameters[masking.IntervalHierarchy] == {"intervals": [5, 10], "origin": 0, "level": 2}
    assert parameters[masking.PrefixHierarchy] == {"prefixes": [3, 1], "level": 1}
    assert parameters[masking.DateHierarchy] == {"dates": ["month", "year"], "level": 2}
    assert parameters[masking.TopBottom] == {"top": 90, "bottom": 18}
    assert parameters[masking.Blur] == {"keep": 3, "character": "*"}
    assert masking.Blur(1, "#", "end").parameters() == {"keep": 1, "at": "end", "character": "#"}
    assert parameters[masking.BlurPositions] == {"positions": [1, -1], "character": "*"}
    assert parameters[masking.Noise] == {"kind": "laplace", "scale": 2, "step": 1}
    assert parameters[masking.RandomisedResponse] == {"keep": 0.8}
