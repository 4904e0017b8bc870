"""A table of cases fails by each case that fails, and none of them sees what another left."""

import os
from contextlib import suppress

import pytest

from tests.for_each import case, for_each, for_some


class FalsyError(Exception):
    """An error that has a length of 0, as some collections of errors do."""

    def __len__(self):
        return 0


def fails(test, **given):
    """The notes of the cases by which a table fails."""
    with pytest.raises(BaseExceptionGroup) as caught:
        test(**given)
    return [note for error in caught.value.exceptions for note in error.__notes__]


def test_each_case_that_fails_is_named(request):
    @for_each(("number", "kind"), [(1, None), (2, ValueError), (3, FalsyError), (4, pytest.skip.Exception), (5, None)])
    def table(number, kind):
        assert number < 5
        if kind is not None:
            raise kind

    kinds = {2: ValueError, 3: FalsyError, 4: pytest.skip.Exception, 5: None}
    assert fails(table, request=request) == [
        f"of the case number={number}, kind={kind!r}" for number, kind in kinds.items()
    ]


def test_a_case_finds_files_and_variables_as_they_were(tmp_path, monkeypatch, request):
    (tmp_path / "given").write_text("as it was")
    seen = []

    @for_each("number", [1, 2])
    def table(number, tmp_path, monkeypatch):
        seen.append((sorted(path.name for path in tmp_path.iterdir()), (tmp_path / "given").read_text()))
        seen.append("CASE" in os.environ)
        monkeypatch.setenv("CASE", str(number))
        (tmp_path / "given").write_text("changed")
        (tmp_path / f"new{number}").mkdir()

    table(tmp_path=tmp_path, monkeypatch=monkeypatch, request=request)
    assert seen == [(["given"], "as it was"), False] * 2
    assert "CASE" not in os.environ


def test_what_cannot_be_a_table_is_refused():
    async def awaited(number): ...

    with pytest.raises(AssertionError, match="would not be awaited"):
        for_each("number", [1])(awaited)
    with pytest.raises(AssertionError, match="does not take"):
        for_each("other", [1])(lambda number: number)
    with pytest.raises(AssertionError):
        for_each("number", [])


def test_a_loop_names_the_case_that_fails():
    with pytest.raises(ZeroDivisionError) as caught, case("nothing"):
        1 / 0  # noqa: B018
    assert caught.value.__notes__ == ["of the case nothing"]
    with suppress(KeyError), case("something"):
        {}["a"]


def test_the_first_few_cases_run_in_every_suite_and_the_others_in_the_long_one(request):
    seen = []

    @for_some(2, "number", range(5))
    def table(number):
        seen.append(number)

    [mark] = table.pytestmark
    few, others = mark.args[1]
    for part in (few, *others.values):
        table(request=request, part=part)
    assert (few, seen, [each.name for each in others.marks]) == ([0, 1], [0, 1, 2, 3, 4], ["long"])
