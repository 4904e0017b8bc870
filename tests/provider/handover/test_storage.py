"""Storage: what is put there is fetched by its link, byte for byte, and an upload that failed leaves nothing."""

import base64
import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from aegis_provider.errors import OutputError
from aegis_provider.handover import storage_at
from aegis_provider.handover.storage import pause, retried
from aegis_sdk import AegisError
from tests.for_each import for_each
from tests.stores import web_store

CONTENT = bytes(range(256)) * 40_000  # several parts
NAME = "c01 masked.csv"


def unseen(_done, _all):
    """Show no progress."""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "masked.csv"
    path.write_bytes(CONTENT)
    return path


def test_a_directory_is_shared_at_an_address(file, tmp_path):
    seen = []
    storage = storage_at(str(tmp_path), "https://shared.example/tables/")
    link = storage.put(file, NAME, "text/csv", lambda *done: seen.append(done))
    assert (link.url, link.expires_at) == ("https://shared.example/tables/c01%20masked.csv", None)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    storage.remove(NAME)
    storage.remove(NAME)
    assert list(tmp_path.iterdir()) == [file]


def test_an_object_of_s3_is_fetched_by_a_presigned_link(file, s3):
    storage, seen = storage_at(s3), []
    link = storage.put(file, NAME, "text/csv", lambda *done: seen.append(done))
    answer = httpx.get(link.url)
    assert (answer.content == CONTENT, answer.headers["content-type"]) == (True, "text/csv")
    assert timedelta(days=6.9) < link.expires_at - datetime.now(UTC) <= timedelta(days=7)
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    again = []
    assert httpx.get(storage.put(file, NAME, "text/csv", lambda *done: again.append(done)).url).content == CONTENT
    assert again == []  # it was there
    storage.remove(NAME)
    assert httpx.get(link.url).status_code == 404


def test_a_bucket_that_is_not_there_is_one_line(file, s3):  # noqa: ARG001 - the environment
    storage = storage_at("s3://nowhere/health")
    with pytest.raises(OutputError, match=r"^s3://nowhere/health: .*") as refused:
        storage.put(file, NAME, "text/csv", unseen)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_web_server_is_asked_again_while_it_is_busy(file):
    with web_store() as store:
        store.failures = 1
        storage = storage_at(store.url.replace("http://", "http://me:password@") + "/up/")
        link = storage.put(file, NAME, "text/csv", unseen)
        assert link.url == f"{store.url}/up/c01%20masked.csv"  # without the provider's password
        assert httpx.get(link.url).content == CONTENT
        assert (storage.size(NAME), storage.size("other")) == (len(CONTENT), None)
        assert store.methods == ["PUT", "PUT"]
        storage.remove(NAME)
        assert store.files == {}


def test_a_refusal_is_not_tried_again(file):
    with web_store() as store:
        store.status = 403
        with pytest.raises(OutputError, match="the server answers 403 to PUT"):
            storage_at(store.url).put(file, NAME, "text/csv", unseen)
        assert store.methods == ["PUT"]


def test_links_of_azure_and_google_are_signed_without_asking_them(monkeypatch, tmp_path):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "hospital")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", base64.b64encode(b"k" * 64).decode())
    azure = storage_at("az://shared/health").link(NAME).url
    assert azure.startswith("https://hospital.blob.core.windows.net/shared/health/c01%20masked.csv?")
    assert "sig=" in azure
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = tmp_path / "account.json"
    account.write_text(
        json.dumps(
            {
                "type": "service_account",
                "private_key": pem,
                "private_key_id": "1",
                "client_email": "aegis@hospital.example",
                "gcs_base_url": "https://storage.googleapis.com",
                "disable_oauth": False,
            }
        )
    )
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(account))
    google = storage_at("gs://shared/health").link(NAME).url
    assert google.startswith("https://storage.googleapis.com/shared/health/c01%20masked.csv?")
    assert "X-Goog-Signature=" in google


@for_each(
    ("place", "link", "said"),
    [
        ("ftp://shared.example/", None, "not a directory and none of s3"),
        ("somewhere", None, "give the public address of this directory with --link"),
        ("s3://shared/health", "https://shared.example", "links are presigned"),
        ("s3://", None, "s3://"),
    ],
)
def test_what_is_no_storage_is_refused_at_once(place, link, said):
    with pytest.raises(AegisError, match=said):
        storage_at(place, link)


def test_a_directory_that_is_not_there_is_said(file, tmp_path):
    with pytest.raises(OutputError, match="there is no directory"):
        storage_at(str(tmp_path / "no"), "https://shared.example").put(file, NAME, "text/csv", unseen)


def test_pauses_grow_up_to_a_limit():
    assert 0.5 <= pause(1, shortest=0.5) <= 1.0
    assert 0.5 * 300 <= pause(1000) <= 300


def test_only_failures_that_may_pass_are_tried_again():
    tried = []

    def work():
        tried.append(1)
        raise KeyError

    with pytest.raises(KeyError):
        retried(work, lambda _: False)
    assert tried == [1]
