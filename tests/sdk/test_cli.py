"""The command, run as people run it, against a service in memory behind a real socket."""

import json
import subprocess
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from aegis_sdk import Advice, Client, EntryDocument, EntryHead, Problem, Progress, UniqueRecordsError
from aegis_sdk.cli import group
from aegis_sdk.testing import MockService
from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_ENTRY, EXAMPLE_HEAD, ProblemFault

EXAMPLE = Path(__file__).parents[2] / "examples" / "health"
ENTRY_ID = EXAMPLE_HEAD["id"]
CONFIGURATION = EXAMPLE_ADVICE["configuration"]
MASKING = next(iter(EXAMPLE_ADVICE["attributes"][0]["maskings"]))


@pytest.fixture
def service(monkeypatch):
    """A service that the environment variables point at."""
    mock = MockService()

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = mock.handle_request(httpx.Request(self.command, f"http://aegis{self.path}", content=body))
            self.send_response(answer.status_code)
            for name in ("Content-Type", "ETag", "Location", "Retry-After"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PUT = answer  # noqa: N815 - the names that the base class looks for

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("AEGIS_URL", f"http://127.0.0.1:{server.server_port}")
        yield mock
        server.shutdown()
        thread.join()


@pytest.fixture
def entry_file(tmp_path):
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(EXAMPLE_ENTRY), encoding="utf-8")
    return path


def assert_one_line(ran, code, *parts):
    exit_code, out, error = ran
    assert (exit_code, out) == (code, "")
    assert error.startswith("aegis: ")
    assert error.count("\n") == 1
    for part in parts:
        assert part in error


def head(**changed):
    configurations = [{"id": CONFIGURATION, "maskings": {"age": MASKING}}]
    schema = {"label": EXAMPLE_ENTRY["label"], "configurations": configurations}
    return EntryHead(**{**EXAMPLE_HEAD, "schema": schema, **changed})


def writes(methods, service):
    return [request for request in service.requests if request.method in methods]


CERTAIN = (
    "aegis: warning: the label of some people is certain: in some classes all records have the same health (l = 1)\n"
)


