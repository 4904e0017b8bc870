"""Keys and signatures, against the examples of RFC 8037."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import OKPAlgorithm
from jwt.api_jws import PyJWS
from pydantic import SecretStr

from aegis_sdk import receipts
from app.audit.service import HEAD, RECEIPT, draw_key_text, encoded, signer_of, thumbprint
from tests.for_each import for_each

#: RFC 8037, appendix A.1 to A.3.
PRIVATE, PUBLIC = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
BYTES = base64.urlsafe_b64decode(PRIVATE + "=")


def pem(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


FORMS = [
    PRIVATE,
    PRIVATE + "=",
    base64.b64encode(BYTES).decode(),
    BYTES.hex(),
    BYTES.hex().upper(),
    pem(Ed25519PrivateKey.from_private_bytes(BYTES)),
]


def test_a_key_is_read_in_any_of_its_forms(tmp_path):
    for form in FORMS:
        (tmp_path / "key").write_text(f"{form}\n")
        for signer in (signer_of(SecretStr(form)), signer_of(None, tmp_path / "key")):
            assert (signer.public_key, signer.key_id) == (PUBLIC, THUMBPRINT), form


def test_both_sides_call_what_is_signed_the_same():
    assert (HEAD, RECEIPT) == (receipts.HEAD, receipts.RECEIPT)


def test_the_id_of_a_key_is_its_thumbprint_for_both_sides():
    assert thumbprint(PUBLIC) == receipts.thumbprint(PUBLIC) == THUMBPRINT


def test_another_library_reads_what_is_signed():
    claims = {"state": "größte", "b": 1, "a": [1, 2]}
    signed = signer_of(SecretStr(PRIVATE)).sign(RECEIPT, claims)
    key = OKPAlgorithm.from_jwk(json.dumps({"kty": "OKP", "crv": "Ed25519", "x": PUBLIC}))
    read = PyJWS().decode_complete(signed, key, algorithms=["EdDSA"])
    assert json.loads(read["payload"]) == claims
    assert read["header"] == {"alg": "EdDSA", "kid": THUMBPRINT, "typ": RECEIPT}
    assert signed.split(".")[1] == encoded('{"a":[1,2],"b":1,"state":"größte"}'.encode())


def test_a_drawn_key_can_be_used_and_is_another_each_time():
    one, other = draw_key_text(), draw_key_text()
    assert signer_of(SecretStr(one)).key_id != signer_of(SecretStr(other)).key_id


NO_KEYS = [
    "",
    "secret",
    PRIVATE[:-1],
    BYTES.hex()[2:],
    "-----BEGIN",
    "ü" * 32,
    pem(ec.generate_private_key(ec.SECP256R1())),
]


@for_each("text", NO_KEYS)
def test_what_is_no_key_is_refused_without_being_quoted(text):
    with pytest.raises(ValueError, match="the audit key is not an Ed25519 private key") as refused:
        signer_of(SecretStr(text))
    assert not text or text not in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"the audit key cannot be read from .*: No such file"):
        signer_of(None, tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="not UTF-8"):
        signer_of(None, tmp_path / "binary")
    assert signer_of(None) is None
