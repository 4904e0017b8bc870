"""Descriptions in Markdown as HTML. Providers write them, so neither markup nor addresses are trusted."""

from typing import Final

import nh3
from markdown_it import MarkdownIt
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
        attribute_filter=lambda _, name, value: (
            value if name == "rel" or (name == "href" and _is_web_address(value)) else None
        ),
        url_schemes={"http", "https"},
        link_rel=_LINK_REL,
    )
    return Markup(html)  # noqa: S704 -- just sanitised


def _is_web_address(address: str) -> bool:
    return address.lower().startswith(_SCHEMES)


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
    parser.add_render_rule(
        "image", lambda _, tokens, place, *__: str(escape(tokens[place].content))
    )  # the text instead
    return parser


_PARSER: Final = _parser()
