"""How many generated records contradict the table: by a pair of values that no real one has, or a rule they break."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from aegis_provider.records import MOST_RECORDS, Column, Records, drawn
from aegis_provider.synth.generate.dependencies import rules_of, typed
from aegis_provider.synth.generate.pairs import Pairs
from aegis_sdk.reading import Share

BAR: Final = 0.02
"""Up to this share of the records, each kind of contradiction may be chance: other real records have some, too."""

_SHOWN: Final = 3


@dataclass(frozen=True)
class Contradictions:
    """The shares of generated records that contradict the table.

    Attributes:
        unseen_pairs: Those with two values that no real record has together, numbers by groups (see `Pairs`).
        broken_rules: Those that break one of the rules.
        rules: The rules that hold in the table, in words.
    """

    unseen_pairs: float
    broken_rules: float
    rules: tuple[str, ...]

    @property
    def are_few(self) -> bool:
        """Whether both shares are within the bar."""
        return max(self.unseen_pairs, self.broken_rules) <= BAR

    @property
    def sentence(self) -> str:
        """The shares, the first rules and the bar in words."""
        more = f" and {len(self.rules) - _SHOWN} more" if len(self.rules) > _SHOWN else ""
        names = f"{'; '.join(self.rules[:_SHOWN])}{more}"
        broken = f"{Share(self.broken_rules)} break a rule that holds in the table ({names})"
        verdict = "both are within" if self.are_few else "warning: they contradict themselves, beyond"
        return (
            f"{Share(self.unseen_pairs)} of the records have two values that no real record has together, and "
            f"{broken if self.rules else 'the table has no rule to break'}; {verdict} {Share(BAR)}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the shares and the rules as JSON values."""
        return asdict(self) | {"bar": BAR, "rules": list(self.rules)}


def contradictions_of(generated: pa.Table, seen: Records, held_out: Records) -> Contradictions:
    """Count the contradictions of generated records, of at most `MOST_RECORDS`.

    Args:
        generated: Columns of texts, the label's last.
        seen: The real records that it was made from.
        held_out: The other real records, read with them.
    """
    table = generated.take(pa.array(drawn(generated.num_rows, MOST_RECORDS, 0)))
    both = ((seen.column(name), held_out.column(name)) for name in table.column_names)
    columns = [replace(one, places=np.concatenate([one.places, other.places])) for one, other in both]
    made: Mapping[str, Column] = {each.name: typed(each, table[each.name]) for each in columns}
    rules = rules_of(columns[:-1])
    broken = np.any([rule.broken(made) for rule in rules], axis=0) if rules else np.zeros(len(table))
    unseen = Pairs.of(columns).lacking(made)
    return Contradictions(float(unseen.mean()), float(broken.mean()), tuple(rule.words for rule in rules))
