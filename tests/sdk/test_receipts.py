"""Receipts are checked without the service, and whatever was changed in one is found."""

import base64
import builtins
import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aegis_sdk.receipts import HEAD, RECEIPT, ReceiptError, check_receipt, checked_claims, keys_in, thumbprint
from aegis_sdk.wire import PublicKey, PublicKeySet, ReceiptClaims
from tests.for_each import for_each

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHA = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
CLAIMS = ReceiptClaims.model_config["json_schema_extra"]["examples"][0] | {"file_sha256": SHA}


def encoded(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


class Service:
    """A service's key, made from a number."""

    def __init__(self, number, **changes):
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        x = encoded(self.private.public_key().public_bytes_raw())
        about = {"kty": "OKP", "crv": "Ed25519", "kid": thumbprint(x), "x": x, "valid_from": NOW - timedelta(days=1)}
        self.key = PublicKey(**about | changes)

    def signed(self, claims=CLAIMS, kind=RECEIPT, **header):
        parts = ({"alg": "EdDSA", "kid": self.key.kid, "typ": kind} | header, claims)
        text = ".".join(encoded(json.dumps(part).encode()) for part in parts)
        return f"{text}.{encoded(self.private.sign(text.encode()))}"


SERVICE, OTHER = Service(1), Service(2)
KEYS = PublicKeySet(keys=[OTHER.key, SERVICE.key])
RECEIPT_TEXT = SERVICE.signed()


def fault(receipt, keys=KEYS, **options):
    with pytest.raises(ReceiptError) as refused:
        check_receipt(receipt, keys, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    "form",
    [
        RECEIPT_TEXT,
        f"{RECEIPT_TEXT}\n",
        RECEIPT_TEXT.encode(),
        json.dumps({"claims": {"state": "ended"}, "jws": RECEIPT_TEXT}),
    ],
)
def test_a_receipt_is_what_the_service_has_signed_in_any_form(form):
    claims = check_receipt(form, KEYS, SHA)
    assert (claims.state, claims.file_sha256, claims.audit.sequence) == ("approved", SHA, 1)


def test_a_changed_receipt_is_found():
    header, _, signature = RECEIPT_TEXT.split(".")
    for member in CLAIMS:
        claims = CLAIMS | {member: "other"}
        assert "the signature is invalid" in fault(f"{header}.{encoded(json.dumps(claims).encode())}.{signature}"), (
            member
        )


def test_any_other_byte_is_found():
    for place in range(0, len(RECEIPT_TEXT), 7):
        other = "A" if RECEIPT_TEXT[place] != "A" else "B"
        fault(RECEIPT_TEXT[:place] + other + RECEIPT_TEXT[place + 1 :])


NO_RECEIPTS = [
    (Service(3).signed(), "signed by a key that is not among the given ones"),
    (Service(3).signed(kid=SERVICE.key.kid), "the signature is invalid"),
    (SERVICE.signed(kind=HEAD), "not of type aegis-receipt"),
    (SERVICE.signed(alg="none"), "not of type aegis-receipt, signed by EdDSA"),
    (SERVICE.signed(alg="HS256"), "not of type aegis-receipt, signed by EdDSA"),
    (SERVICE.signed(crit=["exp"]), "not of type aegis-receipt"),
    (SERVICE.signed(CLAIMS | {"signed_at": "2020-01-01T00:00:00Z"}), "signed on 2020-01-01, when its key was not"),
    (SERVICE.signed(CLAIMS | {"signed_at": "soon"}), "has no time of signature"),
    (SERVICE.signed(CLAIMS | {"signed_at": "2026-03-01T12:00:00"}), "has no time of signature"),
    (SERVICE.signed({"signed_at": CLAIMS["signed_at"]}), "cannot be understood"),
    (SERVICE.signed([1]), "not a JSON object"),
    ("", "not a JSON Web Signature"),
    ("a.b", "not a JSON Web Signature"),
    ("a.b.c", "not a JSON object"),
    (RECEIPT_TEXT + "=", "the signature is invalid"),
    (RECEIPT_TEXT[:-4], "the signature is invalid"),
    ("{", "not a receipt"),
    ('{"claims": {}}', "not a receipt"),
    ("[" * 100_000, "not a JSON Web Signature"),
    (b"\xff\xfe", "not a receipt"),
    ("x" * 10_000_001, "too long"),
]


def test_what_is_no_receipt_of_the_service_is_refused():
    taken = [(receipt[:100], told, said) for receipt, told in NO_RECEIPTS if told not in (said := fault(receipt))]
    assert taken == []


def test_a_key_must_be_what_its_id_says_and_in_use():
    other_x = OTHER.key.x
    swapped = SERVICE.key.model_copy(update={"x": other_x})
    assert "its id is not its thumbprint" in fault(RECEIPT_TEXT, [swapped])
    curve = SERVICE.key.model_copy(update={"crv": "X25519"})
    assert "not an Ed25519 key" in fault(RECEIPT_TEXT, [curve])
    ended = SERVICE.key.model_copy(update={"valid_until": NOW})
    assert "when its key was not in use" in fault(RECEIPT_TEXT, [ended])


def test_another_file_is_found():
    assert fault(RECEIPT_TEXT, file_sha256="0" * 64).startswith("this is not the delivered file")
    early = SERVICE.signed(CLAIMS | {"file_sha256": None})
    assert fault(early, file_sha256=SHA).startswith("the receipt has no file")
    assert check_receipt(early, KEYS).file_sha256 is None


def test_a_head_is_checked_in_the_same_way():
    head = SERVICE.signed({"sequence": 5, "hash": "0" * 64, "signed_at": "2026-03-01T12:00:00Z"}, HEAD)
    assert checked_claims(head, KEYS, HEAD)["sequence"] == 5
    assert "not of type aegis-receipt" in fault(head)


@for_each("content", ["", "{}", '{"keys": [{}]}', '{"keys": 5}', b"\xff"])
def test_what_is_no_set_of_keys_is_refused(content):
    with pytest.raises(ReceiptError, match="not a set of public keys"):
        keys_in(content)


def test_without_the_library_it_says_how_to_install_it(monkeypatch):
    usual = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("cryptography"):
            raise ModuleNotFoundError(name)
        return usual(name, *rest)

    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", refuse)
    how = "install 'aegis-masking[receipts]' from where you got Aegis"
    assert f"needs the library cryptography: {how}" in fault(RECEIPT_TEXT)
