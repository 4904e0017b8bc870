"""A delivery from the provider's file to the consumer's verdict, through the real service and a real file server."""

import csv
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pytest

import aegis_sdk
from aegis_provider import apply, document_of, load_plan
from aegis_provider.prepare import prepare_entry
from aegis_provider.table import engine
from aegis_sdk import Client, ConflictError, InvalidError
from aegis_sdk._data_requests import DataRequests
from aegis_sdk.cli.main import main
from aegis_sdk.cli.requests import report
from aegis_sdk.wire import DeliveryDescriptor, DeliveryVerdict
from tests.file_server import serving
from tests.provider.receiving.delivering import table_text

PLAN = """label: y
attributes:
  age: {maskings: {tens: {bucketize: {width: 10}}, twenties: {bucketize: {width: 20}}}}
  place: {maskings: {side: {mapping: {north: N, south: S, isle: N}, other: EW}}}
configurations:
  c01: {age: twenties, place: side}
  c02: {age: tens, place: side}
privacy:
  c01: {k: 5}
  c02: {k: 2}
"""


@pytest.fixture
def receive(url, tmp_path, monkeypatch, capsys):
    """Run `aegis receive` in a folder of its own, where links to this machine are allowed unless told otherwise."""
    monkeypatch.setenv("AEGIS_URL", url)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, private: str = "true") -> tuple[int, str, str]:
        monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", private)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["receive", *arguments])
        return ended.value.code, *capsys.readouterr()

    return run


@dataclass
class World:
    """A provider's plan and table, its entry, and a client of the service."""

    client: Client
    folder: Path
    plan: Any
    table: Path
    head: Any

    def released(self, configuration: str, name: str = "masked.csv") -> tuple[bytes, int]:
        path = self.folder / name
        records = apply(self.table, self.plan, configuration, path).records
        return path.read_bytes(), records

    def requested(self) -> Any:
        asked = {"purpose": "a study", "contact": "me", "terms": self.head.terms}
        made = self.client.requests.create(self.head.id, "mutual_information", **asked, require={"k": 5}, wait=60)
        assert self.client.requests.approve(made.id).configuration == "c01"
        return made

    def delivered(self, server: Any, **changes: Any) -> str:
        """The id of a request for which what the server has was delivered."""
        made = self.requested()
        lines = server.content.count(b"\n") - 1
        told = server.descriptor(records=lines, configuration="c01", entry_digest=self.head.digest, privacy={"k": 5})
        self.client.requests.deliver(made.id, DeliveryDescriptor.model_validate(told | changes))
        return made.id


@pytest.fixture(scope="module")
def world(url, tmp_path_factory):
    folder = tmp_path_factory.mktemp("provider")
    table, written = folder / "t.csv", folder / "plan.yaml"
    lines = [line.split(",") for line in table_text(3_000).splitlines()]
    table.write_text("\n".join(",".join([each[0], each[1], each[4]]) for each in lines) + "\n")
    written.write_text(PLAN)
    prepared = prepare_entry(table, load_plan(written), name=f"e-{uuid4().hex[:8]}", exact=True, pairs=True)
    with Client(url) as client:
        head = client.publish(document_of(prepared.entry), accept_small_counts=True)
        yield World(client, folder, prepared.plan, table, head)


