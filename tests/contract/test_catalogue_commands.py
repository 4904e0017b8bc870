"""`aegis entries list`, `visibility`, `delete` and weights, against the real service."""

import json
import os
import pty
import subprocess
import sys
from uuid import uuid4

import pytest

from aegis_sdk import NotFoundError
from aegis_sdk.wire import EXAMPLE_ENTRY


@pytest.fixture
def entry(client):
    """The head of an entry for the test alone."""
    unique = uuid4().hex
    return client.publish(EXAMPLE_ENTRY | {"name": f"of-a-test-{unique}", "keywords": [f"word-{unique}"]})


@pytest.fixture
def at_terminal(url):
    """Run the command at a terminal with typed input and return its exit code, stdout and stderr."""

    def run(typed, *arguments):
        ours, theirs = pty.openpty()
        os.write(ours, typed.encode())
        command = [sys.executable, "-m", "aegis_sdk.cli", *arguments]
        environment = os.environ | {"AEGIS_URL": url}
        ran = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, env=environment)
        os.close(ours)
        os.close(theirs)
        return ran.returncode, ran.stdout, ran.stderr

    return run


class TestList:
    def test_an_entry_has_a_line(self, aegis, entry):
        code, out, error = aegis("entries", "list", "--keyword", entry.keywords[0])
        header, row = out.splitlines()
        assert (code, error) == (0, "")
        columns = "id name label records columns k version tenant visible to alone, at most small counts title"
        assert header.split() == columns.split()
        assert row.split("not stated")[1].split()[0] == "accepted"
        told = row.split()
        assert told[:8] == [entry.id, entry.name, entry.label, "100", "1", "5", "1", entry.tenant]
        assert "its own tenant only" in row
        assert row.endswith(entry.title)

    def test_the_newest_come_first_and_those_that_are_left_out_are_told_of(self, aegis, client, entry):
        newer = client.publish(EXAMPLE_ENTRY | {"name": f"{entry.name}-2", "keywords": entry.keywords})
        asked = ("entries", "list", "--query", entry.name)
        lines = aegis(*asked)[1].splitlines()
        assert [line.split()[0] for line in lines] == ["id", newer.id, entry.id]
        lines = aegis(*asked, "--limit", "1")[1].splitlines()
        assert [line.split()[0] for line in lines] == ["id", newer.id, "and"]
        assert "--limit" in lines[-1]

    def test_as_json_they_are_the_heads(self, aegis, entry):
        printed = json.loads(aegis("entries", "list", "--query", entry.name, "--json")[1])
        assert printed == {"items": [entry.model_dump(mode="json", exclude={"warnings"})], "more": False}

    def test_nothing_is_said_to_be_nothing(self, aegis):
        assert aegis("entries", "list", "--label", f"no-label-{uuid4().hex}") == (0, "no entries\n", "")


class TestVisibility:
    def test_it_is_said_and_changed(self, aegis, client, entry):
        said = f"{entry.name} is visible to".replace(entry.name, f"{entry.name[:27]}…")
        assert aegis("entries", "visibility", entry.id) == (0, f"{said} its own tenant only\n", "")
        assert aegis("entries", "visibility", entry.id, "all") == (0, f"{said} every caller\n", "")
        assert client.entry(entry.id).visibility == "all"
        tenants = ("--tenant", "partner", "--tenant", "lab")
        assert aegis("entries", "visibility", entry.id, *tenants) == (
            0,
            f"{said} its own tenant and partner, lab\n",
            "",
        )
        assert client.entry(entry.id).visibility.tenants == ["partner", "lab"]
        assert aegis("entries", "visibility", entry.id, "private") == (0, f"{said} its own tenant only\n", "")
        assert client.entry(entry.id).version == 1

    def test_as_json_it_is_as_the_service_has_it(self, aegis, entry):
        printed = json.loads(aegis("entries", "visibility", entry.id, "--tenant", "lab", "--json")[1])
        assert printed == {"id": entry.id, "name": entry.name, "visibility": {"tenants": ["lab"]}}

    def test_what_is_no_answer_to_who_is_one_line(self, aegis, client, entry):
        for asked, told in (
            (("all", "--tenant", "lab"), "all cannot be combined with --tenant"),
            (("--tenant", ""), "--tenant: "),
            (("nobody",), "nobody"),
        ):
            code, out, error = aegis("entries", "visibility", entry.id, *asked)
            assert (code, out, error.count("\n")) == (2, "", 1)
            assert told in error
        assert client.entry(entry.id).visibility == "private"


