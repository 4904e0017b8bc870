"""The tables, one per file. Importing this package registers all of them."""

from app.advice.tables.advice import AdviceRow
from app.advice.tables.question import QuestionBudgetRow, QuestionRow
from app.advice.tables.reference import ReferenceArrayRow, ReferenceRow
from app.audit.tables import AuditHeadRow, AuditKeyRow, AuditLinkRow, AuditRecordRow
from app.callers.tables import ApiKeyRow, ConsoleSessionRow
from app.entries.tables.configuration_table import ConfigurationTableRow
from app.entries.tables.count_table import CountTableRow
from app.entries.tables.entry import EntryRow
from app.entries.tables.entry_version import EntryVersionRow
from app.entries.tables.searched_version import OfferedPrivacyRow, SearchedVersionRow
from app.entries.tables.server_key import ServerKeyRow
from app.entries.tables.verdict import VerdictRow
from app.platform.database.base import Base, CompatibleRevisionRow
from app.platform.http.idempotency.tables import IdempotencyKeyRow
from app.platform.queue.queue import WaitingJobRow
from app.requests.tables.data_request import DataRequestChangeRow, DataRequestRow
from app.requests.tables.handover import HandoverRow
from app.requests.tables.lease import LeaseRow
from app.requests.tables.verification import VerificationRow
from app.tenants.tables import TenantRow
from app.webhooks.tables import DeliveryRow, WebhookRow

__all__ = [
    "AdviceRow",
    "ApiKeyRow",
    "AuditHeadRow",
    "AuditKeyRow",
    "AuditLinkRow",
    "AuditRecordRow",
    "Base",
    "CompatibleRevisionRow",
    "ConfigurationTableRow",
    "ConsoleSessionRow",
    "CountTableRow",
    "DataRequestChangeRow",
    "DataRequestRow",
    "DeliveryRow",
    "EntryRow",
    "EntryVersionRow",
    "HandoverRow",
    "IdempotencyKeyRow",
    "LeaseRow",
    "OfferedPrivacyRow",
    "QuestionBudgetRow",
    "QuestionRow",
    "ReferenceArrayRow",
    "ReferenceRow",
    "SearchedVersionRow",
    "ServerKeyRow",
    "TenantRow",
    "VerdictRow",
    "VerificationRow",
    "WaitingJobRow",
    "WebhookRow",
]
