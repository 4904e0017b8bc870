"""Under which names a service without keys answers."""

from app.platform.errors import RoleNotAllowedError
from app.settings import LOOPBACK


def refuse_other_name(host: str) -> None:
    """Refuse a request without a key under a name that others own: a web page may have made it lead here."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in LOOPBACK:
        raise RoleNotAllowedError(
            "This service has no keys and answers this machine only: call it http://127.0.0.1 or http://localhost."
        )
