"""All tables. Importing this module registers them."""

from app.advice.tables import AdviceRow, QuestionBudgetRow, QuestionRow, ReferenceArrayRow, ReferenceRow
from app.audit.tables import AuditHeadRow, AuditKeyRow, AuditLinkRow, AuditRecordRow
from app.callers.tables import ApiKeyRow, ConsoleSessionRow
from app.entries.tables import (
    ConfigurationTableRow,
    CountTableRow,
    EntryRow,
    EntryVersionRow,
    OfferedPrivacyRow,
    SearchedVersionRow,
    ServerKeyRow,
    VerdictRow,
)
from app.platform.database.base import Base, CompatibleRevisionRow
from app.platform.http.idempotency import IdempotencyKeyRow
from app.platform.queue.queue import WaitingJobRow
from app.requests.tables import DataRequestChangeRow, DataRequestRow, HandoverRow, LeaseRow, VerificationRow
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
