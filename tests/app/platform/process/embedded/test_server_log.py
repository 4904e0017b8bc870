import os
from time import monotonic

from app.platform.process.embedded import server as embedded


def test_a_large_log_is_moved_away_while_the_server_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "LARGEST_LOG", 10)
    log = tmp_path / "postgres.log"
    server = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(server, b"short\n")
    embedded.rotate(log)
    assert log.read_bytes() == b"short\n"
    os.write(server, b"and longer\n")
    embedded.rotate(log)
    os.write(server, b"next\n")
    os.close(server)
    old = tmp_path / "postgres.log.1"
    assert (log.read_bytes(), old.read_bytes()) == (b"next\n", b"short\nand longer\n")
    assert old.stat().st_mode & 0o777 == 0o600


def test_it_is_looked_at_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "LARGEST_LOG", 10)
    monkeypatch.setattr(embedded, "LOG_PAUSE", 0.01)
    log, old = tmp_path / "postgres.log", tmp_path / "postgres.log.1"
    log.write_bytes(b"")
    with embedded.kept_small(log):
        with log.open("ab") as server:
            server.write(b"x" * 100)
        deadline = monotonic() + 60
        while not old.exists() and monotonic() < deadline:
            pass
    assert old.read_bytes() == b"x" * 100
