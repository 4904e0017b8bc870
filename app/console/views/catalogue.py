"""What the page of the catalogue shows."""

from urllib.parse import urlencode

from pydantic import BaseModel, Field

from app.catalog.stores.entries import Search
from app.console.commands import Commands, aegis, curl
from app.console.viewers import Viewer


class SearchForm(BaseModel):
    """The fields of the search; empty ones ask for nothing."""

    query: str = Field(default="", max_length=255)
    label: str = Field(default="", max_length=255)
    keyword: str = Field(default="", max_length=255)
    page_token: str = Field(default="", max_length=255)

    @property
    def asked(self) -> dict[str, str]:
        """The fields that ask for something, as parameters of the API."""
        return {name: text for name, text in self.model_dump(exclude={"page_token"}).items() if text}

    def search(self) -> Search:
        """The same for the catalogue."""
        return Search(self.query or None, self.keyword or None, self.label or None)

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this search; of the first one without a token."""
        asked = self.asked | ({} if page_token is None else {"page_token": page_token})
        return f"/?{urlencode(asked)}" if asked else "/"


def catalogue_commands(viewer: Viewer, form: SearchForm) -> Commands:
    """The lines that search the same."""
    options = [word for name, text in form.asked.items() if name != "query" for word in (f"--{name}", text)]
    return Commands((aegis("search", *form.query.split(), *options),), (curl(viewer, "/v1/entries", form.asked),))
