"""What is known of the privacy of a release, and whether it holds what is promised of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from aegis_provider.privacy.class_sizes import ClassSizes
from aegis_provider.privacy.criteria import holds
from aegis_provider.privacy.risk import Risk


@dataclass(frozen=True)
class Verdict:
    """A promise and what the release reaches; `reached` is `None` where the table cannot show it."""

    name: str
    promised: float
    reached: float | None

    @property
    def is_broken(self) -> bool:
        """Whether the release is known not to hold it."""
        if self.reached is None:
            return False
        if self.name == "suppressed":
            return self.reached != self.promised
        return not holds(self.name, self.reached, self.promised)


@dataclass(frozen=True, eq=False)
class Assessed:
    """A release: what it promises and what it reaches.

    `id`: of its configuration. `privacy`: what it reaches, by name, and `sizes`: the sizes of its equivalence classes,
    both after suppression. `suppressed`: how many records are left out; `declared`: how many the plan says are.
    `left_to_chance`, `masked_elsewhere`: the attributes for which nothing could be measured; then `sizes` is `None`.
    """

    id: str
    promise: Mapping[str, float]
    privacy: Mapping[str, float]
    sizes: ClassSizes | None
    suppressed: int = 0
    declared: int | None = None
    left_to_chance: tuple[str, ...] = ()
    masked_elsewhere: tuple[str, ...] = ()

    @property
    def risk(self) -> Risk | None:
        """Of re-identification; `None` where nothing was measured, or no record is left."""
        return None if self.sizes is None else Risk.of(self.sizes)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every promise, and the number of suppressed records where the plan declares one."""
        found = [Verdict(name, promised, self.privacy.get(name)) for name, promised in self.promise.items()]
        if self.declared is not None and self.sizes is not None:
            found.append(Verdict("suppressed", self.declared, self.suppressed))
        return tuple(found)

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """The promises that it does not hold."""
        return tuple(each for each in self.verdicts if each.is_broken)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The promises of which nothing here tells whether they are held; a release without records holds them all."""
        if self.sizes is not None and not self.sizes.records:
            return ()
        return tuple(each.name for each in self.verdicts if each.reached is None)

    @property
    def holds(self) -> bool | None:
        """Whether everything that is promised is held; `None` where that cannot be told."""
        if self.broken:
            return False
        return None if self.unseen or self.left_to_chance or self.masked_elsewhere else True

    def in_words(self) -> str:
        """Whether it holds what it promises, for people."""
        if self.left_to_chance:
            return f"left to chance ({', '.join(self.left_to_chance)}): measure the masked table"
        if self.masked_elsewhere:
            return f"masked elsewhere ({', '.join(self.masked_elsewhere)}): measure that table"
        if self.broken:
            said = [f"{each.name} is {each.reached:.6g}, not {each.promised:.6g}" for each in self.broken]
            return f"BROKEN: {'; '.join(said)}"
        if self.risk is None:
            return "no record is left"
        held = [f"{each.name} {each.promised:.6g}" for each in self.verdicts if each.reached is not None]
        said = [f"holds {', '.join(held)}"] if held else []
        said += [f"{', '.join(self.unseen)} not measured"] if self.unseen else []
        return "; ".join(said) or "promises nothing"
