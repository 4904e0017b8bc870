"""Descriptions in Markdown: what becomes of markup, addresses and images of a provider."""

from app.pages.markdown import html_of
from tests.app.console.html import Html


def test_what_people_write_is_shown():
    html = html_of("# Title\n\nSome *text*\n\n* one\n* two\n\n|a|b|\n|-|-|\n|1|2|\n")
    page = Html(html)
    assert page.text == "Title Some text one two a b 1 2"
    assert {tag for tag, _ in page.tags} == {
        "p",
        "strong",
        "em",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }


def test_links_lead_to_web_pages_which_learn_nothing():
    (link,) = Html(html_of("[here](https://a.example/?a=1&b=2)")).all("a")
    assert link == {"href": "https://a.example/?a=1&b=2", "rel": "nofollow noopener noreferrer"}


NO_LINKS = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](/entries/1/delete)",
    "[x](//evil.example)",
    "[x](mailto:a@b.example)",
    "<javascript:alert(1)>",
    "[x][1]\n\n[1]: vbscript:x",
]


def test_other_addresses_are_no_links():
    assert [text for text in NO_LINKS if Html(html_of(text)).all("a") != []] == []


MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![alt](https://a.example/pixel.png)",
    "<a href='https://a.example' onclick='x'>x</a>",
    "<style>*{display:none}</style>",
    "<svg/onload=alert(1)>",
    "`<script>`",
    '[x](https://a.example "<script>")',
    '[x](https://a.example/"onmouseover=alert(1))',
    "<form action='/sign-out' method=post><button>x",
    "</div></main><h1>x</h1>",
]


def test_markup_is_text():
    for text in MARKUP:
        page = Html(html_of(text))
        assert {tag for tag, _ in page.tags} <= {"p", "a", "code"}, text
        assert {name for _, named in page.tags for name in named} <= {"href", "rel"}, text
