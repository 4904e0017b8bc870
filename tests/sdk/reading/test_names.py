"""Names of configurations: short, different from each other, and of nothing but what differs."""

import random

import pytest

from aegis_sdk.reading.maskings import briefly
from aegis_sdk.reading.names import LONGEST, MOST_CELLS, ConfigurationNames

NAMES = ("age", "tenure", "monthly charges", "monthly charges before tax", "sex", "race", "zip code", "visits")


def masking(name, function, groups, **parameters):
    return {"id": name, "function": {"name": function, "parameters": parameters}, "domain": ["x"] * groups}


def attribute(name, kind, *maskings):
    return {"name": name, "type": kind, "maskings": list(maskings)}


def schema(attributes, *chosen):
    """An entry with a configuration for each choice of maskings, in the order of the attributes."""
    names = [one["name"] for one in attributes]
    listed = [{"id": f"c{at:04}", "maskings": dict(zip(names, one, strict=True))} for at, one in enumerate(chosen)]
    return {"attributes": attributes, "configurations": listed}


def names_in(entry):
    names = ConfigurationNames.of(entry)
    return [names.name(one["id"]) for one in entry["configurations"]]


def drawn_entry(seed):
    """An entry like those of a search: steps of coarseness for each attribute, and configurations without repeats."""
    draw = random.Random(seed)
    attributes = [
        attribute(
            name,
            "integer" if at % 2 else "string",
            *(masking(f"{name}-{groups}", "hierarchy", groups, file="h.csv", level=1) for groups in (16, 8, 4, 2)),
        )
        for at, name in enumerate(NAMES[: draw.randint(2, len(NAMES))])
    ]
    options = [[*(one["id"] for one in each["maskings"]), "identity", "drop", "drop"] for each in attributes]
    chosen = {tuple(map(draw.choice, options)) for _ in range(draw.choice((2, 20, 80)))}
    return schema(attributes, *sorted(chosen))


def test_drawn_entries_have_short_names_that_differ():
    every, told = 0, 0
    for seed in range(200):
        names = names_in(drawn_entry(seed))
        assert all(0 < len(name) <= LONGEST for name in names)
        assert len(set(names)) == len(names)
        every, told = every + len(names), told + sum("(c0" not in name for name in names)
    # Some need five attributes or more to be told apart, which takes more than 80 characters.
    assert told >= 0.95 * every


LONG = ("income of the household in the year before", "income of the household in the year after before", "x" * 90)


@pytest.mark.parametrize("attribute_names", [LONG, [f"{part}{'o' * 60}{at}" for at in range(9) for part in "ab"]])
def test_what_words_cannot_tell_apart_is_told_by_ids(attribute_names):
    """Names that are equal where they are cut, maskings with equal beginnings of long ids, and equal configurations."""
    long = [masking(f"{'m' * 20}{end}", "bucketize", 4) for end in "ab"]
    attributes = [attribute(name, "integer", *long) for name in attribute_names]
    draw = random.Random(7)
    options = ["identity", "drop", *(one["id"] for one in long)]
    chosen = [tuple(draw.choice(options) for _ in attributes) for _ in range(60)]
    names = names_in(schema(attributes, *chosen, *chosen[:2]))
    assert len(set(names)) == len(names)
    assert all(0 < len(name) <= LONGEST for name in names)
    made = [{"id": each, "kind": "generated", "method": "pairs", "records": 5000} for each in ("g1", "g2")]
    assert len(set(names_in({"attributes": [], "configurations": made}))) == 2


def test_a_name_says_what_differs_the_most_telling_first_and_counts_the_rest():
    attributes = [
        attribute("same", "string", masking("s2", "mapping", 2)),
        attribute("sex", "string"),
        attribute("age", "integer", masking("a8", "bucketize", 8), masking("a4", "bucketize", 4)),
        attribute("tenure", "integer", masking("t16", "bucketize", 16)),
        attribute("seen", "date", masking("y", "hierarchy", 3, dates=["month", "year"], level=2)),
        *(attribute(f"rest {place}", "string") for place in range(3)),
    ]
    entry = schema(
        attributes,
        ("s2", "identity", "a8", "t16", "y", "drop", "drop", "drop"),
        ("s2", "identity", "a4", "t16", "y", "identity", "drop", "identity"),
        ("s2", "drop", "a4", "identity", "y", "identity", "drop", "identity"),
        ("s2", "identity", "identity", "identity", "drop", "identity", "drop", "identity"),
    )
    assert names_in(entry) == [
        "age in 8 bands, tenure in 16, sex as it is, 1 more, 3 columns left out",
        "age in 4 bands, tenure in 16, sex as it is, 3 more, 1 column left out",
        "age in 4 bands, tenure as it is, seen by year, 2 more, 2 columns left out",
        "age as it is, tenure as it is, sex as it is, 2 more, 2 columns left out",
    ]


def test_names_of_many_attributes_take_no_more_steps_than_fit_into_a_name():
    """An entry can be made so that each attribute tells one configuration from the others."""
    attributes = [attribute(f"a{n}", "string", masking("m", "mapping", 2)) for n in range(60)]
    chosen = [["identity" if n == at else "m" for n in range(60)] for at in range(60)]
    names = ConfigurationNames.of(schema(attributes, *chosen))
    assert names.name("c0059").startswith("a0 in 2, a1 in 2, ")
    assert len(names._parts) < 20


