"""Connects services to the stores of one session."""

from dataclasses import dataclass

from procrastinate import App
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.service.advice import AdviceService, AskedQuestions, RecentVersions
from app.advice.service.advice_input import RecentInputs
from app.advice.service.replay import ReplayService
from app.advice.service.work import AdviceFollower, AdviceWork, ReferenceService, WorthWork
from app.advice.store.advice import AdviceStore, QuestionStore
from app.advice.store.references import ReferenceStore
from app.audit.service import AuditService, HealthService, Signer
from app.audit.store import AuditLogStore, AuditStore
from app.callers.service import KeyAdministration, Keyring, SessionRules, SessionService
from app.callers.store import KeyStore, SessionStore
from app.catalogues.service import HarvestService
from app.dataspace.model.processes import Negotiation, Transfer
from app.dataspace.service.negotiations import NegotiationService
from app.dataspace.service.offers import OfferService
from app.dataspace.service.sending import SendingService
from app.dataspace.service.transfers import TransferService
from app.dataspace.store import NegotiationStore, TransferStore
from app.entries.service.catalogue import CatalogueService, ServerKeyService, VerdictService
from app.entries.service.saved_searches import SavedSearchService
from app.entries.store.contents import ContentStore, ServerKeyStore, VerdictStore
from app.entries.store.entries import EntryStore
from app.entries.store.saved_searches import SavedSearchStore
from app.entries.store.worth import WorthStore
from app.platform.database.migrations import SchemaStore
from app.platform.http.idempotency import IdempotencyService
from app.platform.queue.queue import CEILING, JobQueue
from app.requests.service.composition import CompositionService
from app.requests.service.data_requests import DataRequestService, DataRequestSteps, DataRequestWork
from app.requests.service.handovers import HandoverService, LeaseService, ReceiptService, VerificationService
from app.requests.store.data_requests import DataRequestStore
from app.requests.store.handovers import HandoverStore, LeaseStore
from app.retention import RetentionService
from app.tenants.model import NO_QUOTA, Quota
from app.tenants.service import QuotaService, TenantAdministration, TenantService
from app.tenants.store import QuotaStore, TenantStore
from app.webhooks.service import DeliveryService, WebhookService
from app.webhooks.store.events import EventStore
from app.webhooks.store.webhooks import DeliveryStore, WebhookStore


