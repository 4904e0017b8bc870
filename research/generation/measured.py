"""What is measured on the releases of a table: worth, fidelity, and what attacks achieve."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from aegis_provider.synth.attacks.attack import Case, Outcome, open_case
from aegis_provider.synth.attacks.membership import exact_copies
from aegis_provider.synth.attacks.quasi_identifiers import attribute_disclosure, reidentification
from aegis_provider.synth.fidelity import Fidelity, fidelity
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.training import TrainingLook
from research.generation import releases
from research.generation.releases import Release
from research.generation.store import Store
from research.generation.tables import HELD_OUT, SEED, SplitTable

PAPER_EPSILON: Final = 3.0
EMBEDDED: Final = (releases.UNCONSTRAINED, releases.PRIVACY)
REIDENTIFIED: Final = (releases.ORIGINAL, *releases.WGAN)


@dataclass(frozen=True)
class Budget:
    """How long a run takes.

    Attributes:
        seconds: The limit of each training.
        seeds: With how many seeds the unconstrained release of the first table is trained.
        privacy: The positions of the privacy knob.
        value: The positions of the value knob.
    """

    seconds: float
    seeds: int = 2
    privacy: Sequence[float] = (0.0, 1.0, 5.0, 20.0)
    value: Sequence[float] = (0.0, 1.0, 5.0)


@dataclass(frozen=True, eq=False)
class Measured:
    """A table, its releases, and what was measured on each; all by the names of the releases.

    Attributes:
        table: The table.
        releases: The releases.
        fidelity: Worth and fidelity of each but the original.
        disclosed: The attribute disclosure from each, for k from 1 to 10.
        reidentified: The re-identification by some, for each number of known quasi-identifiers.
        by_paper: The re-identification by the privacy-aware release with the paper's epsilon.
        looks: The looks of unconstrained trainings, by seed.
    """

    table: SplitTable
    releases: Mapping[str, Release]
    fidelity: Mapping[str, Fidelity]
    disclosed: Mapping[str, Sequence[Outcome]]
    reidentified: Mapping[str, Sequence[Outcome]]
    by_paper: Sequence[Outcome]
    looks: Mapping[int, Sequence[TrainingLook]]


@dataclass(frozen=True)
class Position:
    """A position of both knobs, and what the release is worth and gives away.

    Attributes:
        privacy: The privacy knob.
        value: The value knob.
        fidelity: What the release is worth.
        reidentified: The re-identification by someone who knows half of the quasi-identifiers.
        copies: The exact copies.
    """

    privacy: float
    value: float
    fidelity: Fidelity
    reidentified: Outcome
    copies: Outcome


def measured(table: SplitTable, folder: Path, budget: Budget, seeds: int) -> Measured:
    """Make all releases of a table, and measure them."""
    store = Store(folder / table.name)
    made = {each.name: each for each in _made(table, store, budget.seconds)}
    files = {name: each for name, each in made.items() if each.file is not None}
    further = range(SEED + 1, SEED + seeds)
    looks = {seed: _wgan(table, store, budget.seconds, releases.UNCONSTRAINED, Knobs(), seed).looks for seed in further}
    return Measured(
        table,
        made,
        {
            name: store.of(f"fidelity, {name}", partial(_fidelity, table, each, embed=name in EMBEDDED))
            for name, each in files.items()
            if name != releases.ORIGINAL
        },
        {name: store.of(f"disclosure, {name}", partial(_disclosed, table, each)) for name, each in files.items()},
        {name: store.of(f"re-identification, {name}", partial(_known, table, made[name])) for name in REIDENTIFIED},
        store.of("re-identification, epsilon 3", partial(_known, table, made[releases.PRIVACY], epsilon=PAPER_EPSILON)),
        {SEED: made[releases.UNCONSTRAINED].looks, **looks},
    )


def positions(one: Measured, folder: Path, budget: Budget) -> list[Position]:
    """Turn both knobs on a table; releases that are there already are taken."""
    store = Store(folder / one.table.name)
    knobs = [Knobs(privacy=privacy, value=value) for privacy in budget.privacy for value in budget.value]
    return [_position(one, store, budget.seconds, each) for each in knobs]


def _made(table: SplitTable, store: Store, seconds: float) -> Iterator[Release]:
    yield releases.original(table)
    for name, knobs in releases.WGAN.items():
        yield _wgan(table, store, seconds, name, knobs, SEED)
    for name, (method, knobs) in releases.QUICK.items():
        work = partial(releases.generated, table, name, store.folder, method=method, knobs=knobs, seconds=seconds)
        yield store.of(name, work)
    for name in releases.MASKED:
        yield store.of(name, partial(releases.masked, table, name, store.folder))


def _wgan(table: SplitTable, store: Store, seconds: float, name: str, knobs: Knobs, seed: int) -> Release:
    work = partial(releases.generated, table, name, store.folder, method="wgan-gp", knobs=knobs, seconds=seconds)
    return store.of(f"{name}, seed {seed}", partial(work, seed=seed))


def _position(one: Measured, store: Store, seconds: float, knobs: Knobs) -> Position:
    known = {each: name for name, each in releases.WGAN.items()}
    name = known.get(knobs, f"privacy {knobs.privacy:g}, value {knobs.value:g}")
    release = one.releases.get(name) or _wgan(one.table, store, seconds, name, knobs, SEED)
    reidentified, copies = store.of(f"attacks, {name}", partial(_attacked, one.table, release))
    worth = one.fidelity.get(name) or store.of(f"fidelity, {name}", partial(_fidelity, one.table, release))
    return Position(knobs.privacy, knobs.value, worth, reidentified, copies)


def _attacked(table: SplitTable, release: Release) -> tuple[Outcome, Outcome]:
    case = _case(table, release)
    return knowing_half(case), next(exact_copies(case))


def knowing_half(case: Case) -> Outcome:
    """Return the re-identification by someone who knows about half of the quasi-identifiers."""
    return next(islice(reidentification(case), (len(case.quasi_identifiers) - 1) // 2, None))


def _case(table: SplitTable, release: Release) -> Case:
    if release.file is None:
        raise ValueError(f"there is no release {release.name}")
    configuration = release.configuration
    return open_case(release.file, table.table, plan=release.plan, configuration=configuration, holdout=HELD_OUT).case


def _fidelity(table: SplitTable, release: Release, *, embed: bool = False) -> Fidelity:
    if release.file is None:
        raise ValueError(f"there is no release {release.name}")
    return fidelity(
        release.file,
        table.table,
        plan=release.plan,
        configuration=release.configuration,
        holdout=HELD_OUT,
        embed=embed,
    )


def _disclosed(table: SplitTable, release: Release) -> list[Outcome]:
    return list(attribute_disclosure(_case(table, release)))


def _known(table: SplitTable, release: Release, epsilon: float | None = None) -> list[Outcome]:
    return list(reidentification(_case(table, release), epsilon))
