"""Signing in to the console, and out again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.audit.model import AuditAction, AuditRecord, moment
from app.audit.store import AuditStore
from app.callers.model.sessions import Session, draw_session_token, hash_session_token, is_session_token
from app.callers.service.keyring import Keyring
from app.callers.store.sessions import SessionStore
from app.platform.callers import Caller
from app.platform.errors import UnknownKeyError


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How long sessions last, and whose tokens may begin them.

    Attributes:
        lifetime: how long a session lasts at most; using it does not extend it.
        issuer: the trusted issuer of tokens; None if there is none.
    """

    lifetime: timedelta
    issuer: str | None = None


class SessionService:
    """Sessions of the console. Each has a token, which is returned once and kept by the browser alone."""

    def __init__(self, sessions: SessionStore, keyring: Keyring, audit: AuditStore, rules: SessionRules) -> None:
        self._sessions = sessions
        self._keyring = keyring
        self._audit = audit
        self._rules = rules

    async def begin_by_key(self, text: str) -> tuple[str, Session]:
        """Begin a session of the holder of a key, and return its token with what is stored of it.

        Raises:
            UnknownKeyError: the key is unknown, expired or revoked.
        """
        key = await self._keyring.recognise(text)
        end = datetime.now(UTC) + self._rules.lifetime
        expires_at = end if key.expires_at is None else min(end, key.expires_at)
        return await self._begin(Session(key.caller, expires_at, key=key))

    async def begin_by_token(self, caller: Caller, expires_at: datetime) -> tuple[str, Session]:
        """Begin a session of the holder of a token of the trusted issuer, which has been verified.

        Args:
            caller: who holds the token.
            expires_at: when the token expires.

        Raises:
            UnknownKeyError: it has expired; the reader of tokens may grant some seconds more.
        """
        now = datetime.now(UTC)
        if expires_at <= now:
            raise UnknownKeyError("This token has expired. Sign in again.")
        end = min(now + self._rules.lifetime, expires_at)
        return await self._begin(Session(caller, end, issuer=self._rules.issuer))

    async def _begin(self, session: Session) -> tuple[str, Session]:
        token = draw_session_token()
        await self._sessions.add(hash_session_token(token), session)
        means = "token" if session.key is None else "key"
        value = f"by {means}, ends {moment(session.expires_at)}"
        await self._audit.add(AuditRecord(AuditAction.BEGIN_SESSION, value=value), session.caller)
        return token, session

    async def find(self, token: str) -> Session | None:
        """The session that has this token, if it has not ended; the use of its key is noted."""
        session = await self._sessions.find(hash_session_token(token)) if is_session_token(token) else None
        now = datetime.now(UTC)
        if session is None or not session.is_valid(now, self._rules.issuer):
            return None
        if session.key is not None:
            await self._keyring.note_use(session.key, now)
        return session

    async def end(self, token: str) -> None:
        """End the session that has this token; does nothing if it has ended."""
        session = await self.find(token)
        if session is not None and await self._sessions.delete(hash_session_token(token)):
            await self._audit.add(AuditRecord(AuditAction.END_SESSION), session.caller)

    async def end_all(self, token: str) -> None:
        """End all sessions of the holder of the one that has this token: in all browsers, with the same key."""
        session = await self.find(token)
        if session is not None and await self._sessions.delete_all(session):
            await self._audit.add(AuditRecord(AuditAction.END_SESSION, value="all"), session.caller)
