"""The release before stays until the one of today is whole."""

import pytest

from aegis_provider import OutputError
from aegis_provider.workflow.refreshing import brought_back, kept, refresh


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "entry.json").write_text("before")
    return folder


def replaced(folder):
    """Replace a file as a release does, and add one."""
    part = folder / "part"
    part.write_text("today")
    part.rename(folder / "entry.json")
    (folder / "card.md").write_text("today")


def test_a_whole_release_replaces_the_one_before(folder):
    with kept(folder):
        replaced(folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"entry.json": "today", "card.md": "today"}
    assert [path.name for path in folder.parent.iterdir()] == ["release"]


def test_a_failed_one_leaves_the_one_before(folder):
    def stopped():
        with kept(folder):
            replaced(folder)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"entry.json": "before"}
    assert [path.name for path in folder.parent.iterdir()] == ["release"]


def test_so_does_a_killed_one_at_the_next_refresh(folder):
    killed = kept(folder)  # a name for it, so that it is not closed
    killed.__enter__()
    replaced(folder)
    brought_back(folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"entry.json": "before"}
    assert [path.name for path in folder.parent.iterdir()] == ["release"]


def test_a_folder_without_a_release_is_named(folder, tmp_path):
    (folder / ".aegis-release.json").write_text("{}")
    with pytest.raises(OutputError, match=r"release: has no whole release of this version; make one by aegis release"):
        refresh(folder, tmp_path / "t.csv")
    with pytest.raises(OutputError, match=r"nothing: there is no release"):
        refresh(tmp_path / "nothing", tmp_path / "t.csv")
    assert not (tmp_path / "nothing").exists()


def test_a_folder_of_another_origin_is_not_touched_and_folders_in_one_of_a_release_stay(folder, tmp_path):
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="release: has files of another origin"):
        refresh(folder, tmp_path / "t.csv")
    (folder / ".aegis-release.json").write_text("{}")
    with pytest.raises(OutputError, match="has no whole release of this version"):
        refresh(folder, tmp_path / "t.csv")
    assert (folder / "notes" / "mine.txt").read_text() == "mine"
    assert [path.name for path in folder.parent.iterdir()] == ["release"]
