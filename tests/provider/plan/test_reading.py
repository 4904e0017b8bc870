from decimal import Decimal

import pytest
import yaml

from aegis_provider import PlanError, load_plan, yaml_file
from aegis_provider.masking.hierarchy import FileHierarchy
from aegis_provider.masking.lookup import Mapped
from aegis_provider.masking.numbers import EdgeBuckets, EqualBuckets, Round
from aegis_provider.masking.texts import Blur, Suppress
from aegis_provider.table.values import ValueType
from tests.for_each import for_each

CONTRACT = """
label: health
attributes:
  age:
    type: integer
    maskings:
      age-5y: {bucketize: {width: 5}}
      age-h2: {hierarchy: {file: hierarchy_age.csv, level: 2}}      # delimiter: ";" by default, as ARX writes them
  zip:
    maskings:
      zip-3: {blur: {keep: 3, character: "*"}}
      zip-gone: {suppress: {}}
configurations:
  c01: {age: age-5y, zip: zip-3}
  c02: {zip: drop}
privacy:
  c01: {k: 5, t: 0.2}
"""


@pytest.fixture
def load(tmp_path):
    (tmp_path / "hierarchy_age.csv").write_text("17;young;*\n43;old;*\n", encoding="utf-8")

    def write_and_load(text):
        plan = tmp_path / "plan.yaml"
        plan.write_text(text, encoding="utf-8")
        return load_plan(plan)

    return write_and_load


def one_masking(load, masking, attribute="age"):
    text = f"label: y\nattributes: {{{attribute}: {{maskings: {{m: {masking}}}}}}}\nconfigurations: {{c: {{}}}}\n"
    return load(text).attributes[0].maskings[0].function


def refusal(load, text):
    with pytest.raises(PlanError) as raised:
        load(text)
    return str(raised.value)


def test_the_plan_of_the_contract_is_read(load):
    plan = load(CONTRACT)
    assert plan.label == "health"
    assert plan.columns == ("age", "zip", "health")
    assert [attribute.value_type for attribute in plan.attributes] == [ValueType.INTEGER, None]
    assert [masking.id for masking in plan.attributes[0].maskings] == ["age-5y", "age-h2"]
    assert plan.configurations[0].privacy == {"k": 5, "t": 0.2}


def test_a_configuration_leaves_unnamed_attributes_as_they_are(load):
    assert load(CONTRACT).configurations[1].maskings == {"age": "identity", "zip": "drop"}


@for_each(
    ("text", "expected"),
    [
        ("{bucketize: {width: 0.1, origin: -5}}", EqualBuckets(Decimal("0.1"), Decimal(-5))),
        ("{bucketize: {edges: [-.inf, 0, 1.50, .inf]}}", EdgeBuckets((*map(Decimal, ["-inf", "0", "1.50", "inf"]),))),
        ("{blur: {keep: 2}}", Blur(2)),
        ("{blur: {keep: 0, character: '#'}}", Blur(0, "#")),
        ("{round: {to: 0.5}}", Round(Decimal("0.5"))),
        ("{suppress: {}}", Suppress()),
        ("{mapping: {yes: Y, no: N, 1.0: one, '': none}}", Mapped({"yes": "Y", "no": "N", "1.0": "one", "": "none"})),
        ("{mapping: {a: b}, other: '*'}", Mapped({"a": "b"}, "*")),
        (
            "{hierarchy: {file: hierarchy_age.csv, level: 1}}",
            FileHierarchy("hierarchy_age.csv", 1, {"17": "young", "43": "old"}),
        ),
    ],
)
def test_every_masking_function_is_read_as_written(load, text, expected):
    assert one_masking(load, text) == expected


def test_words_and_numbers_stay_the_text_they_are(load):
    plan = load("label: no\nattributes: {on: {}}\nconfigurations: {1.10: {on: identity}, 007: {}}\n")
    assert (plan.label, plan.attributes[0].name) == ("no", "on")
    assert [configuration.id for configuration in plan.configurations] == ["1.10", "007"]


def test_a_plan_may_say_what_the_table_is(load):
    plan = load("title: T\nkeywords: [a, b]\ntable_name: visits\n" + CONTRACT)
    assert plan.about == {"title": "T", "table": "visits", "keywords": ["a", "b"]}


