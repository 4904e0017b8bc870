"""Uploaded files: what is taken for an entry, how far other files are read, and who may send one."""

import gzip
import json
import os
import sqlite3
import zipfile
from contextlib import closing
from io import BytesIO
from itertools import product

import pyarrow as pa
import pytest
from fastapi import Request
from pyarrow import parquet

from app.entries.pages.upload import RawTableError, kind_by_signature, kind_of_json, read_upload
from app.pages.viewers import Viewer
from app.platform.callers import DEVELOPER
from app.platform.errors import OverloadedError, RoleNotAllowedError
from app.platform.http.bodies import BodyBudget
from app.platform.http.refusals import BodyTooLargeError, MalformedRequestError, MediaTypeError
from tests.app.platform.http.bombs import MEBIBYTE, gzip_bomb
from tests.for_each import case
from tests.service import example_entry

ENTRY = json.dumps(example_entry()).encode()
VIEWER = Viewer(DEVELOPER, token="secret")
LIMIT = MEBIBYTE
FORGED = b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nforged\r\n'
CSRF = FORGED.replace(b"forged", VIEWER.csrf.encode())
END = b"\r\n--b--\r\n"


def begun(name="entry.json", field="entry"):
    return f'--b\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'.encode()


def table():
    return pa.table({"age": [3, 4], "sex": ["f", "m"]})


def parquet_file():
    parquet.write_table(table(), out := BytesIO())
    return out.getvalue()


def arrow_file():
    with pa.ipc.new_file(out := BytesIO(), table().schema) as writer:
        writer.write_table(table())
    return out.getvalue()


def excel_file():
    with zipfile.ZipFile(out := BytesIO(), "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return out.getvalue()


def sqlite_file():
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table people (age integer)")
        return database.serialize()


RAW = {
    "csv": (b"age,sex\n3,f\n4,m\n", "CSV"),
    "csv without a header": (b"3;f\n4;m\n", "CSV"),
    "csv with a mark": (b"\xef\xbb\xbfage,sex\n3,f\n", "CSV"),
    "tsv": (b"age\tsex\n3\tf\n", "TSV"),
    "one column": (b"age\n3\n4\n", "text"),
    "csv in UTF-16": ("age,sex\n3,f\n".encode("utf-16"), "UTF-16"),
    "csv in Latin-1": ("größe,sex\n3,f\n".encode("latin-1"), "CSV"),
    "parquet": (parquet_file(), "Parquet"),
    "arrow": (arrow_file(), "Arrow"),
    "excel": (excel_file(), "Excel"),
    "old excel": (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "old Excel"),
    "sqlite": (sqlite_file(), "SQLite"),
    "duckdb": (bytes(8) + b"DUCK" + bytes(600), "DuckDB"),
    "list of records": (b' [{"age": 3}, {"age": 4}]', "JSON list"),
    "list of rows": (b"[[3, 4], [5, 6]]", "JSON list"),
    "ndjson": (b'{"name": "x", "records": 3}\n{"name": "y", "records": 4}\n', "object on each line"),
    "columns": (b'{"age": [3, 4], "sex": ["f", "m"]}', "other members"),
    "csv.gz": (gzip.compress(b"age,sex\n3,f\n"), "CSV"),
    "ndjson.gz": (gzip.compress(b'{"name": "x"}\r\n{"name": "y"}'), "object on each line"),
    "zstd": (bytes.fromhex("28b52ffd") + bytes(600), "zstd"),
    "noise": (b"\x00\x01\x02" * 300, "binary"),
}  # fmt: skip


class Sender:
    """Somebody who sends a form in chunks, and notes how many of them were read."""

    def __init__(self, chunks, *, stays=True, boundary="b"):
        self.chunks, self.stays, self.read, self.taken = list(chunks), stays, 0, 0
        self.type = f"multipart/form-data; boundary={boundary}"

    async def receive(self):
        if self.read == len(self.chunks) and not self.stays:
            return {"type": "http.disconnect"}
        self.read += 1
        chunk = self.chunks[self.read - 1]
        return {"type": "http.request", "body": chunk, "more_body": self.read < len(self.chunks) or not self.stays}

    async def upload(self, limit=LIMIT, viewer=VIEWER, budget=None):
        scope = {"type": "http", "method": "POST", "headers": [(b"content-type", self.type.encode())]}
        with (budget or BodyBudget(10 * LIMIT)).share() as take:
            return await read_upload(Request(scope, self.receive), viewer, limit, take)


@pytest.mark.parametrize("document", [ENTRY, gzip.compress(ENTRY), b"\n " + ENTRY], ids=["plain", "gzip", "blanks"])
async def test_an_entry_is_read_however_it_arrives(document):
    body = CSRF + begun("größe 😀.json") + document + END
    for step in (1, 7, 10_000):
        sender = Sender(body[start : start + step] for start in range(0, len(body), step))
        upload = await sender.upload()
        assert (json.loads(upload.document), upload.file) == (json.loads(ENTRY), "größe 😀.json"), step


async def test_a_table_is_refused_by_its_first_bytes_and_nothing_more_is_read():
    for kind, (content, words) in RAW.items():
        sender = Sender([CSRF + begun(f"{kind}.x") + content + END])
        with case(kind), pytest.raises(RawTableError, match=words) as refused:
            await sender.upload()
        assert refused.value.file == f"{kind}.x"
        padding = b"x" * 70_000 if not content.startswith(b"\x1f\x8b") else b""
        sender = Sender([CSRF + begun(), content, padding, *[b"5,f\n" * 10_000] * 5, END])
        with case(kind), pytest.raises((RawTableError, MalformedRequestError)):  # what follows the gzip is none
            await sender.upload()
        assert sender.read <= 4, kind


async def test_the_rest_of_a_table_is_not_read():
    sender = Sender([CSRF + begun("t.csv"), b"age,sex\n" * 64, *[b"3,f\n" * 10_000] * 100, END])
    with pytest.raises(RawTableError):
        await sender.upload()
    assert sender.read == 2


async def test_a_table_leaves_nothing_in_memory_or_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    budget = BodyBudget(LIMIT)
    for _ in range(20):
        with pytest.raises(RawTableError):
            await Sender([CSRF + begun() + b"[" + b"1," * 100_000]).upload(budget=budget)
    await Sender([CSRF + begun() + ENTRY.ljust(LIMIT - 10) + END]).upload(budget=budget)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "body",
    [
        begun() + ENTRY + b"\r\n" + CSRF,
        begun() + ENTRY,
        b'--b\r\nContent-Disposition: form-data; name="version_of"\r\n\r\nx\r\n' + CSRF + begun() + ENTRY,
        FORGED + begun() + ENTRY,
    ],
    ids=["after the file", "missing", "after another field", "wrong"],
)
async def test_no_file_is_read_before_it_is_known_who_sends_it(body):
    sender = Sender([body, *[b" " * 1_000] * 10, END])
    with pytest.raises(RoleNotAllowedError, match="has expired"):
        await sender.upload()
    assert sender.read == 1


