"""The page of the glossary, which is read from the documents."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from markupsafe import Markup, escape

from app.pages.commands import Commands, aegis, curl
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import ViewerDependency
from app.pages.words import anchor

_HERE = Path(__file__).resolve()
#: In a wheel, the file is beside this one; in a checkout, in `docs`.
_PLACES: Final = (_HERE.parent / "glossary.md", _HERE.parents[2] / "docs" / "glossary.md")

_LINK = re.compile(r"\[([^]]*)]\([^)]*\)")
_CITATION = re.compile(r" \[@[^]]*]")

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the glossary; `api`: its name in the API."""

    name: str
    anchor: str
    meaning: Markup
    api: Markup


@cache
def glossary() -> tuple[Word, ...]:
    """All words: the terms in alphabetical order, then the privacy criteria."""
    text = next(place for place in _PLACES if place.is_file()).read_text(encoding="utf-8")
    words, _, criteria = text.partition("\n## Privacy")
    terms = [(name, meaning, api[0] if api else "") for name, meaning, *api in _rows(words)]
    terms += [(name.strip("`"), meaning, name) for name, meaning, *_ in _rows(criteria)]
    return tuple(Word(name, anchor(name), _prose(meaning), _prose(api)) for name, meaning, api in terms)


def _rows(text: str) -> list[list[str]]:
    """The cells of a table by row, without the header."""
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]


def _prose(text: str) -> Markup:
    """Text with code between backticks; links are reduced to their words, citations removed."""
    parts = _CITATION.sub("", _LINK.sub(r"\1", text)).strip("| ").split("`")
    marked = (Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts))
    return Markup("").join(marked)


@router.get("/glossary")
async def show_glossary(request: Request, viewer: ViewerDependency) -> Response:
    """Every term of the pages, with its meaning."""
    commands = Commands((aegis("--help"),), (curl(viewer, "/openapi.json"),))
    return page(request, "glossary.html", words=glossary(), commands=commands)
