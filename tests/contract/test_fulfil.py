"""`aegis requests fulfil` against the real service: what was approved is masked, measured, uploaded, or nothing is."""

import csv
import io
import json
from dataclasses import replace
from hashlib import sha256
from uuid import uuid4

import httpx
import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.control import RandomRounding
from aegis_provider.errors import MachineError, OutputError, PlanError, PromiseError, ServiceError, SmallCountsError
from aegis_provider.handover import Task, fulfil, relink, storage_at
from aegis_provider.ledger import Leaving, leave, ledgers
from aegis_provider.synth.offer import with_generated
from aegis_sdk import ConflictError, UniqueRecordsError
from aegis_sdk.wire import Verdict, VerdictFinding
from tests.contract.conftest import PLAN
from tests.provider.synth import test_offer as offered
from tests.stores import web_store


def records(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_the_approved_table_is_delivered_to_a_bucket(aegis, client, people, approved, s3, tmp_path):
    (tmp_path / "card.json").write_text(json.dumps({"configuration": "tens", "kept": 0.9}))
    plan, work = people / "plan.yaml", tmp_path / "work"
    options = ("--plan", plan, "--to", s3, "--work", work, "--card", tmp_path / "card.json")
    code, out, err = aegis("requests", "fulfil", approved.id, people / "people.csv", *options)
    assert (code, err) == (0, "")
    request = client.requests.get(approved.id)
    delivery = request.delivery
    content = httpx.get(delivery.url).content
    assert (request.state, delivery.size, delivery.sha256) == ("delivered", len(content), sha256(content).hexdigest())
    assert (delivery.media_type, delivery.records, delivery.card["kept"]) == ("text/csv", 1000, 0.9)
    masked = records(content)
    assert {row["town"] for row in masked} == {"*"}
    with (people / "people.csv").open() as table:
        ills = [row["ill"] for row in csv.DictReader(table)]
    assert sorted(row["ill"] for row in masked) == sorted(ills)
    assert [row["ill"] for row in masked] != ills  # in a random order
    assert delivery.privacy["k"] >= 20
    assert f"SHA-256 {delivery.sha256}" in out.splitlines()
    assert list(work.iterdir()) == []
    code, out, err = aegis("requests", "fulfil", approved.id, people / "people.csv", *options)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "is delivered; only an approved one can be fulfilled" in err


def test_formulas_are_told_of_and_an_escaped_table_is_received_as_it_was_published(
    aegis, client, tmp_path, monkeypatch
):
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    monkeypatch.chdir(tmp_path)
    lines = [f"{'=1+1' if n % 3 else 'note'},{'=yes' if n % 2 else 'no'}" for n in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["@note,ill", *lines]) + "\n")
    plan = 'label: ill\nattributes: {"@note": {}}\nconfigurations: {c: {}}\nprivacy: {c: {k: 5}}\n'
    (tmp_path / "plan.yaml").write_text(plan)
    prepared = prepare_entry("t.csv", load_plan(tmp_path / "plan.yaml"), name=f"notes-{uuid4().hex}", exact=True)
    head = client.publish(prepared.entry, accept_small_counts=True)
    with web_store() as store:
        for option, runs in (("--work", True), ("--escape-formulas", False)):
            asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
            made = client.requests.create(head.id, "mutual_information", **asked, require={"k": 5}, wait=60)
            client.requests.approve(made.id)
            options = ("--plan", "plan.yaml", "--to", store.url, *(("--work", "w") if runs else (option,)))
            code, _, said = aegis("requests", "fulfil", made.id, "t.csv", *options)
            assert (code, "would run 350 cells (200 in @note, 150 in ill) and 1 header (@note)" in said) == (0, runs)
            code, out, said = aegis("receive", made.id, "--output", f"{runs}.csv")
            assert (code, "none differ" in out) == (0, True)
            assert ("would run 350 cells" in said) == runs
            assert ("'=1+1" in (tmp_path / f"{runs}.csv").read_text()) != runs


