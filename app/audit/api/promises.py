"""What signed heads and receipts promise of the audit log, and what of it they cover."""

from collections.abc import Iterable, Mapping

from aegis_sdk.receipts import HEAD, ReceiptError, checked_claims
from aegis_sdk.wire import PublicKey, PublicKeySet
from app.audit.model import Place, PromisedRecord, SigningKey


def key_set(keys: Iterable[SigningKey]) -> PublicKeySet:
    """The keys that check signatures, for everybody."""
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
    """What a signed head promises.

    Raises:
        ReceiptError: none of the keys has signed it.
    """
    return promise_of(checked_claims(jws, keys, HEAD), "head")


def promise_of(claims: Mapping[str, object], what: str, signed_at: str | None = None) -> PromisedRecord:
    """What the claims of a head or of a receipt promise.

    Raises:
        ReceiptError: they name no record.
    """
    sequence, own = claims.get("sequence"), claims.get("hash")
    if not isinstance(sequence, int) or not isinstance(own, str):
        raise ReceiptError(f"the {what} names no record of the log")
    return PromisedRecord(Place(sequence, own), f"the {what}, signed on {str(signed_at or claims['signed_at'])[:10]},")


def coverage(last: Place, signed: int) -> str:
    """Up to which record signatures cover the log, and how many records come after that; `signed` is 0 for none."""
    if not signed:
        return "nothing is signed"
    return f"signed up to record {signed}, {counted(last.sequence - signed, 'record')} after that not covered"


def counted(number: int, what: str) -> str:
    """So many things, such as `2 records`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
