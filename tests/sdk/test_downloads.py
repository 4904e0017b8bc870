"""Downloads from real servers on this machine, which behave well, or not at all."""

import threading
from datetime import UTC, datetime
from itertools import count

import httpcore
import pytest

from aegis_sdk import _downloads, _links
from aegis_sdk._downloads import Download, DownloadError, OtherFileError, Patience
from aegis_sdk._links import LinkError, Links
from aegis_sdk.wire import Delivery
from tests.app.worker.test_sending import PRIVATE
from tests.certificates import certificate_for
from tests.file_server import serving
from tests.for_each import case, for_each

CONTENT = bytes(range(256)) * 2_000
server_of_names = threading.Event()
HASTY = Patience(attempts=3, pause=0.0, longest=0.01)


@pytest.fixture
def server():
    with serving(CONTENT) as files:
        yield files


@pytest.fixture
def part(tmp_path):
    return tmp_path / "t.csv.part"


def delivery(server, **changes):
    told = server.descriptor(configuration="c", records=1, delivered_at=datetime(2026, 1, 1, tzinfo=UTC))
    return Delivery.model_validate(told | changes)


def download(server, part, links=None, patience=HASTY, **changes):
    links = links or Links(allow_private=True, connect=1.0, read=0.3)
    reported = []
    one = Download(
        delivery(server, **changes),
        part,
        links,
        patience,
        progress=lambda *each: reported.append(each),
        pause=lambda _: None,
    )
    one.run()
    return reported


def test_a_file_is_downloaded_with_its_progress(server, part):
    reported = download(server, part)
    assert part.read_bytes() == CONTENT
    assert reported[-1] == (len(CONTENT), len(CONTENT))
    assert server.asked[0]["accept-encoding"] == "identity"
    assert "authorization" not in server.asked[0]


def test_a_connection_that_is_cut_is_resumed_where_it_was(server, part):
    server.cut_after = 100_000
    download(server, part)
    assert part.read_bytes() == CONTENT
    assert [one.get("range") for one in server.asked[:3]] == [None, "bytes=100000-", "bytes=200000-"]
    assert {one.get("if-range") for one in server.asked[1:]} == {'"one"'}


def test_an_earlier_download_that_was_stopped_goes_on(server, part):
    part.write_bytes(CONTENT[:70_000])
    download(server, part)
    assert part.read_bytes() == CONTENT
    assert [one["range"] for one in server.asked] == ["bytes=70000-"]


@pytest.mark.parametrize("begun", [b"another beginning" * 9_000, b"x" * len(CONTENT), b"x" * (len(CONTENT) + 1)])
def test_what_was_begun_of_another_file_is_thrown_away(server, part, begun):
    part.write_bytes(begun)
    download(server, part)
    assert part.read_bytes() == CONTENT


def test_a_file_that_changes_meanwhile_is_read_from_its_beginning(server, part):
    server.cut_after, kept = 100_000, server.content

    def change(_seconds):
        server.etag, server.content, server.cut_after = '"two"', kept, None

    server.content = b"y" * len(CONTENT)
    told = delivery(server, sha256=server.descriptor()["sha256"])
    server.content = kept
    told = delivery(server)
    server.content = b"y" * len(CONTENT)
    Download(told, part, Links(allow_private=True), HASTY, pause=change).run()
    assert part.read_bytes() == CONTENT
    assert server.asked[1]["if-range"] == '"one"'


def test_without_ranges_a_file_is_read_anew(server, part):
    server.ranges, server.status = False, [503]
    part.write_bytes(CONTENT[:50])
    download(server, part)
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_is_asked_again(server, part, status):
    server.status = [status, status]
    download(server, part)
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_link_that_has_ended_is_given_up_at_once(server, part, status):
    server.status = [status] * 5
    with pytest.raises(DownloadError, match=f"answers {status}; if it has ended, ask its provider for another"):
        download(server, part)
    assert len(server.asked) == 1


def test_a_server_that_hangs_is_given_up_after_some_attempts(server, part):
    server.hang_after = 10
    with pytest.raises(DownloadError, match=r"does not answer in time \(30 of 512000 bytes"):
        download(server, part, Links(allow_private=True, connect=1.0, read=0.05))
    assert len(server.asked) == 3
    assert part.stat().st_size == 30


