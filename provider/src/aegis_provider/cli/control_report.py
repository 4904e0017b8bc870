"""What the controls did to an entry, line by line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from aegis_provider.control import Changes, Controlled

_SHOWN = 10
_VALUES = 4


def control_report(controlled: Controlled) -> Iterator[str]:
    """What was merged, what was left out, and what each table takes of epsilon; of long lists the beginning."""
    changes = controlled.changes
    merged = [
        f"{each.attribute}, {each.masking}: {_quoted(group.values)} became {group.text!r}"
        for each in changes.merged
        for group in each.groups
    ]
    yield from _listed("masked values merged", merged)
    yield from _listed("maskings left out", [f"{name}, {masking}" for name, masking in changes.maskings])
    left_out = [f"{name}: it {reason}" for name, reason in changes.configurations.items()]
    yield from _listed("configurations left out", left_out)
    yield from _listed("left out besides", changes.tables)
    noise = [
        f"{each.table}: {each.cells} cells, epsilon {each.epsilon:.4g}, noise of scale {each.scale:.4g}"
        for each in changes.noise
    ]
    yield from _listed("tables with noise", noise)
    if controlled.controls.min_cell is not None:
        yield "each table was looked at by itself: `aegis disclose` says what differences of tables still give away"


def control_warnings(controlled: Controlled, *, plan_written: bool) -> Iterator[str]:
    """What whoever asked for the controls may not expect of them."""
    changes = controlled.changes
    if changes.changes_the_plan and not plan_written:
        yield (
            "the plan as it is would share what the entry no longer has: write the one that goes with the entry "
            "by --plan-output, and apply that"
        )
    if changes.privacy:
        yield _no_longer_vouched(changes)
    if controlled.controls.epsilon is not None:
        yield (
            "epsilon covers the counts alone: domains, masked values and bins (equal frequencies, fitted edges) are "
            "those of the table, and so are the privacy numbers"
        )


def _quoted(values: Sequence[str]) -> str:
    """The first few of the values."""
    shown = ", ".join(map(repr, values[:_VALUES]))
    return shown if len(values) <= _VALUES else f"{shown} and {len(values) - _VALUES} more"


def _no_longer_vouched(changes: Changes) -> str:
    names = dict.fromkeys(name for each in changes.privacy.values() for name in each)
    configurations = f"{len(changes.privacy)} configuration{'s' * (len(changes.privacy) > 1)}"
    return f"merging may make {', '.join(names)} worse: {configurations} no longer vouch for it"


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if not found:
        return
    yield f"{title}: {len(found)}"
    yield from (f"  {line}" for line in islice(found, _SHOWN))
    if len(found) > _SHOWN:
        yield f"  and {len(found) - _SHOWN} more, which --json lists"
