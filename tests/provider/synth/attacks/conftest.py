import numpy as np
import pyarrow as pa
import pytest

from aegis_provider.records import sides_of
from aegis_provider.synth.attacks.attack import Case
from aegis_provider.synth.released.released import Released
from tests.provider.released_tables import records_of


@pytest.fixture
def case_of():
    """Return a case for a table and a release of it; `release` gets the texts of the records that it may see."""

    def case(texts, release, *, holdout=0.5, seed=0, known=None):
        records = records_of(texts)
        sides = sides_of(records, holdout)
        shown = pa.table({each.name: np.array(each.domain.texts)[each.places] for each in sides.training.columns})
        released = Released.of(records, release(shown), known)
        secrets = [name for name in ("sick",) if name in released.names]
        known_of_people = [name for name in released.names if name not in secrets]
        return Case(released, sides.training, sides.held_out, known_of_people, secrets, seed)

    return case