def test_a_server_that_drips_is_given_up(server, part):
    patience = Patience(attempts=2, pause=0.0, window=60.0, least=10**9)
    one = Download(delivery(server), part, Links(allow_private=True), patience, pause=lambda _: None)
    moments = count(step=100)
    one.clock = lambda: float(next(moments))  # a minute and more passes with each part that comes
    with pytest.raises(DownloadError, match="bytes came in"):
        one.run()


def test_a_file_of_another_size_is_refused_before_it_is_read(server, part):
    with pytest.raises(DownloadError, match="gives 512000 bytes, but 511999 were delivered"):
        download(server, part, size=len(CONTENT) - 1)
    assert not part.exists()


def test_a_server_that_lies_about_the_size_gives_no_byte_more(server, part):
    server.told_length = None  # the body ends when the connection does
    server.content = CONTENT + b"!"
    with pytest.raises(DownloadError, match="gives more than the 512000 bytes"):
        download(server, part, **{name: delivery_of(CONTENT)[name] for name in ("size", "sha256")})
    assert not part.exists()


def delivery_of(content):
    with serving(content) as files:
        return files.descriptor()


def test_a_body_that_is_shorter_than_told_is_given_up(server, part):
    server.content, server.told_length = CONTENT[:500], None
    told = delivery_of(CONTENT)
    server.ranges = False
    with pytest.raises(DownloadError, match="the response ended after 500 bytes"):
        download(server, part, size=told["size"], sha256=told["sha256"])


def test_another_file_of_the_same_size_is_told_by_its_digest(server, part):
    told = delivery_of(CONTENT)
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(OtherFileError) as refused:
        download(server, part, sha256=told["sha256"])
    assert refused.value.sha256 == server.descriptor()["sha256"]
    assert len(server.asked) == 2
    assert part.read_bytes() == server.content


def test_a_link_that_gives_another_file_each_time_is_no_evidence(server, part):
    one = Download(delivery(server, sha256="0" * 64), part, Links(allow_private=True), HASTY)
    one.progress = lambda *_: setattr(server, "content", server.content[1:] + b"?")
    with pytest.raises(DownloadError, match="a different file each time"):
        one.run()


@pytest.mark.parametrize("coding", ["gzip", "br", "GZIP, br", "\x1b[2J"])
def test_a_file_that_comes_compressed_is_refused_at_once(server, part, coding):
    server.headers = {"Content-Encoding": coding}
    with pytest.raises(DownloadError, match=r"^the link gives the file compressed \('[ -~]+'\)"):
        download(server, part)
    assert (len(server.asked), part.exists()) == (1, False)
    server.headers = {"Content-Encoding": "identity"}
    download(server, part)
    assert part.read_bytes() == CONTENT


def test_what_is_written_is_not_read_again(server, part, monkeypatch):
    read = []
    hash_of = _downloads.hash_of
    monkeypatch.setattr(_downloads, "hash_of", lambda file, size: read.append(size) or hash_of(file, size))
    server.cut_after = 100_000
    download(server, part)
    assert (part.read_bytes(), read) == (CONTENT, [])
    part.write_bytes(CONTENT[:70_000])
    download(server, part)  # the part of an earlier run is read once
    assert (part.read_bytes(), read) == (CONTENT, [70_000])


def test_a_link_in_the_place_of_the_part_is_not_followed(server, part, tmp_path):
    (tmp_path / "mine").write_bytes(b"kept")
    part.symlink_to("mine")
    with pytest.raises(DownloadError, match="is a symbolic link"):
        download(server, part)
    assert ((tmp_path / "mine").read_bytes(), server.asked) == (b"kept", [])


def test_two_processes_do_not_write_to_one_part(server, part):
    one = Download(delivery(server), part, Links(allow_private=True), HASTY)
    other = Download(delivery(server), part, Links(allow_private=True), HASTY)

    def meanwhile(*_):
        with pytest.raises(DownloadError, match="another process"):
            other.run()

    one.progress = meanwhile
    one.run()
    assert part.read_bytes() == CONTENT


BAD_HOSTS = ["xn--a.example", "a" * 64 + ".example", "a..example", ".example", "a." * 127 + "example", "a%20b.example"]
PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::8.8.8.8"]


