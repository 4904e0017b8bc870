"""Where lineage goes, what it calls tables, and what happens if it cannot be sent."""

import json
import stat
from dataclasses import replace

import pytest

from aegis_provider.handover import Lineage
from aegis_provider.handover.lineage import OriginalTable, _place
from aegis_sdk.cli.terminal import InputError
from tests.for_each import for_each
from tests.stores import web_store


def test_a_file_gets_a_line_for_each_event_and_is_its_owners(tmp_path):
    lineage = Lineage.at(str(tmp_path / "lineage.jsonl"))
    assert [lineage.send({"n": number, "text": "é\n"}) for number in (1, 2)] == ["", ""]
    lines = (tmp_path / "lineage.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["n"] for line in lines] == [1, 2]
    assert stat.S_IMODE((tmp_path / "lineage.jsonl").stat().st_mode) == 0o600


def test_what_cannot_be_sent_is_said_without_the_login(tmp_path):
    with web_store() as store:  # which takes no POST
        said = Lineage.at(store.url.replace("http://", "http://me:secret@")).send({})
    assert said == "the lineage event was not taken: the server answers 501"
    nobody = Lineage.at(store.url.replace("http://", "http://me:secret@")).send({})
    assert nobody == "the lineage event was not sent: ConnectError"
    (tmp_path / "gone").mkdir()
    lineage = Lineage.at(str(tmp_path / "gone" / "lineage.jsonl"))
    (tmp_path / "gone").rmdir()
    assert lineage.send({}) == "the lineage event was not sent: FileNotFoundError"


@for_each("place", ["ftp://x.example/l", "http://", "https://[::1", "missing/lineage.jsonl", "."])
def test_other_places_are_refused_before_any_work(place):
    with pytest.raises(InputError, match="--lineage"):
        Lineage.at(place)


def test_the_same_table_has_the_same_version_and_another_users_another(tmp_path, monkeypatch):
    table = tmp_path / "t.csv"
    table.write_text("a\n1\n")
    first = OriginalTable.of(table)
    assert (first.namespace, first.name, OriginalTable.of(str(table))) == ("file", str(table), first)
    table.write_text("a\n2\n")
    assert OriginalTable.of(table).version != first.version
    table.write_text("a\n1\n")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert replace(OriginalTable.of(table), version=first.version) == first
    assert OriginalTable.of(table).version != first.version


def test_places_have_no_logins_and_signatures():
    known = {
        "https://me:secret@store.example:8443/a/t.csv?signature=4f1c#x": ("https://store.example:8443", "a/t.csv"),
        "postgresql://me@db.example/stays#public.stay": ("postgresql://db.example", "stays#public.stay"),
    }
    assert {url: _place(url) for url in known} == known
