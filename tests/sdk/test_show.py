"""`aegis show`: its report of an entry, and its handling of hostile ones."""

import copy
import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from aegis_provider import load_plan
from aegis_sdk.reading import shown, some
from aegis_sdk.reading.function_words import words_of
from aegis_sdk.wire import EXAMPLE_DRAWN_MASKING, EXAMPLE_ENTRY, EXAMPLE_NOISY_MASKING, Masking
from tests.pairs import associated_entry, paired_entry
from tests.provider.documents import summarize

EXAMPLE = Path(__file__).parents[2] / "examples" / "health"


@pytest.fixture(scope="module")
def health(tmp_path_factory):
    """The entry of the example, in a file."""
    path = tmp_path_factory.mktemp("health") / "entry.json"
    path.write_text(json.dumps(summarize(EXAMPLE / "health.csv", load_plan(EXAMPLE / "plan.yaml"), name="health")))
    return path


def written(path, entry):
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


def line_of(out, start):
    (line,) = [each for each in out.splitlines() if each.strip().startswith(start)]
    return line


def only(part):
    """An entry whose pairs have only this part."""
    pairs = [pair for pair in associated_entry()["pairs"] if part in pair]
    named = ("attributes", "maskings", part)
    return paired_entry(pairs=[{name: pair[name] for name in named} for pair in pairs])


PAIRS = {
    "none": (paired_entry(pairs=[]), 0, ""),
    "counts": (only("joint"), 5, ", 5 pairs of masked attributes"),
    "with the label": (only("with_label"), 8, ", 8 pairs of masked attributes"),
    "both": (associated_entry(), 8, ", 8 pairs of masked attributes"),
}


@pytest.mark.parametrize(("entry", "number", "words"), PAIRS.values(), ids=PAIRS.keys())
def test_pairs_are_counted_whatever_they_have(aegis, tmp_path, entry, number, words):
    path = written(tmp_path / "entry.json", entry)
    assert f"300 records, 4 configurations{words}\n" in aegis("show", path)[1]
    assert json.loads(aegis("show", path, "--json")[1])["pairs"] == number


class TestTheExample:
    def test_the_entry_and_its_label(self, aegis, health):
        code, out, error = aegis("show", health)
        assert (code, error) == (0, "")
        assert out.startswith("health: Health insurance and self-rated health\n")
        assert "20190 records, 70 configurations" in out
        assert line_of(out, "excellent").split()[1:3] == ["11019", "54.6%"]
        assert line_of(out, "poor").count("█") < line_of(out, "fair").count("█") < line_of(out, "good").count("█")

    def test_attributes_and_what_is_known_of_them(self, aegis, health):
        out = aegis("show", health)[1]
        assert "visits: integer, 59 values: 0, 1, 2, 3, 4, 5, 6, 7 and 51 more" in out
        assert out.count("(histogram)") == 7

    def test_maskings(self, aegis, health):
        out = aegis("show", health)[1]
        habits = [each.strip() for each in line_of(out, "visits-any").split("  ") if each]
        assert habits == [
            *("visits-any", "2", "18", "mapping, joint counts", "visits-habits", "intervals with the edges 0, 1, inf")
        ]
        assert "as identity" in line_of(out, "deductible-coded")
        assert "any" in line_of(out, "visits-gone")

    def test_configurations(self, aegis, health):
        configurations = load_plan(EXAMPLE / "plan.yaml").configurations
        k = [each.privacy["k"] for each in configurations]
        assert line_of(aegis("show", health)[1], "k  ").split() == ["k", "70", f"{min(k):g}", f"{max(k):g}"]
        dropped = sum(each.maskings["visits"] == "drop" for each in configurations)
        found = json.loads(aegis("show", health, "--attribute", "visits", "--json")[1])
        assert found["attributes"][0]["maskings"][-1]["configurations"] == dropped
        assert found["privacy"] == {"k": {"configurations": 70, "least": min(k), "most": max(k)}}

    def test_one_attribute_with_its_masked_values(self, aegis, health):
        out = aegis("show", health, "--attribute", "visits")[1]
        assert "coinsurance" not in out
        shown_rates = out.partition("visits-any, records and label rates by masked value\n")[2].splitlines()[1]
        with (EXAMPLE / "health.csv").open(encoding="utf-8", newline="") as file:
            labels = Counter(row["health"] for row in csv.DictReader(file) if row["visits"] == "0")
        rates = [f"{labels[each] / 6308:.1%}" for each in ("excellent", "fair", "good", "poor")]
        assert shown_rates.split() == ["0", "6308", *rates]
        assert "and 9 more" in out

    def test_json_is_complete(self, aegis, health):
        entry = json.loads(health.read_text())
        found = json.loads(aegis("show", health, "--json")[1])
        assert found["label_histogram"] == dict(zip(entry["label"]["domain"], entry["label"]["histogram"], strict=True))
        for shown_attribute, attribute in zip(found["attributes"], entry["attributes"], strict=True):
            assert (shown_attribute["domain"], shown_attribute["knowledge"]) == (attribute["domain"], "histogram")
            by_id = {each["id"]: each for each in shown_attribute["maskings"]}
            for masking in attribute["maskings"]:
                assert by_id[masking["id"]]["records"] == list(map(sum, masking["joint"]))


