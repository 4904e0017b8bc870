"""Descriptions in Markdown as HTML. Providers write them, so neither markup nor addresses are trusted."""

from collections.abc import Sequence
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_SCHEMES: Final = ("http://", "https://")

#: The tags that the parser writes. The sanitizer, a second line of defence, passes no others.
_TAGS: Final = {
    *("a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("table", "tbody", "td", "th", "thead", "tr"),
}
_LINK_REL: Final = "nofollow noopener noreferrer"


def html_of(text: str) -> Markup:
    """A text in CommonMark with tables, but without HTML or images; links lead to web pages only.

    Headings become bold lines, since the page has its own headings.
    """
    html = nh3.clean(
        _PARSER.render(text),
        tags=_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=_filtered,
        url_schemes={"http", "https"},
        link_rel=_LINK_REL,
    )
    return Markup(html)  # noqa: S704 -- just sanitised


def _is_web_address(address: str) -> bool:
    return address.lower().startswith(_SCHEMES)


def _filtered(_tag: str, name: str, value: str) -> str | None:
    return value if name == "rel" or (name == "href" and _is_web_address(value)) else None


class _Parser(MarkdownIt):
    """A parser that accepts only web addresses as links."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 -- the parser's name
        """Whether an address is accepted."""
        return _is_web_address(url)


def _parser() -> _Parser:
    parser = _Parser("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    for name, html in {"heading_open": "<p><strong>", "heading_close": "</strong></p>\n"}.items():
        parser.add_render_rule(name, lambda *_, html=html: html)
    parser.add_render_rule("image", _alternative)
    return parser


def _alternative(_renderer: object, tokens: Sequence[Token], place: int, *_: Any) -> str:  # noqa: ANN401 -- unused
    """The alternative text of an image."""
    return str(escape(tokens[place].content))


_PARSER: Final = _parser()
