"""Whether a service lets everybody in, which it must not where others can reach it."""

from app.callers.service.keyring import Keyring
from app.platform.errors import OperatorError
from app.settings import LOOPBACK, Settings


class OpenDoorError(OperatorError):
    """No key exists yet, and the service was told to listen where others can reach it."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"no API key was ever created, so everybody would be let in: listen on 127.0.0.1 instead of {host}, "
            "or create a key first, on the same database: aegis-server keys create --tenant NAME --role operator "
            "(with the same --data-dir as this service, if it has one)"
        )


async def refuse_open_door(keyring: Keyring, settings: Settings) -> bool:
    """Whether the service is in development mode: no key was ever created, and no issuer of tokens is trusted.

    Raises:
        OpenDoorError: it is in development mode, and others can reach its host.
    """
    development_mode = settings.oidc_issuer is None and not await keyring.any_created()
    if development_mode and settings.host not in LOOPBACK:
        raise OpenDoorError(settings.host)
    return development_mode
