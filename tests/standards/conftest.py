"""The shared service and its entries, as the contract tests have them."""

from tests.contract.conftest import aegis, approved, client, head, people, task, url

__all__ = ["aegis", "approved", "client", "head", "people", "task", "url"]
