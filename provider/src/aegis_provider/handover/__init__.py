"""Fulfils data requests: masks, measures and uploads the table, and reports the delivery to the service.

task = Task(client, request_id, "health.csv", load_plan("plan.yaml"))
fulfil(task, storage_at("s3://bucket/shared"), work)
for event in Agent(client, load_policy("policy.yaml"), work).round():    # unattended
    print(event.kind, event.detail)
"""

from aegis_provider.handover.agent import Agent, Event, Policy, Rule, load_policy
from aegis_provider.handover.fulfilling import Fulfilled, Task, fulfil
from aegis_provider.handover.lineage import Lineage
from aegis_provider.handover.storage import Storage, relink, storage_at

__all__ = [
    "Agent",
    "Event",
    "Fulfilled",
    "Lineage",
    "Policy",
    "Rule",
    "Storage",
    "Task",
    "fulfil",
    "load_policy",
    "relink",
    "storage_at",
]
