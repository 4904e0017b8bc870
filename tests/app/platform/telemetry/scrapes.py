"""What a scrape of Prometheus finds."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families


def families(text: str) -> dict[str, Metric]:
    """Return the metrics of a scrape, by the names under which their samples are queried, without those of creation."""
    found = {
        one.name + ("_total" if one.type == "counter" else ""): one for one in text_string_to_metric_families(text)
    }
    return {name: one for name, one in found.items() if not name.endswith("_created")}


def scraped(registry: CollectorRegistry) -> str:
    """Return what a registry shows."""
    return generate_latest(registry).decode()


def sample(text: str, name: str, **labels: str) -> float | None:
    """Return the value of a sample; None if there is none."""
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            if one.name == name and one.labels == labels:
                return float(one.value)
    return None
