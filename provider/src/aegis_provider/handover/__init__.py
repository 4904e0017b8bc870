"""Handing over what a consumer has requested: the table is masked, measured and uploaded, and the service told of it.

request = fulfil(Order(client, request_id, "health.csv", plan), storage_at("s3://bucket/shared"), work)
Agent(client, policy).run()      # the provider's part, unattended
"""

from aegis_provider.handover.fulfilling import Fulfilled, Order, fulfil
from aegis_provider.handover.storage import Storage, storage_at

__all__ = ["Fulfilled", "Order", "Storage", "fulfil", "storage_at"]