def test_a_run_that_was_stopped_goes_on(task, tmp_path):
    work = tmp_path / "work"
    with web_store() as store:
        store.status = 403
        with pytest.raises(OutputError, match="403"):
            fulfil(task, storage_at(store.url), work)
        [masked] = work.glob("*/masked.csv")
        digest = sha256(masked.read_bytes()).hexdigest()
        store.status = 201
        done = fulfil(task, storage_at(store.url), work)
    assert done.request.delivery.sha256 == digest  # another run of the mask would have another order


def test_what_is_not_taken_does_not_stay_in_the_storage(task, client, tmp_path):
    with web_store() as store:
        storage = storage_at(store.url)

        class Meanwhile:
            def put(self, *arguments):
                link = storage.put(*arguments)
                if len(store.files) == 2:  # the table and its package
                    client.requests.withdraw(task.request_id)
                return link

            def link(self, name):
                return storage.link(name)

            def remove(self, name):
                storage.remove(name)

        with pytest.raises(ConflictError, match="This request is withdrawn"):
            fulfil(task, Meanwhile(), tmp_path / "work")
        assert store.files == {}


def test_only_one_program_fulfils_it(task, client, tmp_path):
    shared = storage_at(str(tmp_path), "https://shared.example")
    lease = client.requests.lease(task.request_id, 60).lease
    with pytest.raises(ConflictError, match="Another program fulfils this request") as refused:
        fulfil(task, shared, tmp_path / "work")
    assert refused.value.code == "leased"
    client.requests.release(task.request_id, lease)
    request = fulfil(task, shared, tmp_path / "work").request
    delivery, head = request.delivery, request.delivery.card["for_consumers"]
    of = f"of 1,000 records of {request.entry.name}, masked, for predicting ill; for {request.consumer}, for: a study."
    assert head.startswith(f"age, town and ill {of}")
    assert "Every record is one of at least" in head
    assert delivery.url.startswith(f"https://shared.example/{task.request_id}-{delivery.sha256}.csv")


OTHER_PLANS = [
    ("width: 20", "width: 10", "masking 'tens' of 'age' is not the one that was published"),
    ("tens: {age: tens, town: hidden}", "tens: {age: whole, town: hidden}", "by 'whole', but 'tens' was published"),
    ("  tens: {age: tens, town: hidden}\n", "", "no configuration 'tens'"),
    ("label: ill", "label: sick", "its label is 'sick'"),
]


def test_another_plan_is_refused_before_any_work(task, people, tmp_path):
    for before, after, said in OTHER_PLANS:
        other = PLAN.replace(before, after)
        if "tens:" not in other.partition("configurations:")[2].partition("privacy:")[0]:
            other = other.replace("  tens: {k: 20}\n", "")
        (tmp_path / "other.yaml").write_text(other)
        changed = Task(task.service, task.request_id, task.table, load_plan(tmp_path / "other.yaml"))
        with pytest.raises(PlanError, match=said):
            fulfil(changed, storage_at(str(tmp_path), "https://shared.example"), tmp_path / "work")
        assert not (tmp_path / "work").exists()
    assert (people / "plan.yaml").read_text() == PLAN


def test_a_plan_with_a_masking_of_the_label_that_nothing_uses_is_the_same_plan(task, tmp_path):
    other = PLAN.replace("attributes:\n", "attributes:\n  ill: {maskings: {all: {suppress: {}}}}\n")
    (tmp_path / "other.yaml").write_text(other)
    same = Task(task.service, task.request_id, task.table, load_plan(tmp_path / "other.yaml"))
    storage = storage_at(str(tmp_path), "https://shared.example")
    assert fulfil(same, storage, tmp_path / "work").request.state == "delivered"