def test_what_is_left_out_is_named_where_only_that_differs():
    attributes = [attribute(name, "string") for name in ("age", "sex", "race")]
    entry = schema(attributes, ("identity", "drop", "drop"), ("drop", "identity", "drop"), ("drop", "drop", "identity"))
    names = names_in(entry)
    assert len(set(names)) == 3
    assert names[0] == "age as it is, 2 columns left out"


def test_names_of_columns_stay_readable_and_fewer_are_named_instead():
    names = [f"{name} of customer" for name in ("monthly charges", "monthly fees", "months", "contracts")]
    attributes = [attribute(name, "string", masking(f"{name} 2", "mapping", 2)) for name in names]
    chosen = [[f"{name} 2" if at >> n & 1 else "identity" for n, name in enumerate(names)] for at in range(16)]
    for said in names_in(schema(attributes, *chosen)):
        cut = [word for word in said.split(", ") if "…" in word]
        assert all(len(word.partition("…")[0]) >= 5 for word in cut)
        assert len(said) <= LONGEST


def test_maskings_with_the_same_words_are_told_by_their_ids():
    age = attribute("age", "integer", masking("even", "bucketize", 4), masking("equal", "bucketize", 4))
    assert names_in(schema([age], ("even",), ("equal",))) == ["age in 4 bands (even)", "age in 4 bands (equal)"]


WORDS = [
    ("in 8 bands", "integer", "bucketize", 8, {}),
    ("in 4 groups", "string", "hierarchy", 4, {"tree": {}, "level": 1}),
    ("in 4 bands", "integer", "hierarchy", 4, {"intervals": [5, 10], "level": 1}),
    ("by month", "date", "hierarchy", 9, {"dates": ["month", "year"], "level": 1}),
    ("by 1 character", "string", "hierarchy", 9, {"prefixes": [3, 1], "level": 2}),
    ("by 3 characters", "string", "blur", 9, {"keep": 3}),
    ("by last 2 characters", "string", "blur", 9, {"keep": 2, "at": "end"}),
    ("in 9 groups", "string", "blur", 9, {"positions": [0]}),
    ("rounded to 10", "integer", "round", 9, {"to": 10}),
    ("capped", "integer", "top_bottom", 9, {"top": 90}),
    ("averaged by 5", "integer", "microaggregate", 9, {"size": 5}),
    ("as *", "string", "suppress", 1, {}),
    ("as one value", "string", "mapping", 1, {"values": {}}),
    ("as tokens", "string", "token", 9, {}),
    ("with noise", "integer", "noise", 9, {"kind": "laplace", "scale": 2}),
    ("at random", "string", "randomised_response", 9, {"keep": 0.9}),
    ("at random", "string", "pram", 9, {}),
    ("shuffled", "string", "shuffle", 9, {}),
    ("in 9 groups", "string", "masked_table", 9, {}),
    ("in 1,234 periods", "date", "unheard of", 1234, {}),
]


def test_all_functions_have_words():
    said = [briefly(kind, masking("m", name, groups, **parameters)) for _, kind, name, groups, parameters in WORDS]
    assert [" ".join(filter(None, words)) for words in said] == [expected for expected, *_ in WORDS]
    assert briefly("string", {"domain": ["a", "b"], "transition": [[1, 0]]}) == ("at random", "")
    assert briefly("number", masking("m", "bucketize", 4) | {"domain": ["", "a", "b"]}) == ("in 2", "bands")
    assert briefly("string", {"domain": ["a", "b"], "function": None}) == ("in 2", "groups")


HOSTILE = ("\u202eevil", "a\x1b[31m", "x" * 500, "tab\tle", " blank ", "<b>&", "\U0001d482" * 90)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_attributes_are_escaped_and_cut(name):
    attributes = [attribute(name, "string", masking(name[:200], "bucketize", 3)), attribute("age", "integer")]
    names = names_in(schema(attributes, (name[:200], "identity"), ("drop", "drop"), ("identity", "drop")))
    assert len(set(names)) == 3
    assert all(said.isprintable() and len(said) <= LONGEST for said in names)


def test_a_configuration_alone_and_a_generated_one_have_names_and_unknown_ones_none():
    entry = schema([attribute("age", "integer", masking("a2", "bucketize", 2))], ("a2",))
    made = {"id": "g1", "kind": "generated", "method": "wgan-gp", "records": 5000}
    names = ConfigurationNames.of({**entry, "configurations": [*entry["configurations"], made]})
    assert [names.name(one) for one in ("c0000", "g1", "nowhere", None)] == [
        "age in 2 bands",
        "5,000 records generated by wgan-gp",
        "",
        "",
    ]


def test_a_table_of_configurations_has_the_names_of_a_list_unless_it_is_huge():
    entry = drawn_entry(3)
    columns = {
        one["name"]: [item["maskings"][one["name"]] for item in entry["configurations"]] for one in entry["attributes"]
    }
    table = {"ids": [item["id"] for item in entry["configurations"]], "maskings": columns}
    names = ConfigurationNames.of({"attributes": entry["attributes"], "configuration_table": table})
    assert [names.name(one) for one in table["ids"]] == names_in(entry)
    huge = {"ids": range(MOST_CELLS + 1), "maskings": {}}
    assert ConfigurationNames.of({"attributes": entry["attributes"], "configuration_table": huge}).name("c0000") == ""
