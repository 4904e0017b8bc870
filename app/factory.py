"""Connects services to the stores of one session."""

from procrastinate import App
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.queue import CEILING, JobQueue
from app.catalog.stores.advice import AdviceStore
from app.catalog.stores.contents import ContentStore
from app.catalog.stores.entries import EntryStore
from app.catalog.stores.keys import KeyStore
from app.catalog.stores.questions import QuestionStore
from app.catalog.stores.references import ReferenceStore
from app.catalog.stores.server_key import ServerKeyStore
from app.catalog.stores.tenants import TenantStore
from app.catalog.stores.verdicts import VerdictStore
from app.services.administration import Administration
from app.services.advice import AdviceService, AdviceWork
from app.services.advice_input import RecentInputs
from app.services.catalogue import CatalogueService
from app.services.keyring import Keyring
from app.services.recent_versions import RecentVersions
from app.services.references import ReferenceService
from app.services.verdicts import VerdictService


class Factory:
    """The services of one transaction. `ceiling` is the most jobs of a tenant that run at the same time in a lane."""

    def __init__(self, session: AsyncSession, queue: App, ceiling: int = CEILING) -> None:
        self._session = session
        self._queue = queue
        self._ceiling = ceiling

    def jobs(self) -> JobQueue:
        """The queue, for jobs that have ended."""
        return JobQueue(self._queue, self._session, self._ceiling)

    def keyring(self) -> Keyring:
        """The service for API keys."""
        return Keyring(KeyStore(self._session), TenantStore(self._session), ServerKeyStore(self._session))

    def administration(self) -> Administration:
        """The service for administrators of tenants."""
        return Administration(KeyStore(self._session), self.keyring())

    def catalogue(self) -> CatalogueService:
        """The service for entries."""
        return CatalogueService(
            EntryStore(self._session),
            ContentStore(self._session),
            VerdictStore(self._session),
            TenantStore(self._session),
            self.jobs(),
        )

    def advice(self, recent: RecentVersions) -> AdviceService:
        """The service for questions and answers, with the versions that it keeps."""
        return AdviceService(
            EntryStore(self._session),
            ContentStore(self._session),
            AdviceStore(self._session),
            QuestionStore(self._session),
            self.references(),
            self.jobs(),
            recent,
        )

    def advice_work(self, recent: RecentInputs) -> AdviceWork:
        """The worker's side of advice, with the inputs that it keeps."""
        return AdviceWork(
            ContentStore(self._session),
            ReferenceStore(self._session),
            AdviceStore(self._session),
            self.references(),
            recent,
        )

    def verdicts(self) -> VerdictService:
        """The service for verdicts."""
        return VerdictService(ContentStore(self._session), VerdictStore(self._session))

    def references(self) -> ReferenceService:
        """The service for references."""
        return ReferenceService(
            ContentStore(self._session),
            ReferenceStore(self._session),
            AdviceStore(self._session),
            QuestionStore(self._session),
            self.jobs(),
        )