@for_each(
    ("masking", "fault"),
    [
        ("{bucketise: {width: 5}}", "unknown masking function 'bucketise'; did you mean 'bucketize'?"),
        ("{bucketize: {width: 5}, blur: {keep: 1}}", "expected exactly one of hierarchy, bucketize, "),
        ("{}", "expected exactly one of hierarchy, bucketize, "),
        ("bucketize", "expected `name: value` pairs"),
        ("{bucketize: {widht: 5}}", "bucketize: unknown key 'widht'; did you mean 'width'?"),
        ("{bucketize: {width: 0}}", "bucketize.width: must be above 0, not 0"),
        ("{bucketize: {width: five}}", "bucketize.width: 'five' is not a number"),
        ("{bucketize: {width: .inf}}", "bucketize.width: '.inf' is not a number"),
        ("{bucketize: {}}", "bucketize: expected `width`, perhaps with `origin`, or else `edges`"),
        ("{bucketize: {width: 5, edges: [1, 2]}}", "bucketize: expected `width`"),
        ("{bucketize: {edges: [1]}}", "bucketize.edges: at least two edges are needed"),
        ("{bucketize: {edges: [1, 3, 2]}}", "bucketize.edges: edges must ascend, but 2 follows 3"),
        ("{bucketize: {edges: [1, x]}}", "bucketize.edges.1: 'x' is not a number"),
        ("{bucketize: {edges: 5}}", "bucketize.edges: expected a list, [a, b, ...]"),
        ("{blur: {}}", "blur: `keep` is missing"),
        ("{blur: {keep: -1}}", "blur.keep: expected an integer of at least 0, not '-1'"),
        ("{blur: {keep: 1, character: ab}}", "blur.character: expected one character, not 'ab'"),
        ("{round: {to: -1}}", "round.to: must be above 0, not -1"),
        ("{suppress: {keep: 1}}", "suppress: unknown key 'keep'; available: none"),
        ("{mapping: {}}", "mapping: at least one `value: masked value` is needed"),
        ("{mapping: {a: [b]}}", "mapping.a: expected a text"),
        ("{suppress: {}, other: x}", "expected exactly one of "),
        ("{hierarchy: {file: hierarchy_age.csv, level: 3}}", "hierarchy: hierarchy_age.csv, line 1: has levels 1 to 2"),
        ("{hierarchy: {file: hierarchy_age.csv, level: 0}}", "hierarchy.level: expected an integer of at least 1"),
        ("{hierarchy: {file: nowhere.csv, level: 1}}", "hierarchy: nowhere.csv cannot be read in "),
    ],
)
def test_a_faulty_masking_is_refused_with_its_place(load, masking, fault):
    text = f"label: y\nattributes: {{age: {{maskings: {{m: {masking}}}}}}}\nconfigurations: {{c: {{}}}}\n"
    message = refusal(load, text)
    assert message.startswith("plan.yaml: attributes.age.maskings.m")
    assert fault in message
    assert "\n" not in message


@for_each(
    ("change", "message"),
    [
        (("label: health\n", ""), "plan.yaml: `label` is missing"),
        (
            ("label: health", "label: zip"),
            "plan.yaml: configurations.c02.zip: unknown masking 'drop'; available: zip-3, zip-gone, identity",
        ),
        (("label: health", "label: [a]"), "plan.yaml: label: expected a text"),
        (("label: health", "label: health\nlable: x"), "plan.yaml: unknown key 'lable'; did you mean 'label'?"),
        (("integer", "int"), "plan.yaml: attributes.age.type: unknown type 'int'; did you mean 'integer'?"),
        (("zip-gone:", "drop:"), "plan.yaml: attributes.zip.maskings.drop: `drop` is reserved; choose another id"),
        (("zip-gone:", "zip-3:"), "plan.yaml: line 12: 'zip-3' appears twice"),
        (("zip: zip-3", "zip: zip-4"), "configurations.c01.zip: unknown masking 'zip-4'; did you mean 'zip-3'?"),
        (("zip: zip-3", "zap: zip-3"), "plan.yaml: configurations.c01: unknown key 'zap'; did you mean 'zip'?"),
        (("  c01: {k", "  c03: {k"), "plan.yaml: privacy: unknown configuration 'c03'; did you mean 'c02'?"),
        (("{k: 5,", "{k: -5,"), "plan.yaml: privacy.c01.k: cannot be negative: -5"),
        (("{k: 5,", "{kay: 5,"), "plan.yaml: privacy.c01: unknown key 'kay'"),
        (("privacy:", "required: {c03: {}}\nprivacy:"), "plan.yaml: required: unknown configuration 'c03'; did"),
        (
            ("privacy:", "required: {c01: {k: 6}}\nprivacy:"),
            "plan.yaml: required.c01: k = 6 is more than `privacy` has",
        ),
        (("privacy:", "required: {c01: {t: 0.1}}\nprivacy:"), "required.c01: t = 0.1 is more than `privacy` has"),
        (("privacy:", "required: {c01: {l: 2}}\nprivacy:"), "required.c01: l = 2 is more than `privacy` has"),
        (("attributes:", "attributes: ["), "plan.yaml: not YAML: "),
        (("age:\n", "? [a]\n  : {}\n  age:\n"), "plan.yaml: "),
    ],
)
def test_a_faulty_plan_is_refused_with_its_place(load, change, message):
    assert change[0] in CONTRACT
    refused = refusal(load, CONTRACT.replace(*change, 1))
    assert message in refused
    assert "\n" not in refused


