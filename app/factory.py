"""Wires services to the stores of one session."""

from procrastinate import App
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.queue import JobQueue
from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.entries import EntryStore
from app.catalog.stores.keys import KeyStore
from app.catalog.stores.references import ReferenceStore
from app.services.advising import Advising
from app.services.answering import Answering
from app.services.cataloguing import Cataloguing
from app.services.keyring import Keyring
from app.services.reconstructing import Reconstructing


class Factory:
    """The services of one transaction."""

    def __init__(self, session: AsyncSession, queue: App) -> None:
        self._session = session
        self._queue = queue

    def keyring(self) -> Keyring:
        """API keys."""
        return Keyring(KeyStore(self._session))

    def cataloguing(self) -> Cataloguing:
        """Entries."""
        return Cataloguing(EntryStore(self._session), ContentStore(self._session), JobQueue(self._queue, self._session))

    def advising(self) -> Advising:
        """Questions and answers."""
        return Advising(
            EntryStore(self._session),
            ContentStore(self._session),
            AdviceStore(self._session),
            self.reconstructing(),
            JobQueue(self._queue, self._session),
        )

    def answering(self) -> Answering:
        """The worker's side of advice."""
        return Answering(
            ContentStore(self._session),
            ReferenceStore(self._session),
            AdviceStore(self._session),
            self.reconstructing(),
        )

    def reconstructing(self) -> Reconstructing:
        """References."""
        return Reconstructing(
            ContentStore(self._session),
            ReferenceStore(self._session),
            AdviceStore(self._session),
            JobQueue(self._queue, self._session),
        )
