"""Checks of the address and the key before use."""

import re

import httpx

from aegis_sdk._errors import SettingsError

DEFAULT_URL = "http://127.0.0.1:8000"


def checked_url(url: str) -> str:
    """The validated address, without a trailing slash."""
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        raise SettingsError(f"The address of the service (AEGIS_URL) is invalid: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo:
        raise SettingsError(f"The address of the service (AEGIS_URL) must look like {DEFAULT_URL}, without a user")
    return str(parsed).rstrip("/")


def checked_key(key: str) -> str:
    """The key, if it is a valid header value: errors of lower layers would show an invalid one."""
    key = key.strip()
    if key and not re.fullmatch(r"[!-~]+", key):
        raise SettingsError("The API key (AEGIS_API_KEY) contains invalid characters")
    return key
