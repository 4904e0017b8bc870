"""The mutations that turn a valid document into a hostile body."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from bench.hostile.values import NUMBERS, PLACE, TEXTS, any_value, large_object, long_list, nested

#: The most inflated bytes of a bomb; the service accepts 64 MiB.
_BOMB = 200 * 2**20


@dataclass
class Body:
    """A request body.

    Attributes:
        headers: the headers that describe it.
    """

    content: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


Document = dict[str, Any]
Mutation = Callable[[Random, Document, Mapping[str, Any]], Body]
Change = Callable[[Random, Document, Mapping[str, Any]], str]


def _text(document: object, instead: str = "") -> str:
    return json.dumps(document).replace(f'"{PLACE}"', instead)


def _body(text: str) -> Body:
    return Body(text.encode("utf-8", "surrogatepass"))


def _owners(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 -- JSON
    """Every place in a document: its container, and its name or index there."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _owners(value[key])


def _place(rng: Random, document: Document) -> tuple[Any, Any]:
    return rng.choice(list(_owners(document)))


def _objects(document: Document) -> list[Document]:
    return [document, *(owner[key] for owner, key in _owners(document) if isinstance(owner[key], dict))]


def _put(rng: Random, document: Document, value: object, instead: str = "") -> str:
    owner, key = _place(rng, document)
    owner[key] = value
    return _text(document, instead)


def _wrong_type(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    return _put(rng, document, any_value(rng))


def _number(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    numbers = [(owner, key) for owner, key in _owners(document) if type(owner[key]) in (int, float)]
    owner, key = rng.choice(numbers) if numbers and rng.random() < 0.9 else _place(rng, document)
    owner[key] = PLACE
    return _text(document, rng.choice(NUMBERS))


def _string(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    texts = [(owner, key) for owner, key in _owners(document) if isinstance(owner[key], str)]
    owner, key = rng.choice(texts) if texts else _place(rng, document)
    owner[key] = rng.choice(TEXTS)
    return json.dumps(document, ensure_ascii=rng.random() < 0.5)


def _missing(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    owner, key = _place(rng, document)
    del owner[key]
    return _text(document)


def _extra(rng: Random, document: Document, known: Mapping[str, Any]) -> str:
    name = rng.choice((*known, *known, *TEXTS[:20]))
    rng.choice(_objects(document))[name] = deepcopy(known.get(name, any_value(rng)))
    return _text(document)


def _swapped(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    (one, first), (other, second) = _place(rng, document), _place(rng, document)
    kept = deepcopy(one[first]), deepcopy(other[second])
    other[second], one[first] = kept
    return _text(document)


def _repeated(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    owner = rng.choice([one for one in _objects(document) if one])
    name = rng.choice(list(owner))
    member = f"{json.dumps(name)}: {json.dumps(rng.choice((owner[name], any_value(rng))))}"
    owner[name] = PLACE
    return _text(document, f"{json.dumps(any_value(rng))}, {member}")


def _counts(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    """Valid numbers that contradict each other."""
    for owner, key in list(_owners(document)):
        if type(owner[key]) is int and rng.random() < 0.1:
            owner[key] = rng.choice((owner[key] + rng.choice((-1, 1)), owner[key] * 10 ** rng.randrange(16)))
    return _text(document)


def _nested(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    return _put(rng, document, PLACE, nested(rng))


def _long(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    return _put(rng, document, PLACE, rng.choice((long_list, large_object))(rng))


def _grown(rng: Random, document: Document, _: Mapping[str, Any]) -> str:
    """A list of the document, many times longer."""
    lists = [owner[key] for owner, key in _owners(document) if isinstance(owner[key], list) and owner[key]]
    if lists:
        grown = rng.choice(lists)
        grown *= int(10 ** rng.uniform(0.5, 4)) // len(grown) + 1
    return _text(document)


def _several(rng: Random, document: Document, known: Mapping[str, Any]) -> str:
    for _ in range(rng.randrange(2, 6)):
        change = rng.choice((_wrong_type, _missing, _extra, _swapped, _counts))
        change(rng, document, known)  # every change modifies the document itself
        if not document:
            break
    return _text(document)


def _valid(_rng: Random, document: Document, _known: Mapping[str, Any]) -> str:
    return _text(document)


def _truncated(rng: Random, document: Document, _: Mapping[str, Any]) -> Body:
    text = _text(document)
    return _body(text[: rng.randrange(len(text))])


def _bytes(rng: Random, document: Document, _known: Mapping[str, Any]) -> Body:
    content = bytearray(_text(document).encode())
    for _ in range(rng.randrange(1, 9)):
        place = rng.randrange(len(content))
        piece = bytes(rng.randrange(256) for _ in range(rng.choice((0, 1, 1, 4))))
        content[place : place + rng.choice((0, 1, 1, 9))] = piece
        content = content or bytearray(b"{")
    return Body(bytes(content))


def _encoded(rng: Random, document: Document, _: Mapping[str, Any]) -> Body:
    """Another encoding than UTF-8, or another type."""
    text = _text(document)
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "cp037", "utf-8"))
    types = ("application/json", f"application/json; charset={encoding}", "text/plain", "application/json;" * 30, "")
    return Body(text.encode(encoding), {"Content-Type": rng.choice(types)})


def _compressed(rng: Random, document: Document, _: Mapping[str, Any]) -> Body:
    """Valid gzip, invalid, doubled, truncated or in many members; or a bomb."""
    content = _text(document).encode()
    whole = gzip.compress(content)
    parts = gzip.compress(b"") * 3_000 + whole
    bodies = (whole, whole[:-5], gzip.compress(whole), content, parts, whole + b"x", _bomb())
    said = rng.choice(("gzip", "gzip", "gzip", "gzip, zstd", "zstd", "br", "identity", "gzip" * 50))
    return Body(rng.choice(bodies), {"Content-Type": "application/json", "Content-Encoding": said})


@cache
def _bomb() -> bytes:
    """Compressed spaces that never were in memory together, with a wrong checksum at the end."""
    deflater = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    piece = deflater.compress(b" " * 2**20) + deflater.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + piece * (_BOMB // 2**20) + deflater.flush() + bytes(8)


def _noise(rng: Random, _document: Document, _known: Mapping[str, Any]) -> Body:
    """Bytes that are not JSON."""
    return Body(rng.choice((b"", b"\x00", b"null", b"[]", b'"', b"{", b"0", rng.randbytes(rng.randrange(1, 5_000)))))


def _sent(change: Change) -> Mutation:
    return lambda rng, document, known: _body(change(rng, document, known))


#: All kinds of mutations by name.
MUTATIONS: Mapping[str, Mutation] = {
    "none": _sent(_valid),
    "wrong type": _sent(_wrong_type),
    "number at an edge": _sent(_number),
    "odd text": _sent(_string),
    "missing member": _sent(_missing),
    "extra member": _sent(_extra),
    "swapped places": _sent(_swapped),
    "repeated member": _sent(_repeated),
    "counts that disagree": _sent(_counts),
    "deep nesting": _sent(_nested),
    "long list or object": _sent(_long),
    "list made long": _sent(_grown),
    "several of these": _sent(_several),
    "truncated": _truncated,
    "changed bytes": _bytes,
    "other encoding or type": _encoded,
    "compression": _compressed,
    "no JSON": _noise,
}