class TestDelete:
    @staticmethod
    def is_there(client, entry):
        try:
            return client.entry(entry.id).id == entry.id
        except NotFoundError:
            return False

    def test_it_is_gone_if_that_is_said_beforehand(self, aegis, client, entry):
        code, out, error = aegis("entries", "delete", entry.id, "--yes")
        assert (code, error) == (0, "")
        assert out == f"deleted {entry.name[:27]}… ({entry.id})\n"
        assert not self.is_there(client, entry)

    def test_where_nobody_can_be_asked_it_has_to_be_said(self, aegis, client, entry):
        code, out, error = aegis("entries", "delete", entry.id)
        assert (code, out, error.count("\n")) == (2, "", 1)
        assert "--yes" in error
        assert self.is_there(client, entry)

    @pytest.mark.long
    @pytest.mark.processes
    def test_at_a_terminal_it_is_asked(self, at_terminal, client, entry):
        code, out, error = at_terminal("n\n", "entries", "delete", entry.id)
        assert (code, out) == (1, "")
        assert error.startswith(f"Delete {entry.name[:27]}… ({entry.id}), version 1 and all earlier ones")
        assert error.endswith("aegis: nothing was deleted\n")
        assert self.is_there(client, entry)
        code, out, _ = at_terminal("y\n", "entries", "delete", entry.id, "--json")
        assert (code, json.loads(out)) == (0, {"id": entry.id, "name": entry.name})
        assert not self.is_there(client, entry)

    def test_what_is_not_there_is_bad_input(self, aegis):
        code, out, error = aegis("entries", "delete", uuid4(), "--yes")
        assert (code, out, error.count("\n")) == (2, "", 1)
        assert "no entry" in error


NO_WEIGHTS = [
    (("age",), "--weights must be NAME=NUMBER, for example age=2, not 'age'"),
    (("age=-1",), "--weights must be NAME=NUMBER, for example age=2, not 'age=-1'"),
    (("age=1,",), "--weights must be NAME=NUMBER, for example age=2, not ''"),
    (("",), "--weights must be NAME=NUMBER, for example age=2, not ''"),
    (("age=1\nage=2",), "--weights must be one line of parts separated by commas, not 'age=1\\nage=2'"),
    (("age=" + "9" * 400,), "--weights: the number of age is too large"),
    (("age=1", "age=2"), "--weights: age has two values, 1 and 2; give one"),
    (("agee=1",), "agee"),
]


class TestWeights:
    def test_they_are_asked_with_and_said(self, aegis, entry):
        asked = ("advise", entry.id, "--measure", "g3", "--weights", "age=2.5")
        code, out, error = aegis(*asked)
        assert (code, error) == (0, "")
        assert "weights: age 2.5 (1 unless named)" in out.splitlines()
        assert json.loads(aegis(*asked, "--json")[1])["request"]["weights"] == {"age": 2.5}

    def test_without_any_nothing_is_said_of_them(self, aegis, entry):
        assert "weights" not in aegis("advise", entry.id, "--measure", "g3")[1]

    def test_what_is_no_weight_is_one_line(self, aegis, entry):
        for weights, told in NO_WEIGHTS:
            options = [word for each in weights for word in ("--weights", each)]
            code, out, error = aegis("advise", entry.id, "--measure", "g3", *options)
            assert (code, out, error.count("\n")) == (2, "", 1)
            assert told in error
