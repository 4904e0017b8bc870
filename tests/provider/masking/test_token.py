"""Tokens: a keyed hash whose salt and mapping stay with the provider."""

import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError, load_plan
from aegis_provider.masking.texts import Token
from aegis_provider.table.values import Domain, ValueType
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.documents import summarize

SALT = b"sixteen bytes or more of salt"
TABLE = "id,y\n" + "".join(f"{name},{label}\n" for name, label in zip("abbcccdddd", "mnmnmnmnmn", strict=True))


def plan_with(write, token, configurations="{c: {id: token}}"):
    write("salt.txt", SALT + b"\r\n")
    text = (
        f"label: y\nattributes: {{id: {{maskings: {{token: {{token: {token}}}}}}}}}\nconfigurations: {configurations}\n"
    )
    return load_plan(write("plan.yaml", text))


def digest(text, length=64):
    """Compute HMAC (RFC 2104) by its definition."""
    key = SALT.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + text.encode()).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()[:length]


@given(st.sets(st.text(min_size=1).filter(lambda text: "\0" not in text), min_size=1), st.integers(12, 64))
def test_a_token_is_the_keyed_hash_of_the_text(texts, length):
    domain = Domain.of(texts, ValueType.STRING)
    assert Token(SALT, length).mask(domain) == [digest(text, length) for text in domain.texts]
    assert Token(SALT, 64).mask(domain) == [
        hmac.new(SALT, text.encode(), "sha256").hexdigest() for text in domain.texts
    ]


def test_a_missing_value_stays_missing():
    assert Token(SALT).mask(Domain.of(["", "a"])) == ["", digest("a", 12)]


def test_two_values_with_one_token_are_an_error_that_names_the_line(write):
    rows = "".join(f"p{number},{'mn'[number % 2]}\n" for number in range(2_000))
    plan = plan_with(write, "{salt_file: salt.txt, length: 4}")
    with pytest.raises(TableError) as raised:
        summarize(write("t.csv", "id,y\n" + rows), plan, name="t")
    seen = {}
    clash = next(
        text for text in sorted(f"p{n}" for n in range(2_000)) if seen.setdefault(digest(text, 4), text) != text
    )
    assert f"line {int(clash[1:]) + 2}: id {clash!r} has the same token as another value" in str(raised.value)


def test_the_salt_is_that_of_the_file_or_of_the_environment(write, monkeypatch):
    monkeypatch.setenv("AEGIS_TEST_SALT", SALT.decode())
    of_file = plan_with(write, "{salt_file: salt.txt}").attributes[0].maskings[0].function
    of_variable = plan_with(write, "{salt_variable: AEGIS_TEST_SALT}").attributes[0].maskings[0].function
    assert of_file == of_variable == Token(SALT, 12)


def test_the_entry_has_the_tokens_in_their_own_order_and_nothing_that_undoes_them(write):
    entry = summarize(write("t.csv", TABLE), plan_with(write, "{salt_file: salt.txt}"), name="t")
    EntryDocument.model_validate(entry)
    [attribute] = entry["attributes"]
    [masking] = attribute["maskings"]
    tokens = {digest(name, 12): name for name in "abcd"}
    assert masking["domain"] == sorted(tokens)
    by_name = {name: [TABLE.count(f"{name},{label}") for label in "mn"] for name in "abcd"}
    assert masking["joint"] == [by_name[tokens[token]] for token in masking["domain"]]
    assert masking["function"] == {"name": "token", "parameters": {"algorithm": "hmac-sha256", "length": 12}}
    assert masking["deterministic"] is True
    assert "mapping" not in masking
    assert "histogram" not in attribute


def test_the_salt_is_nowhere_in_the_entry_nor_in_the_plan_as_python_shows_it(write):
    plan = plan_with(write, "{salt_file: salt.txt}")
    entry = summarize(write("t.csv", TABLE), plan, name="t")
    for text in (json.dumps(entry), repr(plan), plan.attributes[0].maskings[0].function.describe()):
        assert SALT.decode() not in text
        assert "salt.txt" not in text


def test_no_pairs_of_tokens_are_published(write):
    plan = plan_with(write, "{salt_file: salt.txt}")
    with pytest.raises(PlanError, match=r"maskings\.token: has no pair counts, because its mapping is secret"):
        summarize(write("t.csv", TABLE), plan, name="t", pairs=True)
    unused = plan_with(write, "{salt_file: salt.txt}", "{c: {}}")
    assert summarize(write("t.csv", TABLE), unused, name="t", pairs=True)["pairs"] == []


@for_each(
    ("token", "message"),
    [
        ("{}", "token: expected either `salt_file`, a file beside the plan, or `salt_variable`"),
        ("{salt_file: salt.txt, salt_variable: X}", "token: expected either `salt_file`"),
        ("{salt_file: none.txt}", "token.salt_file: none.txt cannot be read: No such file or directory"),
        ("{salt_variable: AEGIS_NO_SALT}", "token.salt_variable: the environment variable 'AEGIS_NO_SALT' is not set"),
        ("{salt_file: short.txt}", "token: a salt of at least 16 bytes is needed, so that nobody can guess it"),
        ("{salt_file: salt.txt, length: 3}", "token: `length` must be 4 to 64, not 3"),
        ("{salt_file: salt.txt, length: 65}", "token: `length` must be 4 to 64, not 65"),
    ],
)
def test_a_faulty_token_is_refused_without_its_salt(write, token, message):
    write("short.txt", "pinch of salt")
    with pytest.raises(PlanError) as raised:
        plan_with(write, token)
    assert str(raised.value).startswith(f"plan.yaml: attributes.id.maskings.token.{message}")
    assert "pinch" not in str(raised.value)
