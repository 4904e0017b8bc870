"""Collectors that read the state of a process when Prometheus asks, so that nothing has to be kept up to date."""

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from app.platform.build import build_version
from app.platform.database.probe import Probe, Reading
from app.platform.database.session import Database
from app.platform.process.child import ChildProcess


class BuildCollector(Collector):
    """Which build the process is of."""

    def collect(self) -> Iterator[Metric]:
        """The version, as a label of 1."""
        yield InfoMetricFamily("aegis_build", "The version of the service", value={"version": build_version()})


class PoolCollector(Collector):
    """The connections of a pool, and who waits for one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """The pool as it is now."""
        usage = self._database.usage
        yield GaugeMetricFamily("aegis_database_pool_size", "Most connections of the pool", value=usage.size)
        yield GaugeMetricFamily("aegis_database_pool_in_use", "Connections in a transaction", value=usage.in_use)
        yield GaugeMetricFamily("aegis_database_pool_waiting", "Transactions without a connection", value=usage.waiting)


class ChildrenCollector(Collector):
    """The child processes, by what they do."""

    def __init__(self, children: Mapping[str, ChildProcess]) -> None:
        self._children = children

    def collect(self) -> Iterator[Metric]:
        """The children as they are now."""
        alive = GaugeMetricFamily("aegis_child_up", "Whether the child process lives", labels=("child",))
        busy = GaugeMetricFamily("aegis_child_busy", "Functions that run in child processes", labels=("child",))
        waiting = GaugeMetricFamily("aegis_child_waiting", "Calls that wait for their turn", labels=("child",))
        deaths = CounterMetricFamily("aegis_child_deaths", "Calls during which the child died", labels=("child",))
        for name, child in self._children.items():
            state = child.state()
            alive.add_metric((name,), state.is_alive)
            busy.add_metric((name,), state.busy)
            waiting.add_metric((name,), state.waiting)
            deaths.add_metric((name,), state.deaths)
        yield from (alive, busy, waiting, deaths)


class DatabaseCollector(Collector):
    """The database and its queue, as a probe has read them last."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    def collect(self) -> Iterator[Metric]:
        """What was read; nothing but `aegis_database_up` if the database did not answer."""
        reading = self._probe.last
        is_up = reading.pulse is not None
        yield GaugeMetricFamily("aegis_database_up", "Whether the database answers", value=is_up)
        if reading.pulse is not None:
            seconds, workers = reading.pulse.seconds, reading.pulse.workers
            yield GaugeMetricFamily("aegis_database_ping_seconds", "Time of a statement", value=seconds)
            yield GaugeMetricFamily("aegis_workers", "Workers that were heard of lately", value=workers)
        yield from _queue(reading)


def _queue(reading: Reading) -> Iterator[Metric]:
    """The queue by lane, and by how many jobs the tenants have that wait there."""
    if reading.queue is None:
        return
    labels = ("lane", "backlog")
    waiting = GaugeMetricFamily("aegis_queue_waiting_jobs", "Jobs that wait", labels=labels)
    oldest = GaugeMetricFamily("aegis_queue_oldest_seconds", "Age of the oldest job that waits", labels=labels)
    running = GaugeMetricFamily("aegis_queue_running_jobs", "Jobs that workers run", labels=("lane",))
    for one in reading.queue.backlogs:
        waiting.add_metric((one.lane, one.size), one.jobs)
        oldest.add_metric((one.lane, one.size), one.oldest_seconds)
    for lane, jobs in reading.queue.running.items():
        running.add_metric((lane,), jobs)
    yield from (waiting, oldest, running)
    queue = reading.queue
    yield GaugeMetricFamily("aegis_webhook_waiting_events", "Events that wait for a webhook", value=queue.events)
    yield GaugeMetricFamily("aegis_webhook_oldest_seconds", "Age of the oldest one", value=queue.oldest_event_seconds)
