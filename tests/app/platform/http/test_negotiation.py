from hypothesis import given
from hypothesis import strategies as st

from app.platform.http.negotiation import preferred, qualities

CODINGS = ("zstd", "gzip", "identity")
TYPES = ("text/html", "application/json")


BEST_CODINGS = [
    (None, None),
    ("", None),
    ("gzip", "gzip"),
    ("gzip, zstd", "zstd"),
    ("gzip;q=1.0, zstd;q=0.9", "gzip"),
    ("deflate, gzip, br, zstd", "zstd"),
    ("GZip ; Q=0.5", "gzip"),
    ("gzip;q=0", None),
    ("gzip;q=0.000, zstd;q=0.001", "zstd"),
    ("*", "zstd"),
    ("*;q=0.1, zstd;q=0", "gzip"),
    ("identity", "identity"),
    ("identity;q=1, gzip;q=0.5", "identity"),
    ("gzip;q=2", None),
    ("gzip;q=1.5", None),
    ("gzip;q=-1", None),
    ("gzip;q=", None),
    ("gzip;q=0.1234", None),
    ("gzip;q=x, zstd", "zstd"),
    ("gzipped, xgzip", None),
    (",;,;q=1,=", None),
    ("gzip," * 12_000, None),
]


def test_codings():
    assert [(header, preferred(header, CODINGS)) for header, _ in BEST_CODINGS] == BEST_CODINGS


BEST_TYPES = [
    (None, None),
    ("*/*", "text/html"),
    ("application/json", "application/json"),
    ("application/*", "application/json"),
    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
    ("application/json, text/html;q=0.9", "application/json"),
    ("application/json;q=0.5, */*;q=0.1", "application/json"),
    ("text/*;q=0.3, text/html;q=0, */*;q=0.2", "application/json"),
    ("image/png", None),
]


def test_media_types():
    assert [(header, preferred(header, TYPES)) for header, _ in BEST_TYPES] == BEST_TYPES


@given(st.text(alphabet=st.sampled_from("gzip*/;,q=01. \tàQ"), max_size=200))
def test_whatever_a_client_accepts_it_has_a_meaning(header):
    assert all(0 <= weight <= 1 for weight in qualities(header).values())
    assert preferred(header, CODINGS) in {*CODINGS, None}