def test_a_table_that_breaks_the_promise_is_not_delivered(task, client, people, tmp_path):
    fewer = (people / "people.csv").read_text().splitlines()[:60]
    (tmp_path / "fewer.csv").write_text("\n".join(fewer) + "\n")
    other = Task(task.service, task.request_id, tmp_path / "fewer.csv", task.plan)
    with pytest.raises(PromiseError, match=r"nothing is written$"):
        fulfil(other, storage_at(str(tmp_path), "https://shared.example"), tmp_path / "work")
    assert client.requests.get(task.request_id).state == "approved"
    assert client.requests.lease(task.request_id, 60)  # nobody has it any more


def test_a_table_that_leaves_many_records_alone_is_not_delivered_unless_that_is_accepted(aegis, client, tmp_path):
    rows = [f"{'FM'[n % 2]},{20 + n // 2}.5,{'yes' if n % 3 else 'no'}" for n in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["gender,charge,ill", *rows]) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "label: ill\nquasi_identifiers: [gender]\nattributes: {gender: {}, charge: {type: number}}\n"
        "configurations: {as-it-is: {}}\nprivacy: {as-it-is: {k: 100}}\n"
    )
    plan = load_plan(tmp_path / "plan.yaml")
    entry = prepare_entry(tmp_path / "t.csv", plan, name=f"alone-{uuid4().hex}", exact=True).entry
    assert (entry.masked[0].alone, entry.quasi_identifiers) == (1.0, ["gender"])
    with pytest.raises(UniqueRecordsError):
        client.publish(entry, accept_small_counts=True)
    head = client.publish(entry, accept_small_counts=True, accept_unique=True)
    assert [each.alone for each in client.entries(entry.name)] == [1.0]
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
    request = client.requests.create(head.id, "mutual_information", **asked, wait=60)
    client.requests.approve(request.id)
    alone = "100 % of the records are alone on all shared columns"
    only = f"private only against attackers who know no more than: gender; {alone}"
    assert f"\n{only}" in aegis("advise", head.id, "--measure", "mutual_information")[1]
    assert aegis("search", entry.name)[1].splitlines()[1].strip().startswith(only)
    assert "100 %" in aegis("entries", "list", "--query", entry.name)[1].splitlines()[1]
    shared = tmp_path / "shared"
    shared.mkdir()
    options = ("--plan", tmp_path / "plan.yaml", "--to", shared, "--link", "https://shared.example")
    command = ("requests", "fulfil", request.id, tmp_path / "t.csv", *options, "--work", tmp_path / "work")
    code, out, error = aegis(*command)
    assert (code, out, error.count("\n"), list(shared.iterdir())) == (1, "", 1, [])
    assert f"aegis: {only}" in error
    assert "--accept-unique" in error
    assert client.requests.get(request.id).state == "approved"
    code, out, error = aegis(*command, "--accept-unique")
    assert (code, error.count("warning: "), len(list(shared.glob("*.csv")))) == (0, 2, 1)
    assert "charge: shared as it is, with values of fewer records than the k" in error
    assert out.splitlines()[1].startswith(only)
    assert client.requests.get(request.id).state == "delivered"


def test_what_breaks_its_promise_with_what_the_consumer_has_is_delivered_only_if_that_is_accepted(
    task, client, people, tmp_path
):
    earlier, request = tmp_path / "earlier.csv", client.requests.get(task.request_id)
    name, to = request.entry.name, request.consumer
    earlier.write_text("\n".join((people / "people.csv").read_text().splitlines()[:-1]) + "\n")
    leave(earlier, task.plan, "tens", Leaving(name=name, to=to, place="earlier"), {"delimiter": ","})
    there = storage_at(str(tmp_path), "https://shared.example"), tmp_path / "work"
    with pytest.raises(SmallCountsError):  # exact counts tell the record that would be held back
        fulfil(task, *there)
    assert client.requests.get(task.request_id).state == "approved"
    fulfilled = fulfil(replace(task, accept_composition=True), *there)
    assert (fulfilled.request.state, len(fulfilled.together)) == ("delivered", 1)
    assert [event.to for event in ledgers()[0][0].events] == [to, to]


