"""The key of lasting rounding: made once, for its owner only, and missed where it changed."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from aegis_provider import state
from aegis_provider.control import LastingRandomness
from aegis_provider.errors import OutputError
from aegis_provider.state import StateError, changed_key, lasting_randomness, remember_key
from tests.for_each import for_each


@pytest.fixture
def key(tmp_path, monkeypatch):
    """The place of the key in a state folder that is not there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "aegis" / "rounding.key"


def test_it_is_made_once_for_its_owner_only(key):
    first, again = lasting_randomness(), lasting_randomness()
    assert key.read_bytes() == first.key == again.key
    assert len(first.key) == 32
    assert (stat.S_IMODE(key.stat().st_mode), stat.S_IMODE(key.parent.stat().st_mode)) == (0o600, 0o700)
    assert [each.name for each in key.parent.iterdir()] == [key.name]
    assert (str(key) in first.made, again.made) == (True, "")
    assert first.warning == again.warning == ""  # nothing has changed yet


def test_nobody_else_writes_in_a_folder_that_is_made_for_it(key):
    before = os.umask(0)
    try:
        lasting_randomness()
    finally:
        os.umask(before)
    assert stat.S_IMODE(key.parents[1].stat().st_mode) == 0o700


def test_a_relative_home_is_none_since_its_key_could_lie_in_a_release(monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", "release")
    with pytest.raises(StateError, match="set XDG_STATE_HOME"):
        lasting_randomness()


def _no_hard_links(*_):
    raise PermissionError(errno.EPERM, "Operation not permitted")


@for_each(("link",), [(os.link,), (_no_hard_links,)])
def test_commands_at_once_get_one_key(key, monkeypatch, link):
    """All of them miss it before the first one makes it, also on a file system without hard links."""
    key.unlink(missing_ok=True)
    monkeypatch.setattr(state.os, "link", link)
    monkeypatch.setattr(state.os.path, "lexists", lambda _: False)
    with ThreadPoolExecutor(8) as threads:
        keys = {each.key for each in threads.map(lambda _: lasting_randomness(), range(8))}
    assert keys == {key.read_bytes()}
    assert [each.name for each in key.parent.iterdir()] == [key.name]


@for_each(
    ("spoil", "said"),
    [
        (lambda key: key.chmod(0o640), "chmod 600"),
        (lambda key: key.write_bytes(key.read_bytes()[:31]), "damaged"),
        (lambda key: key.write_bytes(bytes(33)), "damaged"),
        (lambda key: key.rename(key.with_name("k")) and key.symlink_to("k"), "a regular file"),
        (lambda key: key.unlink() or key.mkdir(), "a regular file"),
    ],
)
def test_one_that_is_not_the_owners_alone_is_refused_in_a_line(key, spoil, said):
    lasting_randomness()
    spoil(key)
    with pytest.raises(StateError, match=said) as refused:
        lasting_randomness()
    assert str(key) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StateError, match="set XDG_STATE_HOME"):
        lasting_randomness()


def test_what_is_kept_of_a_table_may_be_damaged_or_missing(key):
    chance = lasting_randomness()
    remember_key(chance, "y", ["a"])
    kept = next((key.parent / "tables").iterdir())
    kept.write_text("\x1b[31m")
    assert "another key (unknown, now" in changed_key(chance, "y", ["a"])
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.touch()
    with pytest.raises(OutputError, match="cannot be made") as refused:
        remember_key(chance, "y", ["a"])
    assert str(kept.parent) in str(refused.value)


def test_another_key_than_that_of_the_last_entry_is_told(key):
    first = lasting_randomness()
    assert changed_key(first, "y", ["a", "b"]) == ""
    remember_key(first, "y", ["b", "a"])
    key.unlink()
    other = lasting_randomness()
    assert changed_key(first, "y", ["a", "b"]) == changed_key(other, "x", ["a", "b"]) == ""
    assert changed_key(LastingRandomness(), "y", ["a", "b"]) == ""  # it lasts for nothing
    assert first.fingerprint in changed_key(other, "y", ["a", "b"])
    kept = next((key.parent / "tables").iterdir()).read_bytes()
    assert (first.key.hex().encode() in kept, len(kept)) == (False, 17)
