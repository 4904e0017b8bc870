"""The folder of a release: what is done is not done again, unless something that it was made from has changed."""

import json

import pytest

from aegis_provider.errors import OutputError
from aegis_provider.workflow.folder import Folder, digests_of
from tests.for_each import for_each


def made(folder, inputs, text="made", keeps=lambda _: True):
    """Take a step that writes a file; return its result and whether it was worked out."""
    ran = []

    def work():
        ran.append(text)
        folder.file("file").write_text(text)
        return {"text": text}

    return folder.step("step", inputs, ["file"], dict[str, str], work, keeps), bool(ran)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "release"


def test_a_step_is_taken_once(folder):
    assert made(Folder.open(folder, []), {"a": 1}) == ({"text": "made"}, True)
    assert made(Folder.open(folder, []), {"a": 1}, "other") == ({"text": "made"}, False)


def test_a_step_for_which_time_was_up_is_taken_again(folder):
    made(Folder.open(folder, []), {"a": 1}, "a part")
    for ran in (True, False):
        again = made(Folder.open(folder, []), {"a": 1}, "all", keeps=lambda kept: kept["text"] == "all")
        assert again == ({"text": "all"}, ran)


def test_other_inputs_take_it_again(folder):
    made(Folder.open(folder, []), {"a": 1})
    assert made(Folder.open(folder, []), {"a": 2}, "other") == ({"text": "other"}, True)
    assert folder.joinpath("file").read_text() == "other"


@for_each("change", [lambda file: file.write_text("edited"), lambda file: file.unlink()])
def test_a_changed_output_is_made_again(folder, change):
    made(Folder.open(folder, []), {"a": 1})
    change(folder / "file")
    assert made(Folder.open(folder, []), {"a": 1}) == ({"text": "made"}, True)


@for_each("state", ["", "[]", '{"format": 1}', '{"format": 9, "steps": {}}', '{"format": 1, "steps": [0]}'])
def test_a_damaged_memory_is_forgotten(folder, state):
    made(Folder.open(folder, []), {"a": 1})
    folder.joinpath(".aegis-release.json").write_text(state)
    assert made(Folder.open(folder, []), {"a": 1}) == ({"text": "made"}, True)


def test_a_result_of_another_kind_is_worked_out_again(folder):
    made(Folder.open(folder, []), {"a": 1})
    state = folder / ".aegis-release.json"
    document = json.loads(state.read_text())
    document["steps"]["step"]["result"] = ["not a dictionary"]
    state.write_text(json.dumps(document))
    assert made(Folder.open(folder, []), {"a": 1}) == ({"text": "made"}, True)


def test_a_step_that_fails_leaves_no_memory(folder):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Folder.open(folder, []).step("step", {}, [], int, fail)
    assert list(folder.iterdir()) == []


def test_a_folder_of_other_files_is_not_touched(folder):
    folder.mkdir()
    folder.joinpath("mine").touch()
    with pytest.raises(OutputError, match="files of another origin, such as mine; name a new folder"):
        Folder.open(folder, ["plan.yaml"])
    folder.joinpath("mine").rename(folder / "plan.yaml")
    assert Folder.open(folder, ["plan.yaml"]).done == {}


def test_what_a_killed_run_has_left_is_no_file_of_another_origin(folder):
    folder.mkdir()
    folder.joinpath(".masked.csv.4711.part").touch()
    assert made(Folder.open(folder, []), {"a": 1}) == ({"text": "made"}, True)


def test_what_is_no_folder_is_refused(tmp_path):
    tmp_path.joinpath("file").touch()
    with pytest.raises(OutputError, match="is a file; name a folder"):
        Folder.open(tmp_path / "file", [])
    with pytest.raises(OutputError, match=r"there is no folder .*no; create it first"):
        Folder.open(tmp_path / "no" / "folder", [])


def test_a_table_is_its_files(tmp_path):
    one = tmp_path / "one.csv"
    one.write_text("a\n1\n")
    before = digests_of(one)
    assert before == digests_of(str(tmp_path / "*.csv"))
    one.write_text("a\n2\n")
    assert digests_of(one) != before
    assert digests_of("postgresql://localhost/db#people") is None


def test_it_is_of_one_table_wherever_that_is(folder, tmp_path):
    first, other = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("a\n1\n")
    other.write_text("a\n2\n")
    begun = Folder.open(folder, [])
    begun.claim(first, {})
    assert not any(folder.iterdir())  # a run that is refused leaves nothing
    made(begun, {"a": 1})
    with pytest.raises(OutputError, match=f"{folder}: has the release of {first}; name another folder for {other}$"):
        Folder.open(folder, []).refuse_other(str(other), ["file"])
    Folder.open(folder, []).refuse_other(other, ["masked.csv"])  # nothing to replace
    first.rename(other)
    Folder.open(folder, []).refuse_other(other, ["file"])
    other.write_text("a\n3\n")
    first.write_text("a\n4\n")
    Folder.open(folder, []).refuse_other(first, ["file"])