@dataclass(frozen=True, slots=True)
class Factory:
    """The services of one transaction.

    Args:
        ceiling: a tenant's most concurrent jobs in a lane.
        quota: the default quota of a tenant.
    """

    session: AsyncSession
    queue: App
    ceiling: int = CEILING
    quota: Quota = NO_QUOTA

    def jobs(self) -> JobQueue:
        """The queue of jobs."""
        return JobQueue(self.queue, self.session, self.ceiling)

    def keyring(self) -> Keyring:
        """The service for API keys."""
        return Keyring(KeyStore(self.session), AuditStore(self.session))

    def sessions(self, rules: SessionRules) -> SessionService:
        """The service for console sessions with these rules."""
        return SessionService(SessionStore(self.session), self.keyring(), AuditStore(self.session), rules)

    def tenants(self) -> TenantService:
        """The service for tenants' policies and quotas."""
        return TenantService(TenantStore(self.session), QuotaStore(self.session), AuditStore(self.session))

    def key_administration(self) -> KeyAdministration:
        """The service for key administration by callers."""
        return KeyAdministration(KeyStore(self.session), self.keyring())

    def tenant_administration(self) -> TenantAdministration:
        """The service for tenant administration by callers."""
        return TenantAdministration(self.tenants())

    def asked_questions(self) -> AskedQuestions:
        """The service for the list of questions."""
        return AskedQuestions(QuestionStore(self.session))

    def server_key(self) -> ServerKeyService:
        """The service for the key of the keyed digests."""
        return ServerKeyService(ServerKeyStore(self.session), AuditStore(self.session))

    def health(self) -> HealthService:
        """The service for the health of the database and the audit log."""
        return HealthService(SchemaStore(self.session), AuditLogStore(self.session))

    def quotas(self) -> QuotaService:
        """The service for quotas."""
        return QuotaService(QuotaStore(self.session), self.quota, AuditStore(self.session))

    def retention(self) -> RetentionService:
        """The service that deletes expired data."""
        return RetentionService(self.session, self.idempotency(), self.data_request_work(), self.jobs())

    def idempotency(self) -> IdempotencyService:
        """The service for idempotency keys."""
        return IdempotencyService(self.session)

    def catalogue(self) -> CatalogueService:
        """The service for entries."""
        return CatalogueService(
            EntryStore(self.session),
            ContentStore(self.session),
            VerdictStore(self.session),
            TenantStore(self.session),
            KeyStore(self.session),
            self.quotas(),
            EventStore(self.session),
            AuditStore(self.session),
            WorthStore(self.session),
            self.jobs(),
            (self.data_request_work(), AdviceFollower(AdviceStore(self.session), self.jobs())),
        )

    def harvests(self) -> HarvestService:
        """The service for what catalogues elsewhere harvest."""
        return HarvestService(EntryStore(self.session), ContentStore(self.session), WorthStore(self.session))

    def saved_searches(self) -> SavedSearchService:
        """The service for saved searches."""
        return SavedSearchService(SavedSearchStore(self.session), self.catalogue(), AuditStore(self.session))

    def advice(self, recent: RecentVersions) -> AdviceService:
        """The service for questions and answers, with its cache of versions."""
        return AdviceService(
            EntryStore(self.session),
            ContentStore(self.session),
            AdviceStore(self.session),
            QuestionStore(self.session),
            self.references(),
            self.quotas(),
            self.jobs(),
            recent,
        )

    def advice_work(self, recent: RecentInputs) -> AdviceWork:
        """The worker's side of advice, with its cache of inputs."""
        return AdviceWork(
            ContentStore(self.session),
            ReferenceStore(self.session),
            AdviceStore(self.session),
            EventStore(self.session),
            self.references(),
            recent,
        )

    def data_requests(self, recent: RecentVersions) -> DataRequestService:
        """The service for data requests, with its cache of versions."""
        return DataRequestService(
            DataRequestStore(self.session),
            EventStore(self.session),
            EntryStore(self.session),
            AdviceStore(self.session),
            self.advice(recent),
            self.data_request_work(),
            HandoverStore(self.session),
            AuditStore(self.session),
            CompositionService(DataRequestStore(self.session), ContentStore(self.session), TenantStore(self.session)),
        )

    def handovers(self, *, allow_private: bool) -> HandoverService:
        """The service for deliveries; `allow_private` permits links into private networks."""
        return HandoverService(
            HandoverStore(self.session),
            ContentStore(self.session),
            self._data_request_steps(),
            self.leases(),
            allow_private,
        )

    def leases(self) -> LeaseService:
        """The service for leases of requests."""
        return LeaseService(LeaseStore(self.session), self._data_request_steps())

    def verifications(self) -> VerificationService:
        """The service for consumers' verifications of deliveries."""
        return VerificationService(
            HandoverStore(self.session),
            ContentStore(self.session),
            self._data_request_steps(),
        )

    def _data_request_steps(self) -> DataRequestSteps:
        return DataRequestSteps(DataRequestStore(self.session), EventStore(self.session))

    def data_request_work(self) -> DataRequestWork:
        """The worker's side of data requests."""
        return DataRequestWork(
            DataRequestStore(self.session),
            EntryStore(self.session),
            AdviceStore(self.session),
            EventStore(self.session),
        )

    def offers(self) -> OfferService:
        """The service for the offers of the Dataspace Protocol."""
        return OfferService(self.catalogue(), ContentStore(self.session))

    def negotiations(self, recent: RecentVersions) -> NegotiationService:
        """The service for negotiations by the Dataspace Protocol, with the cache of versions."""
        return NegotiationService(NegotiationStore(self.session), self.offers(), self.data_requests(recent))

    def transfers(self, recent: RecentVersions) -> TransferService:
        """The service for transfers by the Dataspace Protocol, likewise."""
        return TransferService(TransferStore(self.session), self.negotiations(recent), self.verifications())

    def negotiation_messages(self) -> SendingService[Negotiation]:
        """The worker's side of negotiations."""
        return SendingService(NegotiationStore(self.session), self.offers(), DataRequestStore(self.session))

    def transfer_messages(self) -> SendingService[Transfer]:
        """The worker's side of transfers."""
        return SendingService(TransferStore(self.session), self.offers(), DataRequestStore(self.session))

    def audit(self) -> AuditService:
        """The service for the audit log."""
        return AuditService(AuditLogStore(self.session))

    def receipts(self, signer: Signer | None) -> ReceiptService:
        """The service for signed receipts; its call must be the first of the transaction."""
        return ReceiptService(
            self._data_request_steps(),
            DataRequestStore(self.session),
            HandoverStore(self.session),
            AuditLogStore(self.session),
            signer,
        )

    def webhooks(self) -> WebhookService:
        """The service for webhooks."""
        return WebhookService(WebhookStore(self.session), EventStore(self.session), AuditStore(self.session))

    def deliveries(self) -> DeliveryService:
        """The worker's side of webhooks."""
        return DeliveryService(DeliveryStore(self.session), WebhookStore(self.session), AuditStore(self.session))

    def replays(self) -> ReplayService:
        """The service for replays of answers."""
        return ReplayService(
            AdviceStore(self.session),
            QuestionStore(self.session),
            EntryStore(self.session),
            ContentStore(self.session),
            ReferenceStore(self.session),
        )

    def verdicts(self) -> VerdictService:
        """The service for verdicts."""
        return VerdictService(ContentStore(self.session), VerdictStore(self.session))

    def worth(self) -> WorthWork:
        """The service for what tables are worth."""
        return WorthWork(
            ContentStore(self.session), WorthStore(self.session), TenantStore(self.session), EventStore(self.session)
        )

    def references(self) -> ReferenceService:
        """The service for references."""
        return ReferenceService(
            ContentStore(self.session),
            ReferenceStore(self.session),
            AdviceStore(self.session),
            QuestionStore(self.session),
            EventStore(self.session),
            self.jobs(),
        )