UNDECIDED = Verdict(passed=False, findings=(VerdictFinding(reason="undecided", pointer="/attributes/0", cells=3),))


@pytest.mark.long
def test_a_table_beside_which_the_entry_tells_a_small_count_is_not_delivered(client, tmp_path, monkeypatch):
    """One record with x or y says yes, which the table shows. It has x if the count of x was rounded up.

    If there is no time to find that out, nothing is delivered, and the next run goes on with the masked table.
    """
    counts = {"x,no": 40, "x,yes": 1, "y,no": 30, "z,no": 20, "z,yes": 15}
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *(row for row, n in counts.items() for _ in range(n))]) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "label: b\nattributes: {a: {maskings: {m: {hierarchy: {level: 1, tree: {xy: [x, y], zz: [z]}}}}}}\n"
        "configurations: {merged: {a: m}, as-it-is: {}}\nprivacy: {merged: {k: 30}}\n"
    )
    plan, shared = load_plan(tmp_path / "plan.yaml"), storage_at(str(tmp_path), "https://shared.example")
    prepared = prepare_entry(tmp_path / "t.csv", plan, [RandomRounding(5)], name="beside").entry
    outcomes = {}
    for published in (0, 5):
        head = client.publish(beside(prepared, [[40, published], [30, 0], [20, 15]]), accept_unique=True)
        asked = {"purpose": "a study", "contact": "me", "terms": head.terms, "require": {"k": 30}}
        request = client.requests.create(head.id, "mutual_information", **asked, wait=60)
        client.requests.approve(request.id)
        with monkeypatch.context() as hurried:
            hurried.setattr("aegis_provider.handover.fulfilling.judged_beside", lambda *_, **_how: UNDECIDED)
            with pytest.raises(MachineError, match="run the same command again") as late:
                fulfil(Task(client, request.id, tmp_path / "t.csv", plan), shared, tmp_path / "work")
        assert "not decided" in str(late.value)
        assert "anew" not in str(late.value)
        assert [*(tmp_path / "work").rglob("masked*.csv")]
        try:
            fulfil(Task(client, request.id, tmp_path / "t.csv", plan), shared, tmp_path / "work")
            outcomes[published] = "delivered"
        except SmallCountsError as refused:
            outcomes[published] = str(refused)
        assert not [*(tmp_path / "work").iterdir()]
    assert outcomes[0] == "delivered"
    assert outcomes[5].startswith("FAIL: entry and card, read together with the table, give counts of 1 to 4 of what ")
    assert outcomes[5].endswith(
        ": 1 certain from several tables together. To mend it: publish the entry anew, with "
        "its counts rounded by --new-randomness, and let it be requested again. It is not delivered"
    )
    assert len([*tmp_path.glob("*-*.csv")]) == 1


def beside(entry, joint):
    """The entry with these counts of x, y and z, of which the masking takes x and y together."""
    histogram, labels = [*map(sum, joint)], [*map(sum, zip(*joint, strict=True))]
    halves = [[*map(sum, zip(*joint[:2], strict=True))], joint[2]]
    [attribute] = entry.attributes
    masking = attribute.maskings[0].model_copy(update={"joint": halves, "mapping": [0, 0, 1]})
    counted = {"domain": ["x", "y", "z"], "histogram": histogram, "joint": joint, "maskings": [masking]}
    changed = {
        "name": f"beside-{uuid4().hex}",
        "records": sum(labels),
        "label": entry.label.model_copy(update={"histogram": labels}),
        "attributes": [attribute.model_copy(update=counted)],
    }
    return entry.model_copy(update=changed)


def test_only_what_is_approved_is_fulfilled(task, client, tmp_path):
    client.requests.withdraw(task.request_id)
    with pytest.raises(ServiceError, match="is withdrawn; only an approved one"):
        fulfil(task, storage_at(str(tmp_path), "https://shared.example"), tmp_path / "work")


