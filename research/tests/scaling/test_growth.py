"""The order of growth is that of what is measured, and memory that of the process that takes it."""

from collections import Counter

import numpy as np
import pytest

from research.evaluation.large_tables import Size
from research.own_processes import grown, own_processes, resident
from research.scaling import page
from research.scaling.__main__ import TIMES, measurements
from research.scaling.costs import running_service
from research.scaling.growth import exponent, last_exponent

MEGABYTES = 200


def test_the_exponent_of_a_power_is_found_and_noise_widens_its_interval():
    sizes = np.repeat([10, 100, 1_000, 10_000], 3)
    exact = exponent(sizes, 0.3 * sizes**1.5)
    assert exact == pytest.approx((1.5, 0.0), abs=1e-9)
    noise = np.exp(np.random.default_rng(0).normal(0, 0.2, len(sizes)))
    noisy = exponent(sizes, 0.3 * sizes**1.5 * noise)
    assert 0 < abs(noisy.value - 1.5) < noisy.half_width < 0.2


def test_the_interval_has_the_exponent_in_19_of_20_draws():
    sizes, random = np.repeat([1, 10, 100], 3), np.random.default_rng(1)
    drawn = [exponent(sizes, sizes * np.exp(random.normal(0, 0.5, len(sizes)))) for _ in range(2_000)]
    held = np.mean([abs(each.value - 1) < each.half_width for each in drawn])
    assert held == pytest.approx(0.95, abs=0.02)


def test_a_fixed_cost_hides_growth_except_at_the_end():
    sizes = [1, 10, 100, 1_000, 1_000]
    costs = [50 + size for size in sizes]
    assert exponent(sizes, costs).value < 0.5
    assert last_exponent(sizes, costs) == pytest.approx(np.log10(1_050 / 150))


def held_for_a_while(megabytes):
    before = resident()
    taken = np.ones(megabytes * 10**6, dtype=np.int8)
    del taken
    return grown(before)


def test_memory_is_the_most_that_a_process_of_its_own_held():
    with own_processes("research.scaling.costs") as processes:
        many, few = (processes.submit(held_for_a_while, each).result() for each in (MEGABYTES, 1))
    assert many == pytest.approx(MEGABYTES, rel=0.1)
    assert few < MEGABYTES / 10


@pytest.mark.long
def test_each_part_is_measured_at_each_size_and_the_page_says_all(tmp_path):
    base = Size(attributes=3, configurations=5, records=500)
    with running_service() as service:
        measured = list(measurements(base, {"attributes": (2, 4)}, service))
    parts = Counter((each.size, each.part) for each in measured)
    times = {page.PROVIDER: 1, **dict.fromkeys(page.ADVISOR.values(), TIMES), page.SERVICE: 1}
    assert parts == {(size, part): number for size in (2, 4) for part, number in times.items()}
    assert all(each.spent.seconds > 0 for each in measured)
    assert all(each.spent.megabytes > 50 for each in measured if each.part == page.SERVICE)
    page.write(measured, base, 2, tmp_path / "scaling.md")
    assert len((tmp_path / "scaling.csv").read_text().splitlines()) == 1 + len(measured)
    assert "</svg>" in (tmp_path / "scaling.svg").read_text()