async def test_a_form_without_any_field_is_refused():
    with pytest.raises(RoleNotAllowedError):
        await Sender([END[2:]]).upload()


async def test_an_upload_that_stops_halfway_is_refused_and_its_memory_is_free_again():
    for sent, stays in product([b"", CSRF, CSRF + begun(), CSRF + begun() + ENTRY], (True, False)):
        budget = BodyBudget(len(ENTRY))
        with case((sent, stays)), pytest.raises(MalformedRequestError):
            await Sender([sent], stays=stays).upload(budget=budget)
        await Sender([CSRF + begun() + ENTRY + END]).upload(budget=budget)


async def test_files_that_are_too_large_are_refused():
    with pytest.raises(BodyTooLargeError, match="more than"):
        await Sender([CSRF + begun() + ENTRY.ljust(LIMIT + 1) + END]).upload()
    zipped = gzip.compress(ENTRY.ljust(LIMIT + 1), 0)
    with pytest.raises(BodyTooLargeError, match="inflated"):
        await Sender([CSRF + begun() + zipped + END]).upload()
    with pytest.raises(OverloadedError):
        await Sender([CSRF + begun() + ENTRY + END]).upload(budget=BodyBudget(len(ENTRY) - 1))


async def test_a_bomb_is_refused_before_it_is_inflated():
    bomb = gzip_bomb(10_240)
    chunks = [bomb[start : start + 65_536] for start in range(0, len(bomb), 65_536)]
    sender = Sender([CSRF + begun(), *chunks, END])
    with pytest.raises((BodyTooLargeError, RawTableError)):
        await sender.upload(limit=64 * MEBIBYTE, budget=BodyBudget(256 * MEBIBYTE))
    blank = gzip.compress(b"{" + b" " * 80 * MEBIBYTE)
    sender = Sender([CSRF + begun(), blank, END])
    with pytest.raises(BodyTooLargeError, match="inflated"):
        await sender.upload(limit=64 * MEBIBYTE, budget=BodyBudget(256 * MEBIBYTE))


@pytest.mark.parametrize("cut", [5, 100, -1])
async def test_a_damaged_file_is_refused(cut):
    zipped = gzip.compress(ENTRY)
    with pytest.raises(MalformedRequestError, match="gzip"):
        await Sender([CSRF + begun() + zipped[:cut] + END]).upload()
    with pytest.raises(MalformedRequestError, match="gzip"):
        await Sender([CSRF + begun() + zipped[:cut] + os.urandom(200) + END]).upload()


async def test_a_form_has_one_file_and_short_fields():
    second = begun("b.json") + ENTRY
    with pytest.raises(MalformedRequestError, match="one file"):
        await Sender([CSRF + begun() + ENTRY + b"\r\n" + second + END]).upload()
    with pytest.raises(MalformedRequestError, match="one file"):
        await Sender([CSRF + begun(field="other") + ENTRY + END]).upload()
    field = b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n' + b"y" * 300_000
    with pytest.raises(BodyTooLargeError, match="beside the file"):
        await Sender([CSRF + field + END]).upload()
    with pytest.raises(MalformedRequestError, match="UTF-8"):
        await Sender([CSRF + field[:50] + b"\xff" + END]).upload()


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data", "multipart/mixed; boundary=b", ""])
async def test_what_is_no_form_is_refused(content_type):
    sender = Sender([CSRF + END])
    sender.type = content_type
    with pytest.raises(MediaTypeError):
        await sender.upload()


@pytest.mark.parametrize("body", [b"nonsense", b"--b\r\nno header\r\n\r\n", b"--b\r\n" + b"X" * 100_000])
async def test_a_form_that_cannot_be_read_is_refused(body):
    with pytest.raises((MalformedRequestError, RoleNotAllowedError)):
        await Sender([body]).upload()


async def test_a_form_without_a_file_says_so():
    upload = await Sender([CSRF + begun("") + END]).upload()
    assert (upload.file, upload.document) == ("", b"")


def test_what_may_be_an_entry_is_left_to_the_parser():
    for text in (b"", b"   ", b"{", b'{"format": 1,', b'{"name": "\xc3', b"{" * 60_000, ENTRY[:100], ENTRY + b"\n"):
        assert kind_by_signature(text) is None
        assert kind_of_json(text) is None