class TestAddresses:
    def test_nothing_is_read_from_a_private_network(self, server, part):
        for host in ("127.0.0.1", "localhost", "0x7f.1", "[::1]"):
            url = f"https://{host}:{server.port}/"
            with pytest.raises(DownloadError, match=r"not on the public internet.*AEGIS_LINKS_ALLOW_PRIVATE"):
                download(server, part, Links(allow_private=False), url=url)
        assert server.asked == []

    def test_a_name_with_one_private_address_is_refused(self, server, part):
        links = Links(allow_private=False, resolve=lambda *_: ["93.184.216.34", "10.0.0.7"])
        with pytest.raises(DownloadError, match=r"files\.example is not on the public internet"):
            download(server, part, links, url="https://files.example/")

    def test_the_address_that_was_checked_is_the_one_that_is_connected_to(self, part, tmp_path, monkeypatch):
        tls, trusting = certificate_for("files.example", tmp_path)
        answers = iter([["127.0.0.1"], ["127.0.0.2"]])
        monkeypatch.setattr("aegis_sdk._links.is_public", lambda address: address == "127.0.0.1")
        links = Links(allow_private=False, resolve=lambda *_: next(answers), tls=trusting)
        with serving(CONTENT, tls) as server:
            download(server, part, links, url=f"https://files.example:{server.port}/")
        assert part.read_bytes() == CONTENT
        assert server.asked[0]["host"] == f"files.example:{server.port}"

    @pytest.mark.parametrize(
        "where", ["https://inner.example:{port}/", "http://files.example:{port}/", "file:///etc/passwd"]
    )
    def test_a_redirect_leads_to_public_addresses_only(self, part, tmp_path, monkeypatch, where):
        tls, trusting = certificate_for("files.example", tmp_path)
        monkeypatch.setattr("aegis_sdk._links.is_public", lambda address: address == "127.0.0.1")
        links = Links(
            allow_private=False, resolve=lambda host, _: ["127.0.0.2" if "inner" in host else "127.0.0.1"], tls=trusting
        )
        with serving(CONTENT, tls) as server:
            server.location = where.format(port=server.port)
            with pytest.raises(DownloadError, match=r"not on the public internet|must begin with https"):
                download(server, part, links, url=f"https://files.example:{server.port}/")
            assert len(server.asked) == 1

    def test_redirects_end(self, server, part):
        server.location = "/elsewhere"
        with pytest.raises(DownloadError, match="too many redirects"):
            download(server, part)
        assert len(server.asked) == 6

    def test_a_redirect_to_a_checked_address_is_followed(self, server, part):
        with serving(CONTENT) as other:
            other.location = server.url
            download(other, part)
        assert part.read_bytes() == CONTENT

    def test_a_name_that_is_not_resolved_in_time_is_given_up(self):
        links = Links(allow_private=True, connect=0.01, resolve=lambda *_: server_of_names.wait(5))
        with pytest.raises(httpcore.ConnectTimeout), links.read("https://files.example/", {}):
            pass
        server_of_names.set()

    @for_each("url", ["ftp://files.example/", "https://me@files.example/", "https:///t.csv", "nothing", "https://[::1"])
    def test_other_links_are_refused(self, url):
        with pytest.raises(LinkError), Links(allow_private=True).read(url, {}):
            pass

    def test_a_host_that_is_no_name_is_refused_in_one_line(self, server, part):
        for host in BAD_HOSTS:
            for url in (f"https://{host}/x", f"https://{host}:444/x"):
                told = r"^the (link is not a URL|host of the link is not a valid name)[^\n]*$"
                with case(url), pytest.raises(DownloadError, match=told):
                    download(server, part, url=url)
            server.location = f"https://{host}/x"
            with case(host), pytest.raises(DownloadError, match=r"^the (link|host of the link) [^\n]*$"):
                download(server, part)
        assert len(server.asked) == len(BAD_HOSTS)

    def test_a_name_that_the_resolver_refuses_ends_as_if_there_were_none(self, server, part):
        def refuse(*_):
            raise UnicodeError("label empty or too long")

        with pytest.raises(DownloadError, match="does not give the file: label empty or too long"):
            download(server, part, Links(allow_private=True, resolve=refuse), url="https://files.example/")

    def test_only_addresses_of_the_public_internet_are_public(self):
        judged = {address: _links.is_public(address) for address in [*PRIVATE, *PUBLIC]}
        assert judged == dict.fromkeys(PRIVATE, False) | dict.fromkeys(PUBLIC, True)