@for_each("part", ["attributes", "configurations"])
def test_a_plan_without_attributes_or_configurations_is_refused(load, part):
    parts = {"label": "y", "attributes": "{a: {}}", "configurations": "{c: {}}"} | {part: "{}"}
    text = "".join(f"{name}: {value}\n" for name, value in parts.items())
    assert refusal(load, text) == f"plan.yaml: {part}: at least one {part.removesuffix('s')} is needed"


@for_each("text", ["", "just words", "- a\n- b\n", "[" * 400, "a: b: c", "\x00"])
def test_what_is_no_plan_at_all_is_refused_in_one_line(load, text):
    assert refusal(load, text).startswith("plan.yaml: ")


def test_an_absent_plan_is_refused(tmp_path):
    with pytest.raises(PlanError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load_plan(tmp_path / "nowhere.yaml")


def test_an_attribute_that_a_configuration_does_not_name_has_its_default(load):
    attributes = "{a: {maskings: {m: {suppress: {}}}, default: m}}"
    text = f"label: y\nattributes: {attributes}\nconfigurations: {{c: {{}}, d: {{a: identity}}}}"
    assert [each.maskings["a"] for each in load(text).configurations] == ["m", "identity"]
    wrong = text.replace("default: m", "default: n")
    assert refusal(load, wrong).startswith("plan.yaml: attributes.a.default: unknown masking 'n'; ")


def test_maskings_can_be_fitted_to_the_label_and_columns_left_out(load):
    plan = load(
        CONTRACT.replace("  age:\n", "  age:\n    fitted_to: label\n")
        + "left_out: {name: identifies people, 'a b': ''}\n"
    )
    assert [each.fitted_to_label for each in plan.attributes] == [True, False]
    assert plan.left_out == {"name": "identifies people", "a b": ""}


@for_each(
    ("text", "said"),
    [
        (
            CONTRACT.replace("  age:\n", "  age:\n    fitted_to: sex\n"),
            "plan.yaml: attributes.age.fitted_to: maskings can only be fitted to `label`, not to 'sex'",
        ),
        (
            CONTRACT + "left_out: {zip: too fine}\n",
            "plan.yaml: left_out.zip: the column is shared, so it cannot be left out too",
        ),
        (CONTRACT + "left_out: [name]\n", "plan.yaml: left_out: expected `name: value` pairs"),
    ],
)
def test_what_a_draft_says_is_checked(load, text, said):
    assert refusal(load, text) == said


def test_an_attribute_may_forbid_that_it_is_left_unmasked(load):
    attribute = "{maskings: {m: {suppress: {}}}, identity: false}"
    plan = load(f"label: y\nattributes: {{a: {attribute}, b: {{identity: true}}}}\nconfigurations: {{c: {{a: m}}}}\n")
    assert [each.identity for each in plan.attributes] == [False, True]
    assert [each.kept_as for each in plan.attributes] == ["drop", "identity"]
    with pytest.raises(PlanError, match=r"configurations.c: leaves 'a' unmasked, which its `identity: false` forbids"):
        load(f"label: y\nattributes: {{a: {attribute}}}\nconfigurations: {{c: {{}}}}\n")
    with pytest.raises(PlanError, match=r"attributes.a.default: is identity, which `identity: false` forbids"):
        load("label: y\nattributes: {a: {default: identity, identity: false}}\nconfigurations: {c: {}}\n")
    with pytest.raises(PlanError, match=r"attributes.a.identity: expected true or false, not 'no'"):
        load("label: y\nattributes: {a: {identity: no}}\nconfigurations: {c: {}}\n")
    with pytest.raises(PlanError, match=r"attributes.y: is the default label, which no configuration drops, so"):
        load(f"label: y\nattributes: {{a: {{}}, y: {attribute}}}\nconfigurations: {{c: {{y: m}}}}\n")


def test_a_plan_is_read_alike_where_there_is_no_parser_in_c():
    text = b'a: {b: &c [no, 0.10, ~, "\\u00e9"], d: *c}\ne: |\n  two\n  lines\nf: >-\n  one\n  line\n? g\n: {}\n'
    quick, slow = (yaml.load(text, Loader=each) for each in (yaml_file._QuickLoader, yaml_file._TextLoader))
    texts = ["no", "0.10", "~", "é"]
    assert quick == slow == {"a": {"b": texts, "d": texts}, "e": "two\nlines\n", "f": "one line", "g": {}}
