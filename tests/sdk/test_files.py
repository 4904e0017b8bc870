"""Files appear whole or not at all, whoever else writes them."""

import os

import pytest

from aegis_sdk._files import is_unfinished, write_together, written_whole


def test_a_file_is_whole_although_another_writes_it_with_the_same_number_of_process(tmp_path):
    """As in two containers: what one has finished is not what the other has begun."""
    target = tmp_path / "t.json"
    with written_whole(target) as one:
        one.write_text("all of one")
        other = written_whole(target)
        other.__enter__().write_text("half of")
    assert target.read_text() == "all of one"
    other.__exit__(None, None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_what_is_left_of_a_killed_program_is_known_and_in_nobody_s_way(tmp_path):
    killed = written_whole(tmp_path / "t.json")
    left = killed.__enter__()
    write_together({tmp_path / "t.json": "new"})
    assert is_unfinished(left)
    assert {path.name for path in tmp_path.iterdir()} == {left.name, "t.json"}


def test_a_private_file_is_its_owners_alone_and_others_follow_the_mask(tmp_path):
    mask = os.umask(0o027)
    try:
        for private, mode in ((True, 0o600), (False, 0o640)):
            with written_whole(tmp_path / "t.json", private=private) as part:
                assert part.stat().st_mode & 0o777 == mode
            assert (tmp_path / "t.json").stat().st_mode & 0o777 == mode
    finally:
        os.umask(mask)


def test_a_link_is_replaced_and_where_it_leads_stays(tmp_path):
    (tmp_path / "other").write_text("mine")
    (tmp_path / "t.json").symlink_to(tmp_path / "other")
    write_together({tmp_path / "t.json": "new"})
    assert (tmp_path / "other").read_text() == "mine"
    assert (tmp_path / "t.json").read_text() == "new"
    assert not (tmp_path / "t.json").is_symlink()


def test_no_file_gets_its_name_if_one_of_them_cannot_be_written(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_together({tmp_path / "a": "new", tmp_path / "b": "\ud800"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}
