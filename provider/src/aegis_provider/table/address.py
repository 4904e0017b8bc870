"""Addresses of database tables, `URL#table`, and the parts of them that may be shown."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

from aegis_provider.errors import TableError

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SECRET_OPTION = re.compile(r"pass|pwd|token|secret|key|cred", re.IGNORECASE)
_FILES = frozenset({"duckdb", "sqlite"})

# The characters of an account that are not encoded: existing encodings, and those that a URL allows there.
_ACCOUNT = "%:!$&'()*+,;=~"
_MOST_PARTS = 3


def is_url(text: str) -> bool:
    """Return whether the text names a database rather than a file."""
    return _URL.match(text) is not None


def without_secrets(url: str) -> str:
    """Return the URL without the parts that may be secret: password and options."""
    return _Parts.of(url).shown


@dataclass(frozen=True)
class _Parts:
    """The parts of `scheme://account@place?options#table`, split so that a password cannot end up in another part.

    Everything up to the last `@` is the account, since the password may contain any characters. A file has no account.
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
        """Everything but the table, with the special characters of the account encoded."""
        account = f"{quote(self.account, safe=_ACCOUNT)}@" if self.account else ""
        options = f"?{self.options}" if self.options else ""
        return f"{self.scheme}://{account}{self.place}{options}"

    @property
    def shown(self) -> str:
        if "?" in self.account:  # the "@" may belong to an option
            return f"{self.scheme}://***"
        user = self.account.partition(":")[0]
        account = f"{user}@" if user.isprintable() and user and not set(user) & set("/#@") else ""
        table = f"#{self.table}" if self.table else ""
        return f"{self.scheme}://{account}{self.place}{table}"

    @property
    def secrets(self) -> set[str]:
        """The texts that no message may contain."""
        password = self.account.partition(":")[2]
        options = parse_qsl(self.options) if _SECRET_OPTION.search(self.options) else []
        values = {value for name, value in options if _SECRET_OPTION.search(name)}
        spelt = {self.account, password, quote(password), quote(password, safe=_ACCOUNT)} if password else set()
        return {*spelt, unquote(password), unquote_plus(password), *values} - {""}


@dataclass(frozen=True)
class Address:
    """The address of a table: its database, the schemas that contain it, and its name."""

    parts: _Parts
    parents: tuple[str, ...]
    table: str

    @classmethod
    def of(cls, text: str) -> "Address":
        """Parse an address such as `postgresql://user@host:5432/db#schema.table`.

        Raises:
            TableError: The text is not a database URL with the name of a table.
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
        """The name of the engine in Ibis."""
        return self.parts.scheme.replace("postgresql", "postgres")

    @property
    def file(self) -> Path | None:
        """The file that the URL names, if the databases of its engine are files."""
        return Path(unquote(self.parts.place)) if self.kind in _FILES else None

    @property
    def name(self) -> str:
        """The URL with the table, without secrets."""
        return replace(self.parts, table=".".join([*self.parents, self.table])).shown

    @property
    def database(self) -> str | tuple[str, ...] | None:
        """The schema as Ibis expects it."""
        return self.parents if len(self.parents) > 1 else next(iter(self.parents), None)

    def without_secrets(self, text: str) -> str:
        """Return the text with `***` in place of every secret of the URL."""
        for secret in sorted(self.parts.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def _refuse_unsound(parts: _Parts) -> None:
    if "?" in parts.account:
        raise TableError(f"{parts.shown}: write a '?' in a password as %3F, and a '@' in an option as %40")
    try:
        _ = urlsplit(parts.url).port
    except ValueError as error:  # its message contains the password
        form = "engine://user:password@host:port/database#table"
        raise TableError(f"{parts.shown}: not a valid URL; write {form}") from error
