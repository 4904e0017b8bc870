"""The tables, one per file. Importing this package registers all of them."""

from app.catalog.tables.advice import AdviceRow
from app.catalog.tables.api_key import ApiKeyRow
from app.catalog.tables.audit import AuditHeadRow, AuditKeyRow, AuditLinkRow, AuditRecordRow
from app.catalog.tables.base import Base
from app.catalog.tables.compatible_revision import CompatibleRevisionRow
from app.catalog.tables.configuration_table import ConfigurationTableRow
from app.catalog.tables.console_session import ConsoleSessionRow
from app.catalog.tables.count_table import CountTableRow
from app.catalog.tables.data_request import DataRequestChangeRow, DataRequestRow
from app.catalog.tables.delivery import DeliveryRow
from app.catalog.tables.entry import EntryRow
from app.catalog.tables.entry_version import EntryVersionRow
from app.catalog.tables.handover import HandoverRow
from app.catalog.tables.idempotency_key import IdempotencyKeyRow
from app.catalog.tables.lease import LeaseRow
from app.catalog.tables.question import QuestionBudgetRow, QuestionRow
from app.catalog.tables.reference import ReferenceArrayRow, ReferenceRow
from app.catalog.tables.searched_version import OfferedPrivacyRow, SearchedVersionRow
from app.catalog.tables.server_key import ServerKeyRow
from app.catalog.tables.tenant import TenantRow
from app.catalog.tables.verdict import VerdictRow
from app.catalog.tables.verification import VerificationRow
from app.catalog.tables.waiting_job import WaitingJobRow
from app.catalog.tables.webhook import WebhookRow

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
