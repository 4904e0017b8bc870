import random

import pytest

from aegis_provider.workflow import release
from tests.provider.workflow.releases import HOURS


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table in which age tells much of the label, the town little, and the number nothing but who it is."""
    rng = random.Random(7)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    lines = ["id,age,town,income,ill"]
    for number in range(1200):
        age, town = rng.randint(18, 90), rng.choice("ABCDEFGH")
        ill = "yes" if rng.random() < (age - 10) / 100 + (0.1 if town < "C" else 0) else "no"
        lines.append(f"p{number},{age},{town},{rng.randint(10, 99) * 100},{ill}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def released(people, tmp_path_factory):
    output = tmp_path_factory.mktemp("people-release") / "release"
    return release(people, "ill", output=output, require={"k": 5, "l": 2}, seconds=HOURS)