class TestWhatIsKnown:
    def shown_entry(self, aegis, path, **fields):
        attribute = EXAMPLE_ENTRY["attributes"][0] | fields
        return json.loads(aegis("show", written(path, EXAMPLE_ENTRY | {"attributes": [attribute]}), "--json")[1])

    @pytest.mark.parametrize(
        ("fields", "knowledge"),
        [({"joint": [[1, 0, 0, 0, 0]] * 8}, "joint"), ({}, "histogram"), ({"histogram": None}, "no_histogram")],
    )
    def test_of_an_attribute(self, aegis, tmp_path, fields, knowledge):
        assert self.shown_entry(aegis, tmp_path / "e.json", **fields)["attributes"][0]["knowledge"] == knowledge

    @pytest.mark.parametrize(
        ("masking", "known"),
        [
            (EXAMPLE_NOISY_MASKING, ["mapping", "joint counts", "laplace noise of scale 2"]),
            (EXAMPLE_DRAWN_MASKING | {"id": "age-2"}, ["transition matrix", "joint counts"]),
            (
                {"id": "age-2", "domain": ["a"], "joint": [[5, 5, 5, 5, 5]], "rounded_to": 5, "records": 25},
                ["joint counts only", "rounded to 5", "of 25 records"],
            ),
            ({"id": "age-2", "domain": ["a", "b"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1]}, ["mapping"]),
        ],
    )
    def test_of_a_masking(self, aegis, tmp_path, masking, known):
        found = self.shown_entry(aegis, tmp_path / "e.json", maskings=[masking])["attributes"][0]["maskings"][0]
        assert found["known"] == known

    def test_without_joint_counts_the_histogram_tells_the_records(self, aegis, tmp_path):
        masking = {"id": "age-2", "domain": ["a", "b"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1]}
        found = self.shown_entry(aegis, tmp_path / "e.json", maskings=[masking])["attributes"][0]["maskings"][0]
        assert found["records"] == [20, 80]

    @pytest.mark.parametrize(
        ("stated", "joint", "rates"),
        [
            ({}, None, None),
            ({"joint": [[1, 2, 0, 0, 0], [5, 0, 0, 1, 2]]}, [[1, 2, 0, 0, 0], [5, 0, 0, 1, 2]], ["33.3%", "66.7%"]),
            ({"joint": [[0, 0, 0, 0, 0], [5, 0, 0, 1, 2]]}, [[0, 0, 0, 0, 0], [5, 0, 0, 1, 2]], ["-", "-"]),
            ({"of_attribute": [[2, 1, 0, 0, 0]] * 8}, [[6, 3, 0, 0, 0], [10, 5, 0, 0, 0]], ["66.7%", "33.3%"]),
        ],
    )
    def test_label_rates_come_from_the_joint_counts_of_masking_or_attribute(
        self, aegis, tmp_path, stated, joint, rates
    ):
        unmasked = {"joint": stated["of_attribute"]} if "of_attribute" in stated else {}
        counts = {"joint": stated["joint"], "noise": {"kind": "laplace", "scale": 2}} if "joint" in stated else {}
        masking = {"id": "age-2", "domain": ["a", "b"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1], **counts}
        found = self.shown_entry(aegis, tmp_path / "e.json", maskings=[masking], **unmasked)
        assert found["attributes"][0]["maskings"][0]["joint"] == joint
        out = aegis("show", tmp_path / "e.json", "--attribute", "age")[1]
        assert ("label rates" in out) == (rates is not None)
        if rates:
            assert line_of(out, "a  ").split()[1:4] == [str(sum(joint[0])), *rates]

    def test_discretisation_suppression_and_what_is_left_as_it_is(self, aegis, tmp_path):
        rule = {"rule": "equal_width", "parameters": {"bins": 8, "edges": [0, 1]}}
        entry = copy.deepcopy(EXAMPLE_ENTRY)
        entry["attributes"][0]["discretization"] = rule
        entry["configurations"][1] |= {"maskings": {"age": "identity"}, "suppressed": 12, "suppressed_cells": 130}
        out = aegis("show", written(tmp_path / "e.json", entry))[1]
        assert "made discrete by equal_width: bins 8, edges 0 1" in out
        assert line_of(out, "records suppressed").split()[-3:] == ["2", "0", "12"]
        assert line_of(out, "cells suppressed").split()[-3:] == ["1", "130", "130"]
        assert line_of(out, "identity").split()[:3] == ["identity", "8", "1"]

    def test_configurations_as_a_table(self, aegis, tmp_path):
        entry = {key: value for key, value in EXAMPLE_ENTRY.items() if key != "configurations"}
        columns = {"ids": ["a", "b"], "maskings": {"age": ["age-2", "drop"]}, "privacy": {"t": [0.25, None]}}
        found = json.loads(
            aegis("show", written(tmp_path / "e.json", entry | {"configuration_table": columns}), "--json")[1]
        )
        assert (found["configurations"], found["suppressed"]) == (2, None)
        assert found["privacy"] == {"t": {"configurations": 1, "least": 0.25, "most": 0.25}}


