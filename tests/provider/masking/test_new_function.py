"""A masking function needs only a class and a line in the registry; nothing else has to know its name."""

import csv
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aegis_provider import PlanError, apply, assess, load_plan
from aegis_provider.masking import MaskingFunction
from aegis_provider.masking.registry import FUNCTIONS, by_name
from aegis_provider.masking.texts import Blur
from aegis_provider.plan.writing import write_plan
from aegis_sdk.reading import outline_of
from aegis_sdk.wire import EntryDocument
from tests.provider.documents import summarize

PLAN = """
label: y
attributes: {city: {maskings: {short: {initial: {letters: 1, map: map.txt}}}}}
configurations: {c: {city: short}}
"""


@dataclass(frozen=True)
class Initial(MaskingFunction):
    """The first letters, spelled as a file says."""

    name: ClassVar[str] = "initial"
    file_keys: ClassVar[tuple[str, ...]] = ("map",)
    letters: int
    spelling: str

    @classmethod
    def read(cls, parameters):
        fields = parameters.fields("letters", "map")
        return cls(fields["letters"].integer(at_least=1), fields["map"].file().read_text(encoding="utf-8"))

    def parameters(self):
        return {"letters": self.letters}

    def describe(self):
        return f"their first {self.letters} letters"

    def mask(self, domain):
        return [text[: self.letters].translate(str.maketrans("w", self.spelling)) for text in domain.texts]


@pytest.fixture
def plan(monkeypatch, write):
    monkeypatch.setitem(FUNCTIONS, Initial.name, Initial)
    write("map.txt", "W")
    return load_plan(write("plan.yaml", PLAN))


@pytest.fixture
def table(write):
    return write("t.csv", "city,y\nwien,a\nwels,b\ngraz,a\n,b\n")


def test_a_function_that_is_registered_goes_from_the_plan_to_the_masked_table(plan, table, tmp_path):
    entry = summarize(table, plan, name="t", pairs=True)
    [masking] = entry["attributes"][0]["maskings"]
    assert masking["function"] == {"name": "initial", "parameters": {"letters": 1}}
    assert (masking["domain"], masking["mapping"]) == (["", "g", "W"], [0, 1, 2, 2])
    assert assess(table, plan).releases[0].privacy["k"] == 1
    apply(table, plan, "c", tmp_path / "masked.csv", keep_order=True)
    with (tmp_path / "masked.csv").open(encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["city", "y"], ["W", "a"], ["W", "b"], ["g", "a"], ["", "b"]]


def test_a_consumer_reads_it_by_what_the_entry_says(plan, table):
    entry = EntryDocument.model_validate(summarize(table, plan, name="t"))
    assert outline_of(entry, entry.attributes).attributes[0].maskings[0].function == "initial: letters 1"


def test_the_file_that_it_names_is_one_of_the_plan_and_follows_it(plan, tmp_path):
    assert tmp_path / "map.txt" in plan.files
    (tmp_path / "other").mkdir()
    write_plan(plan.files[0], plan, plan.configurations, tmp_path / "other" / "plan.yaml", "moved")
    assert "map: ../map.txt" in (tmp_path / "other" / "plan.yaml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("plan")
def test_what_its_parameters_are_not_is_refused_with_the_place(write):
    with pytest.raises(PlanError, match=r"^p\.yaml: attributes\.city\.maskings\.short\.initial\.letters: expected an"):
        load_plan(write("p.yaml", PLAN.replace("letters: 1", "letters: no")))


def test_two_functions_of_one_name_are_an_error_at_once():
    with pytest.raises(ValueError, match="two masking functions are called 'blur'"):
        by_name([Blur, type("Smudge", (Blur,), {})])
