"""Pages that show what strangers have written: nothing of it may run, or lead anywhere but to the web."""

from urllib.parse import urlsplit

from tests.app.console.html import Html

#: Elements that could run or load something, or that change what the others mean; no page has any.
BARRED = frozenset({"iframe", "object", "embed", "applet", "base", "style", "frame", "video", "audio", "foreignobject"})

#: Attributes by which a browser goes or sends somewhere.
LINKS = frozenset({"href", "src", "action", "formaction", "cite", "poster", "background", "data", "xlink:href", "ping"})
POLLS = frozenset({"hx-get", "hx-trigger", "hx-swap", "hx-status:4xx", "hx-status:5xx"})


def harmless(text: str) -> Html:
    """A page, read strictly.

    Raises:
        AssertionError: something in it may run, or lead where the service does not.
    """
    page = Html(text)
    for tag, named in page.tags:
        assert tag not in BARRED, tag
        for name, value in named.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"style", "srcdoc", "srcset", "http-equiv"}, (tag, name)
            if name.startswith("hx-"):
                assert name in POLLS, (tag, name)
            if name in LINKS or name == "hx-get":
                _hold_address(tag, named, value or "")
        if tag == "script":
            assert (named.get("src") or "").startswith("/static/"), named
    assert text.lower().count("<script") == sum(tag == "script" for tag, _ in page.tags)
    return page


def _hold_address(tag: str, named: dict[str, str | None], value: str) -> None:
    if tag == "a" and urlsplit(value).scheme in {"http", "https"}:
        assert {"noopener", "noreferrer"} <= set((named.get("rel") or "").split()), named
        return
    assert value.startswith(("/", "#", "?")), (tag, value)
    assert not value.startswith(("//", "/\\")), (tag, value)