class TestWords:
    @pytest.mark.parametrize(
        ("name", "parameters", "words"),
        [
            ("bucketize", {"width": 5, "origin": 0}, "intervals of width 5, from 0"),
            ("bucketize", {"edges": ["-inf", 2.5, "inf"]}, "intervals with the edges -inf, 2.5, inf"),
            (
                "bucketize",
                {"equal_frequency": 4, "edges": [0, 1]},
                "4 intervals of about equal numbers of records, with the edges 0, 1",
            ),
            ("round", {"to": 10}, "the nearest multiple of 10"),
            ("blur", {"keep": 3, "character": "*"}, "all but the first 3 characters replaced by *"),
            ("blur", {"keep": 2, "at": "end", "character": "x"}, "all but the last 2 characters replaced by x"),
            ("blur", {"positions": [1, 3], "character": "*"}, "characters 1, 3 replaced by *"),
            ("hierarchy", {"file": "h.csv", "level": 2}, "level 2 of h.csv"),
            ("hierarchy", {"intervals": [5, 10], "origin": 0, "level": 2}, "intervals of width 10, from 0"),
            ("hierarchy", {"prefixes": [3, 2], "level": 2}, "all but the first 2 characters replaced by *"),
            ("hierarchy", {"dates": ["month", "decade"], "level": 2}, "the decade of each date"),
            ("hierarchy", {"dates": ["month", "year"], "level": 3}, "level 3 of dates: month year"),
            ("hierarchy", {"dates": ["month"], "level": "1"}, "level 1 of dates: month"),
            ("hierarchy", {"dates": "month", "level": 1}, "level 1 of dates: month"),
            ("hierarchy", {"tree": {"a": ["b"]}, "level": 1}, "level 1 of a tree"),
            ("top_bottom", {"top": 90, "bottom": 18}, "one value from 90 on and one below 18; all others unchanged"),
            ("mapping", {"values": {"a": "x", "b": "x"}}, "2 values mapped one by one (x)"),
            ("mapping", {"values": {"a": "x"}, "other": ""}, '1 value mapped one by one (x), every other ""'),
            ("suppress", {}, "one masked value, *, for all"),
            (
                "noise",
                {"kind": "laplace", "scale": 2, "step": 1},
                "masked at random: laplace noise of scale 2 added, rounded to multiples of 1",
            ),
            ("randomised_response", {"keep": 0.8}, "masked at random: kept with probability 0.8, else any value"),
            ("pram", {}, "masked at random: drawn by its transition matrix"),
            ("shuffle", {}, "masked at random: the same values, permuted over the records"),
            (
                "token",
                {"algorithm": "hmac-sha256", "length": 12},
                "a keyed hash of each value, of 12 hexadecimal digits",
            ),
            ("new", {"a": [1, {"b": 2}], "c": True}, "new: a 1 of 1, c true"),
            ("new", {}, "new"),
            # Unknown parameters of a known function are shown unchanged.
            *((name, {"odd": 1}, f"{name}: odd 1") for name in ("bucketize", "hierarchy", "round", "blur", "mapping")),
            *((name, {"odd": 1}, f"{name}: odd 1") for name in ("noise", "randomised_response", "top_bottom")),
            ("hierarchy", {"level": 1}, "hierarchy: level 1"),
        ],
    )
    def test_of_a_function(self, name, parameters, words):
        function = {"name": name, "parameters": parameters}
        assert words_of(Masking.model_validate(MASKING | {"function": function})) == words

    def test_where_no_function_is_given(self):
        assert words_of(Masking.model_validate(MASKING)) == "not given"
        assert words_of(Masking.model_validate(EXAMPLE_DRAWN_MASKING)) == "not given; masked at random"


