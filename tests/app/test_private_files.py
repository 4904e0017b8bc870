"""The file of the key that signs, which several processes may make at once, and which a failure must not leave half."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from app.audit.service import draw_key_text
from app.cli.environment import create_privately

MANY = 8


def test_of_many_who_create_a_file_one_wins_and_all_read_what_it_wrote(tmp_path):
    path, start = tmp_path / "audit-key.pem", Barrier(MANY)

    def create(_):
        text = draw_key_text()
        start.wait(10)
        create_privately(path, text)
        return text, path.read_text()

    with ThreadPoolExecutor(MANY) as threads:
        for _ in range(20):
            made = list(threads.map(create, range(MANY)))
            assert len({text for text, _ in made}) == MANY
            [read] = {read for _, read in made}
            assert read in {text for text, _ in made}
            assert list(tmp_path.iterdir()) == [path]
            assert path.stat().st_mode & 0o777 == 0o600
            path.unlink()


def test_a_file_that_exists_is_left_alone(tmp_path):
    path = tmp_path / "audit-key.pem"
    path.write_text("the first")
    create_privately(path, "another")
    assert (path.read_text(), list(tmp_path.iterdir())) == ("the first", [path])


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_what_fails_leaves_no_file(tmp_path, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        create_privately(tmp_path / "audit-key.pem", "text")
    assert list(tmp_path.iterdir()) == []
