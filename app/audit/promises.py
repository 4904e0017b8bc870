"""The records that signed heads and receipts commit to, and how much of the audit log they cover."""

from collections.abc import Iterable, Mapping

from aegis_sdk.receipts import HEAD, ReceiptError, checked_claims
from aegis_sdk.wire import PublicKey, PublicKeySet
from app.audit.model import Place, PromisedRecord, SigningKey


def key_set(keys: Iterable[SigningKey]) -> PublicKeySet:
    """The public keys that verify signatures."""
    return PublicKeySet(
        keys=[
            PublicKey(
                kty="OKP",
                crv="Ed25519",
                alg="EdDSA",
                use="sig",
                kid=key.id,
                x=key.public_key,
                valid_from=key.valid_from,
                valid_until=key.valid_until,
            )
            for key in keys
        ]
    )


def head_promise(jws: str, keys: PublicKeySet) -> PromisedRecord:
    """The record that a signed head commits to.

    Raises:
        ReceiptError: none of the keys has signed it.
    """
    return promise_of(checked_claims(jws, keys, HEAD), "head")


def promise_of(claims: Mapping[str, object], what: str, signed_at: str | None = None) -> PromisedRecord:
    """The record that the claims of a head or a receipt commit to.

    Raises:
        ReceiptError: they name no record.
    """
    sequence, own = claims.get("sequence"), claims.get("hash")
    if not isinstance(sequence, int) or not isinstance(own, str):
        raise ReceiptError(f"the {what} names no record of the log")
    return PromisedRecord(Place(sequence, own), f"the {what}, signed on {str(signed_at or claims['signed_at'])[:10]},")


def coverage(last: Place, signed: int) -> str:
    """The last signed record, and the number of records after it; `signed` is 0 if nothing is signed."""
    if not signed:
        return "nothing is signed"
    return f"signed up to record {signed}, {counted(last.sequence - signed, 'record')} after that not covered"


def counted(number: int, what: str) -> str:
    """A number with its noun, such as `2 records`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
