"""Requirements that other processes explore meanwhile, against one after another in this process."""

from functools import partial

import pytest

from aegis_provider import Requirement, find_configurations, load_plan, processes
from aegis_provider.processes import begun, processes_ready


@pytest.fixture
def two_processes(monkeypatch):
    monkeypatch.setattr("loky.cpu_count", lambda: 2)
    with processes_ready(processes._WORTH, "json"):
        yield


@pytest.fixture
def find(health_table):
    plan = load_plan(health_table.with_name("start.yaml"), configurations_needed=False)
    required = [Requirement({"k": k}, 0.01) for k in (5, 20)]
    return partial(find_configurations, health_table, plan, required, most=20)


@pytest.mark.long
@pytest.mark.usefixtures("two_processes")
def test_requirements_are_explored_meanwhile_and_found_the_same(find, monkeypatch):
    seen, calls = [], []

    def counted(made, records):
        calls.extend(begun(made, records))
        return calls

    monkeypatch.setattr("aegis_provider.search.explorations.begun", counted)
    meanwhile = find(seconds=600, progress=lambda *done: seen.append(done))
    assert len(calls) == 1
    assert seen[-1][0] <= seen[-1][1]
    monkeypatch.undo()
    with_one = find(seconds=600)
    assert meanwhile.configurations == with_one.configurations
    assert meanwhile.utilities == with_one.utilities
    assert [each.configuration for each in meanwhile.frontier] == [each.configuration for each in with_one.frontier]
    assert all(point.complete for point in meanwhile.frontier)


@pytest.mark.long
@pytest.mark.usefixtures("two_processes")
def test_the_time_is_up_for_all(find):
    assert not any(point.complete for point in find(seconds=0).frontier)