def test_an_honest_delivery_is_received_although_the_connection_was_cut(world, receive, tmp_path):
    content, records = world.released("c01")
    with serving(content) as server:
        server.cut_after = 10_000
        request_id = world.delivered(server)
        code, out, err = receive(request_id, "--output", "mine.csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"received: c01 of {world.head.name}, version 1"
    assert len(out.splitlines()) < 8
    assert (tmp_path / "mine.csv").read_bytes() == content
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.csv", "mine.csv.datapackage.json"]
    package = json.loads((tmp_path / "mine.csv.datapackage.json").read_text())
    assert package["resources"][0]["hash"] == f"sha256:{sha256(content).hexdigest()}"
    assert package["aegis:entry"] == {
        "name": world.head.name, "id": world.head.id, "version": 1, "digest": world.head.digest,
    }  # fmt: skip
    assert (package["aegis:configuration"], package["aegis:privacy"]) == ("c01", {"k": 5})
    assert len(server.asked) > 2
    seen = world.client.requests.get(request_id)
    told = seen.verification
    assert f"its consumer found: {records} records, SHA-256 {told.sha256}, " in "\n".join(report(seen))
    assert (seen.state, told.records, told.cells_differing) == ("received", records, 0)
    assert told.cells_compared > 40
    assert told.privacy["k"] >= 5
    code, out, err = receive(request_id)
    assert (code, out, err) == (2, "", "aegis: this request is received, so nothing can be received\n")


def test_a_table_of_which_one_record_was_changed_is_disputed_with_the_cells(world, receive, tmp_path):
    content, _ = world.released("c01")
    rows = list(csv.reader(content.decode().splitlines()))
    rows[1][2] = "high" if rows[1][2] != "high" else "low"
    with serving(("\n".join(map(",".join, rows)) + "\n").encode()) as server:
        request_id = world.delivered(server)
        code, out, err = receive(request_id, "--json")
    told = json.loads(out)
    assert (code, err, told["verdict"]) == (3, "", "disputed")
    seen = world.client.requests.get(request_id)
    assert (seen.state, seen.verification.cells_differing) == ("disputed", 6)  # two of the label and of each attribute
    assert seen.verification.differences == told["verification"]["differences"]
    assert {each["rule"] for each in seen.verification.differences} == {"equal"}
    assert Path(tmp_path / told["output"]).read_bytes() == server.content
    assert [each.name for each in tmp_path.iterdir()] == [told["output"]]  # no package says that it is as agreed


def test_a_forged_digest_is_disputed_with_that_of_the_file(world, receive, tmp_path):
    content, _ = world.released("c01")
    with serving(content) as server:
        request_id = world.delivered(server, sha256="0" * 64)
        code, out, err = receive(request_id, "--output", "mine.csv")
    assert (code, err) == (3, "")
    assert "the link gives another file: its SHA-256 is" in out
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.csv.part"]
    seen = world.client.requests.get(request_id)
    assert (seen.state, seen.verification.sha256) == ("disputed", sha256(content).hexdigest())
    assert "another file" in seen.changes[-1].reason


def test_what_cannot_be_downloaded_is_no_verdict(world, receive, tmp_path):
    content, _ = world.released("c01")
    with serving(content) as server:
        request_id = world.delivered(server, size=len(content) + 1)
        code, out, err = receive(request_id)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert f"gives {len(content)} bytes, but {len(content) + 1} were delivered" in err
        code, out, err = receive(request_id, private="")
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "must begin with https" in err
    assert not [*tmp_path.iterdir()]
    assert world.client.requests.get(request_id).state == "delivered"


def test_another_configuration_is_disputed(world, receive):
    content, _ = world.released("c02")
    with serving(content) as server:
        code, out, _ = receive(world.delivered(server))
    assert code == 3
    assert "not there" in out


def test_a_consumer_whose_link_never_answers_disputes_in_words(world, receive, tmp_path):
    content, _ = world.released("c01")
    with serving(content) as server:
        request_id = world.delivered(server)
    assert receive(request_id, "--dispute", "")[0] == 2
    code, out, _ = receive(request_id, "--dispute", "x", "--output", "none.csv")
    assert (code, out, world.client.requests.get(request_id).state) == (2, "", "delivered")
    code, out, err = receive(request_id, "--dispute", "The link has not answered for a week")
    assert (code, err) == (3, "")
    assert out.splitlines() == ["disputed: The link has not answered for a week", "no file was checked"]
    seen = world.client.requests.get(request_id)
    assert (seen.state, seen.verification.sha256, seen.verification.size) == ("disputed", None, None)
    assert seen.changes[-1].reason == "The link has not answered for a week"
    assert "its consumer has got no file" in list(report(seen))
    assert list(tmp_path.iterdir()) == []
    code, out, err = receive(request_id, "--dispute", "again")
    assert (code, out, err) == (2, "", "aegis: this request is disputed, so nothing can be disputed\n")


class Tomorrow(datetime):
    """The clock of a day later."""

    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + timedelta(days=1)


def test_a_link_that_has_ended_can_be_disputed_with_the_file_that_is_there(world, receive, tmp_path, monkeypatch):
    content, _ = world.released("c01")
    with serving(content) as server:
        request_id = world.delivered(server, expires_at=datetime.now(UTC) + timedelta(hours=1))
    (tmp_path / "mine.csv").write_bytes(content)
    monkeypatch.setattr("aegis_sdk.cli.receive.datetime", Tomorrow)
    code, _, err = receive(request_id)
    assert (code, err.count("\n")) == (2, 1)
    assert "ask its provider for another one, or --dispute it" in err
    code, out, _ = receive(request_id, "--dispute", "Too late", "--output", "mine.csv", "--json")
    told = json.loads(out)
    assert (code, told["verdict"]) == (3, "disputed")
    assert told["verification"]["sha256"] == sha256(content).hexdigest()
    assert world.client.requests.get(request_id).verification.size == len(content)


def test_raw_values_and_other_columns_stay_with_the_consumer(world, receive):
    content, _ = world.released("c01")
    rows = list(csv.reader(content.decode().splitlines()))
    at = rows[0].index("place")
    rows[1][at], rows[2][at], rows[3][rows[0].index("y")] = "Elm Street 7", "Elm Street 8", "HIV"
    rows = [[*row, "patient" if place == 0 else "Jane Doe"] for place, row in enumerate(rows)]
    with serving(("\n".join(map(",".join, rows)) + "\n").encode()) as server:
        request_id = world.delivered(server)
        code, out, err = receive(request_id, "--json")
    told = json.loads(out)
    assert (code, err) == (3, "")
    texts = {each["text"]: each["records"] for each in told["unknown_texts"]}
    assert texts == {"Elm Street 7": 1, "Elm Street 8": 1, "HIV": 1}
    assert told["faults"] == ["the file has columns that were not approved: 'patient'"]
    for who in (told["verification"], world.client.requests.get(request_id).model_dump(mode="json")):
        assert not any(text in json.dumps(who) for text in ("Elm", "HIV", "patient", "Jane"))
    seen = world.client.requests.get(request_id)
    unknown = [each for each in seen.verification.differences if each["rule"] == "unknown"]
    assert [(each["attributes"], each["values"], each["delivered"]) for each in unknown] == [
        ([], [], 1),
        (["place"], [], 2),
    ]
    assert seen.changes[-1].reason == "the file has columns that were not approved: 1"


def test_a_file_that_cannot_be_read_is_disputed_without_a_word_of_it(world, receive):
    with serving(b"age,Jane Doe\n1,2\n") as server:
        request_id = world.delivered(server)
        assert receive(request_id)[0] == 3
    assert "Jane" not in world.client.requests.get(request_id).model_dump_json()


def test_what_is_no_table_is_disputed(world, receive):
    with serving(b"\x00\xff not a table\n" * 40) as server:
        request_id = world.delivered(server)
        code, _, _ = receive(request_id)
    assert code == 3
    seen = world.client.requests.get(request_id)
    assert (seen.state, seen.verification.cells_compared) == ("disputed", 0)
    assert seen.changes[-1].reason


def test_a_wrong_delimiter_of_the_consumer_is_no_verdict(world, receive, tmp_path):
    content, _ = world.released("c01")
    with serving(content) as server:
        request_id = world.delivered(server)
        for invalid in ("", ",,", '"'):
            code, out, err = receive(request_id, "--delimiter", invalid)
            assert (code, out) == (2, "")
            assert err.startswith("aegis: --delimiter: give one character")
        assert (server.asked, list(tmp_path.iterdir())) == ([], [])
        code, out, err = receive(request_id, "--delimiter", ";")
        assert (code, out) == (2, "")
        assert "has no column 'y'" in err
        assert "looks separated by ','" in err
        assert world.client.requests.get(request_id).state == "delivered"
        assert receive(request_id, "--delimiter", ",")[0] == 0


def test_a_machine_that_cannot_count_reaches_no_verdict(world, receive, monkeypatch):
    content, _ = world.released("c01")
    errors = [duckdb.OutOfMemoryException("no"), duckdb.IOException("disk full"), OSError(28, "full"), MemoryError()]

    def fail(*_):
        raise errors.pop()

    monkeypatch.setattr(engine, "_limit_memory", fail)
    with serving(content) as server:
        request_id = world.delivered(server)
        for left in (3, 2, 1, 0):
            code, out, err = receive(request_id)
            assert (code, out, len(errors)) == (1, "", left)
            assert err.splitlines()[-1].startswith("aegis: ")
            assert world.client.requests.get(request_id).state == "delivered"


def test_the_answer_of_the_service_names_no_other_file(world, receive, tmp_path, monkeypatch):
    get = DataRequests.get
    with serving(b"y\n1\n") as server:
        request_id = world.delivered(server)  # this asks for the request, too
        monkeypatch.setattr(DataRequests, "get", lambda *given: get(*given).model_copy(update={"id": "../t"}))
        code, out, err = receive(request_id)
        assert (code, out, err) == (1, "", "aegis: the service has sent another request, ../t\n")
    assert (server.asked, list(tmp_path.iterdir())) == ([], [])


def test_without_the_provider_s_package_a_file_is_downloaded_and_nothing_is_posted(
    world, receive, tmp_path, monkeypatch
):
    content, _ = world.released("c01")
    monkeypatch.setattr("aegis_sdk.cli.group.entry_points", lambda group: [])  # noqa: ARG005
    with serving(content) as server:
        request_id = world.delivered(server)
        code, out, err = receive(request_id)
    assert (code, err) == (4, "")
    assert out.startswith("downloaded, not verified: that comes with the provider's package")
    assert (tmp_path / f"{request_id}.csv").read_bytes() == content
    assert len(aegis_sdk.read(tmp_path / f"{request_id}.csv")) == content.count(b"\n") - 1
    assert world.client.requests.get(request_id).state == "delivered"


def test_a_package_that_cannot_be_written_leaves_no_half(world, aegis_on_full_disk, tmp_path, monkeypatch):
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    content, _ = world.released("c01")
    (tmp_path / "mine.csv").write_bytes(content)  # an earlier run got so far
    with serving(content) as server:
        arguments = ("receive", world.delivered(server), "--output", tmp_path / "mine.csv")
        code, _, err = aegis_on_full_disk(500, *arguments)
    assert (code, "its Data Package is not written: " in err, "File too large" in err) == (0, True, True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


def test_something_else_is_not_overwritten(world, receive, tmp_path):
    content, _ = world.released("c01")
    (tmp_path / "mine.csv").write_text("something else")
    with serving(content) as server:
        request_id = world.delivered(server)
        code, out, err = receive(request_id, "--output", "mine.csv")
        assert (code, out) == (2, "")
        assert "choose another --output" in err
        assert server.asked == []
        (tmp_path / "mine.csv").write_bytes(content)  # an earlier run got so far
        (tmp_path / "elsewhere.json").write_text("something else")
        (tmp_path / "mine.csv.datapackage.json").symlink_to(tmp_path / "elsewhere.json")
        assert receive(request_id, "--output", "mine.csv")[0] == 0
        assert server.asked == []
    assert (tmp_path / "elsewhere.json").read_text() == "something else"
    assert "c01" in (tmp_path / "mine.csv.datapackage.json").read_text()


def test_the_client_has_the_evidence_and_gives_verdicts(world):
    content, records = world.released("c01")
    made = world.requested()
    with pytest.raises(ConflictError, match="You may: deliver"):
        world.client.requests.evidence(made.id)
    world.client.requests.withdraw(made.id)
    with serving(content) as server:
        request_id = world.delivered(server)
    evidence = world.client.requests.evidence(request_id)
    assert (evidence.configuration, evidence.records, len(evidence.pairs)) == ("c01", 3_000, 1)
    verdict = DeliveryVerdict(sha256=sha256(content).hexdigest(), size=len(content), records=records - 1)
    with pytest.raises(InvalidError) as refused:
        world.client.requests.receive(request_id, verdict)
    assert refused.value.code == "inconsistent_verdict"
    assert world.client.requests.dispute(request_id, verdict).state == "disputed"
    assert world.client.requests.evidence(request_id) == evidence