def test_a_card_of_another_release_is_refused(task, tmp_path):
    other = Task(task.service, task.request_id, task.table, task.plan, card={"configuration": "whole"})
    with pytest.raises(PlanError, match="the release card is about 'whole', but 'tens' was approved"):
        fulfil(other, storage_at(str(tmp_path), "https://shared.example"), tmp_path / "work")


def test_a_delivered_table_gets_a_new_link_to_the_same_file(aegis, task, client, s3, tmp_path):
    with pytest.raises(ServiceError, match="nothing was delivered yet"):
        relink(client, task.request_id, storage_at(s3))
    first = fulfil(task, storage_at(s3), tmp_path / "work").request.delivery
    code, out, err = aegis("requests", "relink", task.request_id, "--to", s3)
    assert (code, err) == (0, "")
    second = client.requests.get(task.request_id).delivery
    assert (second.sha256, second.expires_at > first.expires_at) == (first.sha256, True)
    assert sha256(httpx.get(second.url).content).hexdigest() == first.sha256
    assert second.url in out
    with pytest.raises(OutputError, match="is not there; name the place that it was delivered to"):
        relink(client, task.request_id, storage_at("s3://shared/elsewhere"))


def test_a_generated_table_is_delivered_as_it_is(client, tmp_path):
    made, table = tmp_path / "made.csv", tmp_path / "people.csv"
    made.write_text(offered.people(2, 700))
    table.write_text(offered.people(1, 1_500))
    digest = sha256(made.read_bytes()).hexdigest()
    (tmp_path / "plan.yaml").write_text(offered.PLAN.replace("DIGEST", digest))
    plan = load_plan(tmp_path / "plan.yaml")
    prepared = with_generated(prepare_entry(table, plan, name=f"made-{uuid4().hex}"))
    head = client.publish(prepared.entry, accept_small_counts=True)
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms, "kinds": ["generated"]}
    made_request = client.requests.create(head.id, "joint", **asked, wait=60)
    assert (made_request.state, made_request.configuration) == ("advised", "g1")
    client.requests.approve(made_request.id)
    (tmp_path / "shared").mkdir()
    shared = storage_at(str(tmp_path / "shared"), "https://shared.example")
    delivery = fulfil(Task(client, made_request.id, table, plan), shared, tmp_path / "work").request.delivery
    assert (delivery.sha256, delivery.records, delivery.privacy) == (digest, 700, {"membership": 0.56})
    [file] = (tmp_path / "shared").glob("*.csv")
    assert file.read_bytes() == made.read_bytes()


def test_parquet_is_delivered_as_parquet(task, tmp_path):
    parquet = Task(task.service, task.request_id, task.table, task.plan, ending=".parquet")
    delivery = fulfil(parquet, storage_at(str(tmp_path), "https://shared.example"), tmp_path / "work").request.delivery
    assert delivery.media_type == "application/vnd.apache.parquet"
    [file] = tmp_path.glob("*.parquet")
    assert sha256(file.read_bytes()).hexdigest() == delivery.sha256


def test_a_table_is_delivered_also_if_its_lineage_cannot_be_sent(aegis, client, people, approved, tmp_path):
    command = ("requests", "fulfil", approved.id, people / "people.csv", "--plan", people / "plan.yaml")
    where = ("--to", tmp_path, "--link", "https://shared.example", "--work", tmp_path / "work")
    code, _, said = aegis(*command, *where, "--lineage", "ftp://lineage.example")
    assert (code, client.requests.get(approved.id).state) == (2, "approved")
    with web_store() as closed:
        pass
    code, out, said = aegis(*command, *where, "--lineage", closed.url)
    assert (code, out.splitlines()[0][:10]) == (0, "delivered:")
    assert "warning: the lineage event was not sent: ConnectError" in said
    assert client.requests.get(approved.id).state == "delivered"
