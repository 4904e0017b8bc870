"""The Dataspace Protocol 2025-1 as consumer."""

from aegis_sdk.dataspace.connector import Connector, DataspaceError, StillOpenError
from aegis_sdk.dataspace.inbox import Inbox, Negotiation, Transfer
from aegis_sdk.dataspace.listener import listening

__all__ = ["Connector", "DataspaceError", "Inbox", "Negotiation", "StillOpenError", "Transfer", "listening"]
