"""Where the table of a database is, as `URL#table` says it, and what of that may be shown."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

from aegis_provider.errors import TableError

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SECRET_OPTION = re.compile(r"pass|pwd|token|secret|key|cred", re.IGNORECASE)
_FILES = frozenset({"duckdb", "sqlite"})

# As it is in an account: what is encoded already, and what a URL allows there.
_ACCOUNT = "%:!$&'()*+,;=~"
_MOST_PARTS = 3


def is_url(text: str) -> bool:
    """Whether the text names a database rather than a file."""
    return _URL.match(text) is not None


def without_secrets(url: str) -> str:
    """A URL without what may be secret in it: password and options."""
    return _Parts.of(url).shown


@dataclass(frozen=True)
class _Parts:
    """`scheme://account@place?options#table`, split so that no part of a password is taken for anything else.

    Up to the last `@` all is account, with whatever marks the password holds; a file has no account.
    """

    scheme: str
    account: str
    place: str
    options: str
    table: str

    @classmethod
    def of(cls, text: str) -> "_Parts":
        scheme, _, rest = text.partition("://")
        scheme = scheme.lower()
        account, _, rest = ("", "", rest) if scheme in _FILES else rest.rpartition("@")
        rest, _, table = rest.rpartition("#") if "#" in rest else (rest, "", "")
        place, _, options = rest.partition("?")
        return cls(scheme, account, place, options, table)

    @property
    def url(self) -> str:
        """All but the table, with the marks of the account encoded."""
        account = f"{quote(self.account, safe=_ACCOUNT)}@" if self.account else ""
        options = f"?{self.options}" if self.options else ""
        return f"{self.scheme}://{account}{self.place}{options}"

    @property
    def shown(self) -> str:
        if "?" in self.account:  # the "@" may be one of an option
            return f"{self.scheme}://***"
        user = self.account.partition(":")[0]
        account = f"{user}@" if user.isprintable() and user and not set(user) & set("/#@") else ""
        table = f"#{self.table}" if self.table else ""
        return f"{self.scheme}://{account}{self.place}{table}"

    @property
    def secrets(self) -> set[str]:
        """What no message may hold."""
        password = self.account.partition(":")[2]
        options = parse_qsl(self.options) if _SECRET_OPTION.search(self.options) else []
        values = {value for name, value in options if _SECRET_OPTION.search(name)}
        spelt = {self.account, password, quote(password), quote(password, safe=_ACCOUNT)} if password else set()
        return {*spelt, unquote(password), unquote_plus(password), *values} - {""}


@dataclass(frozen=True)
class Address:
    """Where a table is: the database, and the name of the table with the schemas that hold it."""

    parts: _Parts
    parents: tuple[str, ...]
    table: str

    @classmethod
    def of(cls, text: str) -> "Address":
        """Of `postgresql://user@host:5432/db#schema.table`.

        Raises:
            TableError: The text is not a URL of a database with the name of a table.
        """
        parts = _Parts.of(text)
        _refuse_unsound(parts)
        *parents, table = unquote(parts.table).split(".")
        if not table or not all(parents) or len(parents) >= _MOST_PARTS:
            url = replace(parts, table="").shown
            raise TableError(f"{parts.shown}: name the table after the URL: {url}#table, or #schema.table")
        return cls(parts, tuple(parents), table)

    @property
    def url(self) -> str:
        """The URL of the database."""
        return self.parts.url

    @property
    def kind(self) -> str:
        """What Ibis calls the engine."""
        return self.parts.scheme.replace("postgresql", "postgres")

    @property
    def file(self) -> Path | None:
        """The file that the URL names, if it is of an engine whose databases are files."""
        return Path(unquote(self.parts.place)) if self.kind in _FILES else None

    @property
    def name(self) -> str:
        """The URL and the table, without secrets."""
        return replace(self.parts, table=".".join([*self.parents, self.table])).shown

    @property
    def database(self) -> str | tuple[str, ...] | None:
        """The schema as Ibis wants it."""
        return self.parents if len(self.parents) > 1 else next(iter(self.parents), None)

    def without_secrets(self, text: str) -> str:
        """The text, `***` for every password of the URL that it holds."""
        for secret in sorted(self.parts.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def _refuse_unsound(parts: _Parts) -> None:
    if "?" in parts.account:
        raise TableError(f"{parts.shown}: write a '?' in a password as %3F, and a '@' in an option as %40")
    try:
        _ = urlsplit(parts.url).port
    except ValueError as error:  # its text has the password
        form = "engine://user:password@host:port/database#table"
        raise TableError(f"{parts.shown}: not a valid URL; write {form}") from error