MASKING = {"id": "m", "domain": ["x"], "mapping": [0]}


class TestHostile:
    def test_nothing_moves_the_cursor(self, aegis, tmp_path):
        entry = copy.deepcopy(EXAMPLE_ENTRY)
        entry["title"] = entry["description"] = "\x1b[2J\r\n\u202eevil"
        entry["attributes"][0]["domain"][0] = "\x1b]0;owned\x07" + "x" * 5000
        entry["label"]["domain"][0] = "\x9b31m\n"
        out = aegis("show", written(tmp_path / "e.json", entry))[1]
        assert all(character.isprintable() or character == "\n" for character in out)
        assert max(map(len, out.splitlines())) < 250
        assert "\\x1b[2J\\r\\n\\u202eevil" in out

    def test_texts_are_cut_and_counted(self):
        assert shown("") == '""'
        assert shown("x" * 40, 10) == "xxxxxxxxx…"
        assert some(["a", "", "c", "d"], 2) == 'a, "" and 2 more'

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("show", "no.json"), "no.json: cannot be read"),
            (("show", "entry.json", "--attribute", "aeg"), "no attribute 'aeg'; did you mean 'age'?"),
            (("show", "entry.json", "--attribute", "weight"), "no attribute 'weight'; it has age"),
            (("show", "bad.json"), "bad.json: /name"),
        ],
    )
    def test_bad_input_is_one_line_and_code_2(self, aegis, tmp_path, monkeypatch, arguments, told):
        monkeypatch.chdir(tmp_path)
        written(tmp_path / "entry.json", EXAMPLE_ENTRY)
        written(tmp_path / "bad.json", EXAMPLE_ENTRY | {"name": "Ä"})
        code, out, error = aegis(*arguments)
        assert (code, out, error.count("\n")) == (2, "", 1)
        assert told in error

    def test_the_base_installation_is_enough(self, tmp_path):
        heavy = ["duckdb", "ibis", "jinja2", "matplotlib", "numpy", "pyarrow", "yaml"]
        run = f"import sys; sys.modules |= dict.fromkeys({heavy}); from aegis_sdk.cli import main; main()"
        entry = written(tmp_path / "entry.json", EXAMPLE_ENTRY)
        ran = subprocess.run(
            [sys.executable, "-c", run, "show", str(entry)], capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout.startswith("health-survey: Self-rated health\n")