class TestSummarizeAndApply:
    def test_the_example_is_summarised(self, aegis, tmp_path):
        output = tmp_path / "entry.json"
        arguments = ("summarize", EXAMPLE / "health.csv", "--plan", EXAMPLE / "plan.yaml", "--name", "health")
        code, out, error = aegis(*arguments, "--output", output)
        assert (code, out, error) == (0, "", "")
        entry = json.loads(output.read_text(encoding="utf-8"))
        assert entry["disclosure_control"] == {"rounded_to": 5, "rounding": "once"}
        assert all(count % 5 == 0 for count in entry["label"]["histogram"])
        code, out, error = aegis(*arguments, "--exact", "--output", output)
        assert (code, out) == (0, "")
        assert error.startswith("aegis: warning: 231 counts are below 5, the smallest 1: `aegis disclose` shows")
        assert error.count("\n") == 1
        assert json.loads(output.read_text(encoding="utf-8"))["records"] == 20_190

    def test_pairs_are_counted_where_they_are_asked_for(self, aegis, tmp_path, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        output = tmp_path / "entry.json"
        arguments = (
            "summarize",
            EXAMPLE / "health.csv",
            "--plan",
            EXAMPLE / "plan.yaml",
            "--name",
            "health",
            "--pairs",
            "--exact",
        )
        code, out, error = aegis(*arguments, "--output", output)
        assert (code, out) == (0, "")
        pairs = json.loads(output.read_text(encoding="utf-8"))["pairs"]
        assert {sum(map(sum, pair["joint"])) for pair in pairs if "joint" in pair} == {20_190}
        assert all(pair["with_label"]["chi_square"] > 0 for pair in pairs)
        assert "counting" in error
        assert error.splitlines()[-1].endswith(f"20190 records, 70 configurations, {len(pairs)} pairs")

    def test_the_example_is_masked(self, aegis, tmp_path):
        output = tmp_path / "masked.csv"
        arguments = (
            "apply",
            EXAMPLE / "health.csv",
            "--stays",
            "--plan",
            EXAMPLE / "plan.yaml",
            "--configuration",
            "c30",
        )
        code, out, error = aegis(*arguments, "--output", output)
        assert (code, error) == (0, CERTAIN)
        rows = [line.split() for line in out.splitlines()]
        alone = "no record is alone on all shared columns in c30, and 6.9 % in c14, the worst configuration offered"
        assert out.startswith(f"{output}: 20190 records\n{alone}; c30 shares 5 columns besides health, all masked\n")
        assert out.splitlines()[2] == "privacy, measured in it:"
        assert rows[4] == ["k", "5", "5", "every", "record", "is", "one", "of", "at", "least", "5", "alike"]
        assert {row[0] for row in rows[5:]} == {"t", "ordered_t", "beta", "delta_disclosure"}  # l of 1 promises nothing
        assert len(output.read_text(encoding="utf-8").splitlines()) == 20_191

    def test_a_masked_table_is_told_of_in_numbers(self, aegis, tmp_path):
        output = tmp_path / "masked.parquet"
        arguments = (
            "apply",
            EXAMPLE / "health.csv",
            "--stays",
            "--plan",
            EXAMPLE / "plan.yaml",
            "--configuration",
            "c30",
        )
        code, out, error = aegis(*arguments, "--output", output, "--json")
        result = json.loads(out)
        assert (code, error, output.read_bytes()[:4]) == (0, CERTAIN, b"PAR1")
        assert (result["records"], result["suppressed"], result["promised"]) == (20_190, 0, {"k": 5})
        assert (result["reached"]["k"], result["unchecked"], result["faults"]) == (5, [], [])

    def test_progress_is_shown_to_people(self, aegis, tmp_path, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        arguments = (
            "apply",
            EXAMPLE / "health.csv",
            "--stays",
            "--plan",
            EXAMPLE / "plan.yaml",
            "--configuration",
            "c30",
        )
        code, _, error = aegis(*arguments, "--output", tmp_path / "masked.csv")
        assert code == 0
        assert "masking records" in error

    def test_a_delimiter_may_be_a_tab(self, aegis, tmp_path):
        table, plan, output = tmp_path / "t.tsv", tmp_path / "plan.yaml", tmp_path / "entry.json"
        table.write_text("a\ty\n1\tn\n2\tm\n", encoding="utf-8")
        plan.write_text("label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\n", encoding="utf-8")
        arguments = ("summarize", table, "--plan", plan, "--name", "t", "--output", output)
        wrong = aegis(*arguments, "--delimiter", ",")
        assert_one_line(wrong, 2, "t.tsv: looks separated by tabs; add --delimiter tab")
        assert [aegis(*arguments, *stated, "--exact")[0] for stated in (("--delimiter", "tab"), ())] == [0, 0]

    def test_a_missing_file_is_bad_input(self, aegis, tmp_path):
        arguments = ("--plan", EXAMPLE / "plan.yaml", "--name", "x", "--output", tmp_path / "entry.json")
        assert_one_line(aegis("summarize", tmp_path / "no.csv", *arguments), 2, "no.csv: cannot be read")
        assert not (tmp_path / "entry.json").exists()

    def test_a_faulty_plan_is_bad_input(self, aegis, tmp_path):
        plan = tmp_path / "plan.yaml"
        plan.write_text("label: [\n", encoding="utf-8")
        arguments = ("--plan", plan, "--name", "x", "--output", tmp_path / "entry.json")
        assert_one_line(aegis("summarize", EXAMPLE / "health.csv", *arguments), 2, "plan.yaml: not YAML")

    def test_an_unknown_configuration_is_bad_input(self, aegis, tmp_path):
        arguments = ("--plan", EXAMPLE / "plan.yaml", "--configuration", "c077", "--output", tmp_path / "masked.csv")
        assert_one_line(
            aegis("apply", EXAMPLE / "health.csv", "--stays", *arguments), 2, "no configuration 'c077'; did you mean"
        )

    @pytest.mark.processes
    def test_without_a_library_the_message_says_what_to_install(self, tmp_path):
        block = "import sys; sys.modules['duckdb'] = None; from aegis_sdk.cli import main; main()"
        arguments = ["apply", "t.csv", "--plan", "p.yaml", "--configuration", "c", "--output", str(tmp_path / "o.csv")]
        ran = subprocess.run([sys.executable, "-c", block, *arguments], capture_output=True, text=True, check=False)
        how = "install 'aegis-masking[provider]' from where you got Aegis"
        expected = f"aegis: duckdb is not installed, but `aegis apply` needs it: {how}\n"
        assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", expected)


ACCEPTED = "--accept-small-counts"


class TestPublish:
    def taken(self, service, summaries):
        refusal = Problem(title="Conflict", status=409, detail="The name is taken", entry=ENTRY_ID)
        return service.with_entry(head(), summaries=summaries).with_problem("POST", "/v1/entries", 409, refusal)

    def test_the_id_of_a_new_entry_is_printed(self, aegis, service, entry_file):
        service.with_entry(head())
        assert aegis("publish", entry_file, ACCEPTED) == (0, f"{ENTRY_ID}\n", "")
        assert [request.body for request in writes({"POST"}, service)] == [EXAMPLE_ENTRY]

    def test_what_identifies_persons_in_an_entry_made_elsewhere_is_said(self, aegis, service, tmp_path):
        mails = [f"{name}@clinic.example" for name in "abcdefgh"]
        numbers = [f"756.{1000 + 7 * n}.5678.{10 + n}" for n in range(8)]
        service.with_entry(head())
        for domain, how in ((mails, "shows e-mail addresses"), (numbers, "contains national identity or tax numbers")):
            document = json.loads(json.dumps(EXAMPLE_ENTRY).replace('"age"', '"contact"'))
            document["attributes"][0] |= {"type": "string", "domain": domain}
            (tmp_path / "entry.json").write_text(json.dumps(document), encoding="utf-8")
            code, _, error = aegis("publish", tmp_path / "entry.json", ACCEPTED)
            assert (code, f"entry.json: contact identifies persons: it {how}" in error) == (0, True), error
        document = json.loads(json.dumps(EXAMPLE_ENTRY).replace('"age"', '"age of ann@clinic.example"'))
        (tmp_path / "entry.json").write_text(json.dumps(document), encoding="utf-8")
        assert "identifies persons: it shows e-mail addresses" in aegis("publish", tmp_path / "entry.json", ACCEPTED)[2]

    def test_a_release_card_is_told_from_an_entry(self, aegis, service, tmp_path):
        card = tmp_path / "card.json"
        card.write_text(json.dumps({"configuration": "c1", "verdict": "PASS", "privacy_verdict": "PASS"}))
        says = "card.json: is a release card, not an entry; the entry of its release is entry.json beside it"
        assert_one_line(aegis("publish", card), 2, says)
        assert writes({"POST", "PUT"}, service) == []

    @pytest.mark.parametrize(
        ("changed", "described", "sent"),
        [
            ({}, "", "**fine**"),
            ({}, "Mine", "Mine"),
            ({"label": "another"}, "", ""),
            ({"labels": {}}, "", ""),
            ({"labels": 3}, "", ""),
            ({"for_consumers": 3}, "", ""),
            ({"for_consumers": "x" * 20_001}, "", ""),
        ],
    )
    def test_an_entry_without_a_description_is_sent_with_the_head_of_its_card(
        self, aegis, service, tmp_path, changed, described, sent
    ):
        service.with_entry(head())
        document, label = {**EXAMPLE_ENTRY, "description": described}, EXAMPLE_ENTRY["label"]
        counts = dict(zip(label["domain"], label["histogram"], strict=True))
        labels = {value: {"records": records} for value, records in counts.items()}
        card = {"label": label["name"], "labels": labels, "for_consumers": "**fine**"} | changed
        (tmp_path / "entry.json").write_text(json.dumps(document), encoding="utf-8")
        (tmp_path / "card.json").write_text(json.dumps(card), encoding="utf-8")
        assert aegis("publish", tmp_path / "entry.json", ACCEPTED) == (0, f"{ENTRY_ID}\n", "")
        assert [request.body for request in writes({"POST"}, service)] == [{**document, "description": sent}]

    def test_the_id_of_an_unchanged_entry_is_printed_and_nothing_is_changed(self, aegis, service, entry_file):
        self.taken(service, {**EXAMPLE_ENTRY, "visibility": "all", "license": EXAMPLE_ENTRY["license"]})
        assert aegis("publish", entry_file, ACCEPTED) == (0, f"{ENTRY_ID}\n", "")
        assert writes({"PUT"}, service) == []

    def test_a_changed_entry_needs_update(self, aegis, service, entry_file):
        self.taken(service, {**EXAMPLE_ENTRY, "title": "Another"})
        assert_one_line(aegis("publish", entry_file, ACCEPTED), 2, f"is published as {ENTRY_ID}", "--update")
        assert writes({"PUT"}, service) == []

    def test_update_publishes_a_new_version(self, aegis, service, entry_file):
        self.taken(service, {**EXAMPLE_ENTRY, "title": "Another"})
        assert aegis("publish", entry_file, "--update", ACCEPTED) == (0, f"{ENTRY_ID}\n", "")
        assert [request.body for request in writes({"PUT"}, service)] == [EXAMPLE_ENTRY]

    def test_an_entry_that_fails_the_verdict_is_not_sent(self, aegis, service, entry_file):
        service.with_entry(head())
        assert_one_line(aegis("publish", entry_file), 2, "FAIL: ", "aegis summarize TABLE", ACCEPTED)
        assert writes({"POST", "PUT"}, service) == []

    @pytest.mark.parametrize(
        ("changed", "says"),
        [
            ({"alone": 0.91}, "not private against anyone who knows all shared columns; "),
            ({"alone": 0.011}, "not private against anyone who knows all shared columns; "),
            ({"alone": 0.01}, ""),
            ({"alone": None}, ""),
        ],
    )
    def test_one_that_leaves_many_records_alone_is_not_sent(self, aegis, service, tmp_path, changed, says):
        service.with_entry(head())
        document = {**EXAMPLE_ENTRY, "configurations": [EXAMPLE_ENTRY["configurations"][0] | changed]}
        path = tmp_path / "entry.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        ran = aegis("publish", path, ACCEPTED)
        with Client() as client:
            if not says:
                assert ran == (0, f"{ENTRY_ID}\n", "")
                assert client.publish(document).id == ENTRY_ID
                return
            assert_one_line(ran, 1, says, " alone on all shared columns in ", "--accept-unique")
            for publish in (client.publish, partial(client.update, ENTRY_ID)):
                for entry in (document, json.dumps(document).encode(), EntryDocument.model_validate(document)):
                    with pytest.raises(UniqueRecordsError, match="accept_unique=True"):
                        publish(entry)
            assert writes({"POST", "PUT"}, service) == []
            assert aegis("publish", path, ACCEPTED, "--accept-unique") == (0, f"{ENTRY_ID}\n", "")
            assert client.publish(document, accept_unique=True).id == ENTRY_ID
        assert [request.body for request in writes({"POST"}, service)] == [document] * 2

    def test_it_says_whom_an_entry_protects_people_against(self, aegis, service, tmp_path):
        document = {**EXAMPLE_ENTRY, "quasi_identifiers": ["age"]}
        document["configurations"] = [EXAMPLE_ENTRY["configurations"][0] | {"alone": 0.5}]
        path = tmp_path / "entry.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        service.with_entry(head())
        alone = "50 % of the records are alone on all shared columns"
        only = f"private only against attackers who know no more than: age; {alone}"
        assert_one_line(aegis("publish", path, ACCEPTED), 1, only, ", the worst configuration offered")
        code, out, _ = aegis("entries", "show", path)
        assert (code, out.splitlines()[1].strip().startswith(only)) == (0, True)

    def test_one_that_fails_but_is_published_already_stays_so(self, aegis, service, entry_file):
        service.with_entry(head(accepted_small_counts=True), summaries=EXAMPLE_ENTRY)
        assert aegis("publish", entry_file) == (0, f"{ENTRY_ID}\n", "")
        assert writes({"POST", "PUT"}, service) == []

    def test_one_of_another_tenant_is_another(self, aegis, service, entry_file):
        service.with_entry(head(accepted_small_counts=None), summaries=EXAMPLE_ENTRY)
        assert_one_line(aegis("publish", entry_file), 2, "FAIL: ")

    def test_without_the_provider_the_service_decides(self, aegis, service, entry_file, monkeypatch):
        monkeypatch.setattr(group, "entry_points", lambda **_: ())
        service.with_entry(head())
        code, out, error = aegis("publish", entry_file)
        assert (code, out) == (0, f"{ENTRY_ID}\n")
        assert error.startswith("aegis: warning: verdict not checked here: it comes with the provider's package")
        assert [request.body for request in writes({"POST"}, service)] == [EXAMPLE_ENTRY]

    @pytest.mark.parametrize(
        ("content", "message"),
        [("{", "not JSON"), ("[]", "the entry"), ('{"format": 1}', "/name: ")],
    )
    def test_what_is_no_entry_is_not_sent(self, aegis, service, tmp_path, content, message):
        path = tmp_path / "entry.json"
        path.write_text(content, encoding="utf-8")
        assert_one_line(aegis("publish", path), 2, "entry.json: ", message)
        assert service.requests == []

    def test_a_refused_entry_is_bad_input_with_its_place(self, aegis, service, entry_file):
        faults = [ProblemFault(pointer=f"/attributes/0/joint/{row}", detail="Sums to 3, not 4") for row in (1, 2)]
        problem = Problem(status=422, code="invalid_entry", detail="It does not add up", errors=faults)
        service.with_problem("POST", "/v1/entries", 422, problem)
        assert_one_line(
            aegis("publish", entry_file, ACCEPTED), 2, "/attributes/0/joint/1: Sums to 3, not 4 (and 1 more)"
        )

    def test_a_refused_key_is_no_bad_input(self, aegis, service, entry_file):
        service.with_problem("POST", "/v1/entries", 401, Problem(status=401, detail="The key is unknown"))
        assert_one_line(aegis("publish", entry_file, ACCEPTED), 1, "The key is unknown")

    def test_an_unreachable_service_is_no_bad_input(self, aegis, monkeypatch, entry_file):
        monkeypatch.setenv("AEGIS_URL", "http://127.0.0.1:1")
        assert_one_line(aegis("publish", entry_file, ACCEPTED), 1, "http://127.0.0.1:1")

    def test_an_unusable_address_is_bad_input(self, aegis, monkeypatch, entry_file):
        monkeypatch.setenv("AEGIS_URL", "nonsense")
        assert_one_line(aegis("publish", entry_file, ACCEPTED), 2, "address of the service")


class TestAdvise:
    @pytest.fixture
    def measure(self, service):
        service.with_entry(head()).with_advice(Advice.model_validate(EXAMPLE_ADVICE))
        return EXAMPLE_ADVICE["request"]["measure"]

    def test_the_ranking_and_the_costs_are_printed(self, aegis, measure):
        code, out, error = aegis("advise", ENTRY_ID, "--measure", measure)
        assert (code, error) == (0, "")
        rows = [line.split() for line in out.splitlines()]
        best, score = EXAMPLE_ADVICE["ranking"][0], EXAMPLE_ADVICE["attributes"][0]["maskings"][MASKING]
        assert [CONFIGURATION, f"{best['deviation']:.6f}", f"{best['utility']:.6f}"] in rows
        assert ["age", MASKING, f"{score['deviation']:.6f}", f"{score['utility']:.6f}"] in [row[:4] for row in rows]

    def test_without_a_measure_the_service_decides(self, aegis, service):
        service.with_entry(head())
        aegis("advise", ENTRY_ID, "--kinds", "masked,generated")
        (asked,) = writes({"POST"}, service)
        assert (asked.body["measure"], asked.body["kinds"]) == (None, ["masked", "generated"])

    def test_a_kind_that_does_not_exist_is_bad_input(self, aegis):
        assert_one_line(aegis("advise", ENTRY_ID, "--kinds", "drawn"), 2, "--kinds", "drawn")

    def test_progress_is_said_on_a_terminal_whenever_there_is_some(self, aegis, service, measure, monkeypatch):
        answered = Advice.model_validate(EXAMPLE_ADVICE)
        steps = [Progress(done=done, total=9) for done in (0, 2, 2, 9)]
        unfinished = [answered.model_copy(update={"status": "queued", "progress": step}) for step in (steps[0], *steps)]
        coming, answer = iter([*unfinished, answered]), service.handle_request

        def answer_the_next(request):
            service.with_advice(next(coming, answered))
            return answer(request)

        monkeypatch.setattr(service, "handle_request", answer_the_next)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        code, out, error = aegis("advise", ENTRY_ID, "--measure", measure)
        assert (code, out.startswith(CONFIGURATION)) == (0, True)
        said = [line.split(" attributes")[0] for line in error.splitlines()]
        assert said == [f"asking about {ENTRY_ID} ...", "0 of 9", "2 of 9", "9 of 9"]

    @pytest.mark.parametrize(("count", "said"), [(1, "no others"), (2, "1 other"), (3, "2 others")])
    def test_how_many_cannot_be_told_from_the_best_is_said(self, aegis, service, count, said):
        advice = Advice.model_validate(EXAMPLE_ADVICE | {"indistinguishable_count": count})
        service.with_entry(head()).with_advice(advice)
        _, out, _ = aegis("advise", ENTRY_ID, "--measure", advice.request["measure"])
        assert f"\nindistinguishable from the best, by the sample (95 %): {said}\n" in out

    def test_older_answers_have_no_such_set(self, aegis, service):
        older = {key: value for key, value in EXAMPLE_ADVICE.items() if not key.startswith("indistinguishable")}
        service.with_entry(head()).with_advice(Advice.model_validate(older))
        assert "indistinguishable" not in aegis("advise", ENTRY_ID, "--measure", older["request"]["measure"])[1]

    @pytest.mark.parametrize(
        ("flags", "sent"), [(["--bias-correction"], True), (["--no-bias-correction"], False), ([], None)]
    )
    def test_what_is_wanted_of_the_bias_is_sent(self, aegis, service, measure, flags, sent):
        aegis("advise", ENTRY_ID, "--measure", measure, *flags)
        [question] = [request.body for request in writes({"POST"}, service)]
        assert question["bias_correction"] is sent

    def test_the_columns_are_aligned(self, aegis, measure):
        _, out, _ = aegis("advise", ENTRY_ID, "--measure", measure)
        header, row = out.split("\n\n")[1].splitlines()[:2]
        assert len(header) == len(row)

    def test_the_answer_is_printed_as_json(self, aegis, measure):
        code, out, _ = aegis("advise", ENTRY_ID, "--measure", measure, "--json")
        assert code == 0
        assert Advice.model_validate_json(out) == Advice.model_validate(EXAMPLE_ADVICE)

    def test_requirements_and_the_limit_are_sent(self, aegis, service, measure):
        aegis("advise", ENTRY_ID, "--measure", measure, "--require", "k=5", "--require", "t=0.2", "--limit", "3")
        [question] = [request.body for request in writes({"POST"}, service)]
        assert (question["require"], question["limit"]) == ({"k": 5, "t": 0.2}, 3)

    @pytest.mark.parametrize("requirement", ["k", "k=", "k=five", "=5", "k=nan"])
    def test_an_unreadable_requirement_is_bad_input(self, aegis, service, measure, requirement):
        ran = aegis("advise", ENTRY_ID, "--measure", measure, "--require", requirement)
        assert_one_line(ran, 2, "--require must be NAME=NUMBER, for example k=5")
        assert service.requests == []

    def test_an_unknown_entry_is_bad_input(self, aegis, service):
        assert_one_line(aegis("advise", "nowhere", "--measure", "g3"), 2, "404")
        assert len(service.requests) == 1

    def test_configurations_in_columns_are_found_too(self, aegis, service, measure):
        table = {"ids": ["c0", CONFIGURATION], "maskings": {"age": ["drop", MASKING]}}
        service.with_entry(
            EntryHead(**{**EXAMPLE_HEAD, "schema": {"label": EXAMPLE_ENTRY["label"], "configuration_table": table}})
        )
        assert f"\n  age        {MASKING}" in aegis("advise", ENTRY_ID, "--measure", measure)[1]


class TestUsage:
    @pytest.mark.parametrize("arguments", [[], ["--help"]])
    def test_help_lists_the_commands(self, aegis, arguments):
        code, out, error = aegis(*arguments)
        assert (code, error) == (0, "")
        assert all(command in out for command in ("summarize", "publish", "advise", "apply", "AEGIS_URL"))

    @pytest.mark.parametrize("command", ["summarize", "publish", "advise", "apply"])
    def test_every_command_shows_an_example(self, aegis, command):
        code, out, _ = aegis(command, "--help")
        assert code == 0
        assert f"Example: aegis {command} " in out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["frobnicate"], "No such command 'frobnicate'"),
            (["publish"], "Missing argument 'ENTRY'"),
            (["advise"], "Missing argument 'ENTRY_ID'"),
            (["publish", "x", "--force"], "No such option"),
        ],
    )
    def test_wrong_usage_is_one_line(self, aegis, arguments, message):
        assert_one_line(aegis(*arguments), 2, message)

    def test_an_interrupted_command_fails_quietly(self, aegis, monkeypatch):
        def interrupt(_path):
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "read_bytes", interrupt)
        assert aegis("publish", "entry.json")[0] == 130

    @pytest.mark.processes
    def test_the_installed_command_runs(self, tmp_path):
        command = Path(sys.executable).with_name("aegis")
        ran = subprocess.run([command, "publish", tmp_path / "no.json"], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.count("\n") == 1


def test_a_nearly_unique_column_is_warned_of(aegis, tmp_path):
    table, plan = tmp_path / "people.csv", tmp_path / "plan.yaml"
    table.write_text("person,age,sick\n" + "".join(f"P{i},{i % 3},{'yes' if i % 2 else 'no'}\n" for i in range(30)))
    plan.write_text(
        "label: sick\nattributes:\n  person: {maskings: {gone: {suppress: {}}}}\n"
        "  age: {maskings: {gone: {suppress: {}}}}\nconfigurations:\n  c1: {person: gone, age: gone}\n"
    )
    options = ("--plan", plan, "--name", "people", "--output", tmp_path / "entry.json")
    ran = aegis("summarize", table, *options, "--exact", "--accept-identifiers")
    assert ran[:2] == (0, "person has other identifiers, shared because that was accepted\n")
    assert ran[2].splitlines()[0] == "aegis: warning: 'person' is nearly unique, and the entry lists each of its values"


@pytest.fixture
def small_table(tmp_path):
    """A table and its plan in a directory whose name DuckDB could take for a column."""
    directory = tmp_path / "c0=7"
    directory.mkdir()
    table, plan = directory / "t.csv", directory / "plan.yaml"
    table.write_text("a,sick\n1,yes\n2,no\n1,no\n")
    plan.write_text("label: sick\nattributes:\n  a: {maskings: {gone: {suppress: {}}}}\nconfigurations:\n  c1: {}\n")
    return table, plan


def test_the_directory_is_no_part_of_the_table(aegis, small_table, tmp_path):
    table, plan = small_table
    masked = tmp_path / "masked.csv"
    asked = ("apply", table, "--stays", "--plan", plan, "--configuration", "c1", "--output", masked)
    assert aegis(*asked)[0] == 0
    header, *records = masked.read_text().splitlines()
    assert (header, sorted(records)) == ("a,sick", ["1,no", "1,yes", "2,no"])


@pytest.fixture
def promising(small_table, tmp_path):
    """Mask a small table of three records, two of which share a class, by a plan that promises these numbers."""
    table, plan = small_table
    stated = plan.read_text(encoding="utf-8")

    def arguments(promises):
        plan.write_text(stated + promises, encoding="utf-8")
        return ("apply", table, "--stays", "--plan", plan, "--configuration", "c1", "--output", tmp_path / "masked.csv")

    return arguments


def test_a_broken_promise_is_one_line_and_no_file(aegis, promising, tmp_path):
    ran = aegis(*promising("privacy:\n  c1: {k: 2, epsilon: 1}\n"))
    assert_one_line(ran, 1, "plan.yaml: c1 promises k >= 2, but reaches 1; nothing is written (--force writes it")
    assert not (tmp_path / "masked.csv").exists()


def test_a_broken_promise_is_written_by_force_with_a_warning(aegis, promising, tmp_path):
    code, out, error = aegis(*promising("privacy:\n  c1: {k: 2, epsilon: 1}\n"), "--force")
    assert code == 0
    assert error == "aegis: warning: c1 promises k >= 2, but reaches 1\n" + CERTAIN.replace("health", "sick")
    assert out.splitlines()[0].endswith("masked.csv: 3 records")
    assert out.splitlines()[4].split() == ["k", "1", "2", "some", "record", "stands", "alone"]
    assert out.splitlines()[-1] == "promised, but not measurable in a table: epsilon"
    assert len((tmp_path / "masked.csv").read_text(encoding="utf-8").splitlines()) == 4


def test_the_records_left_out_are_told(aegis, promising, tmp_path):
    code, out, error = aegis(*promising("privacy:\n  c1: {k: 2}\nsuppressed:\n  c1: 1\n"))
    assert (code, error) == (0, "")
    assert out.splitlines()[0].endswith("masked.csv: 2 records, 1 left out")
    header, *records = (tmp_path / "masked.csv").read_text(encoding="utf-8").splitlines()
    assert (header, sorted(records)) == ("a,sick", ["1,no", "1,yes"])


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("command", ["summarize", "apply"])
def test_no_input_is_overwritten(aegis, small_table, command, victim):
    table, plan = small_table
    before = small_table[victim].read_bytes()
    options = ("--name", "n") if command == "summarize" else ("--configuration", "c1")
    ran = aegis(command, table, "--plan", plan, *options, "--output", small_table[victim])
    assert_one_line(ran, 2, "which is an input")
    assert small_table[victim].read_bytes() == before


def test_an_entry_that_would_be_refused_is_not_written(aegis, small_table, tmp_path):
    table, plan = small_table
    plan.write_text(plan.read_text() + "privacy:\n  c1: {k: 9007199254740993}\n")
    ran = aegis("summarize", table, "--plan", plan, "--name", "n", "--output", tmp_path / "entry.json", "--exact")
    assert_one_line(ran, 2, "/configurations/0/privacy/k")
    assert not (tmp_path / "entry.json").exists()
