"""Secrets in files that settings name."""

from pathlib import Path
from urllib.parse import quote, urlsplit


def text_in(file: Path, what: str) -> str:
    """The secret in a file, without its line end.

    Raises:
        ValueError: the file cannot be read, or is empty.
    """
    try:
        secret = file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{what} cannot be read from {file}: {getattr(error, 'strerror', None) or 'not UTF-8'}"
        raise ValueError(message) from None
    if not secret:
        message = f"the file of {what}, {file}, is empty"
        raise ValueError(message)
    return secret


def with_password(url: str, file: Path) -> str:
    """The database URL with the password in a file, escaped.

    Raises:
        ValueError: the file cannot be read, or is empty.
    """
    password = text_in(file, "the password")
    parts = urlsplit(url)
    user, _, hosts = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user.partition(':')[0]}:{quote(password, safe='')}@{hosts}").geturl()
