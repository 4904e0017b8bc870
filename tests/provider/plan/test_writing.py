"""A plan written with other configurations keeps its content, and people can still read it."""

from dataclasses import replace

import pytest

from aegis_provider import Configuration, OutputError, load_plan, write_plan
from tests.for_each import for_each

PLAN = """# Who wrote this, and why.
title: "A study: of ages"
label: y   # what is to be predicted
configurations:
  old: {a: tens}
  older:
    a: drop

# About the attributes.
attributes:
  a:
    maskings:
      tens: {bucketize: {width: 10}}
      levels: {hierarchy: {file: levels.csv, level: 1}}   # from the office
privacy:
  old: {k: 5}
required: {old: {k: 5}}
suppressed: {old: 3}
# The end.
"""
FOUND = (
    Configuration("c0001", {"a": "tens"}, {"k": 5, "l": 2, "t": 0.25}, 7),
    Configuration("c0002", {"a": "identity"}, {"k": 6, "l": 3}, required={"k": 5}),
)


@pytest.fixture
def written(write, tmp_path):
    """Write a plan again, read it back, compare it, and return its text."""

    def write_again(text, found=FOUND, output=None):
        source = write("plan.yaml", text)
        output = output or tmp_path / "found.yaml"
        plan = load_plan(source, configurations_needed=False)
        write_plan(source, plan, found, output, "Found by search.")
        again = load_plan(output)
        assert again.configurations == tuple(found)
        assert again.about == plan.about
        assert (again.sensitive, again.quasi_identifiers) == (plan.sensitive, plan.quasi_identifiers)
        assert [(m.id, m.function) for a in again.attributes for m in a.maskings] == [
            (m.id, m.function) for a in plan.attributes for m in a.maskings
        ]
        return output.read_text(encoding="utf-8")

    write("levels.csv", "1;few\n2;few\n3;many\n")
    return write_again


def test_the_text_stays_and_the_configurations_are_replaced(written):
    assert written(PLAN) == (
        "# Who wrote this, and why.\n"
        'title: "A study: of ages"\n'
        "label: y   # what is to be predicted\n"
        "\n"
        "# About the attributes.\n"
        "attributes:\n"
        "  a:\n"
        "    maskings:\n"
        "      tens: {bucketize: {width: 10}}\n"
        "      levels: {hierarchy: {file: levels.csv, level: 1}}   # from the office\n"
        "# The end.\n"
        "\n"
        "# Found by search.\n"
        "configurations:\n"
        "  c0001: {a: tens}\n"
        "  c0002: {}\n"
        "privacy:\n"
        "  c0001: {k: 5, l: 2, t: 0.25}\n"
        "  c0002: {k: 6, l: 3}\n"
        "required:\n"
        "  c0002: {k: 5}\n"
        "suppressed:\n"
        "  c0001: 7\n"
    )


def test_a_plan_without_configurations_gets_some(written):
    text = written("label: y\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}")
    assert text.startswith("label: y\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}\n\n# Found by search.\n")


def test_a_file_that_the_plan_names_is_found_from_another_directory(written, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    text = written(PLAN, output=folder / "found.yaml")
    assert "levels: {hierarchy: {file: ../levels.csv, level: 1}}   # from the office\n" in text


def test_the_salt_of_a_token_is_found_and_the_seed_kept(write, written, tmp_path):
    write("salt.txt", "a salt that nobody else has, of 43 characters")
    (tmp_path / "elsewhere").mkdir()
    maskings = "{t: {token: {salt_file: salt.txt}}, r: {randomised_response: {keep: 0.8}}}"
    attribute = f"{{hierarchy: {{file: levels.csv}}, maskings: {maskings}}}"
    text = f"seed: 12345678901234567890\nlabel: y\nattributes: {{a: {attribute}}}\n"
    again = written(text, FOUND[1:], output=tmp_path / "elsewhere" / "found.yaml")
    assert again.startswith("seed: 12345678901234567890\n")
    assert "{file: ../levels.csv}" in again
    assert "salt_file: ../salt.txt" in again


@for_each(
    "text",
    [
        "{label: y, configurations: {old: {}}, attributes: {a: {maskings: {tens: {round: {to: 10}}}}}}",
        "label: y\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}\n...\n",
        "---\nlabel: y\nconfigurations: &c {old: &o {}}\nattributes: {a: {maskings: &m {tens: {round: {to: 10}}}}}\n",
        "label: y\r\nconfigurations:\r\n  old: {}\r\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}\r\n",
        "\ufefflabel: y\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}\n",
        "label: y\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}\nconfigurations:\n  old: {}\n",
        "label: y\nprivacy: {}\nconfigurations:\n  old: {}\nattributes: {a: {maskings: {tens: {round: {to: 10}}}}}",
    ],
)
def test_other_ways_to_write_yaml(written, text):
    assert "old" not in written(text)


def test_a_mark_that_is_used_further_down_is_spelt_out(written):
    configurations = "configurations: {old: {a: &tens tens}}\ntitle: *tens\n"
    text = f"label: y\n{configurations}attributes: {{a: {{maskings: {{tens: {{round: {{to: 10}}}}}}}}}}\n"
    assert "title: tens\n" in written(text)


@for_each("name", ["no", "5", "a: b", "it's", '"', "#", "{a}", "é", "- x", "null", "&a", " a", "a,b", "*"])
def test_names_of_any_kind(written, name):
    quoted = "'" + name.replace("'", "''") + "'"
    text = f"label: y\nattributes: {{{quoted}: {{maskings: {{{quoted}: {{suppress: {{}}}}}}}}}}\n"
    written(text, [Configuration(name, {name: name}, {"k": 1}), Configuration("other", {name: "drop"}, {}, 1)])


def test_nothing_is_written_where_it_would_not_say_what_is_wanted(write, tmp_path):
    source = write("plan.yaml", "label: y\nattributes: {a: {}}\n")
    plan = load_plan(source, configurations_needed=False)
    with pytest.raises(OutputError, match=r"found.yaml: .*plan.yaml cannot be written again"):
        write_plan(source, replace(plan, label="z"), FOUND[1:], tmp_path / "found.yaml", "Found.")
    assert not list(tmp_path.glob("*found*"))
