from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import (
    AcceptOption,
    DelimiterOption,
    MaskedTableOption,
    TableArgument,
    memory_limit,
    names_of,
)
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import InputError, aligned, print_result, progress_bar, say, warn
from aegis_sdk.reading import Share, shown, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aegis_provider.independence import Association, Cluster, Extent, Hidden

_CLUSTERS = 12
_VALUES = 6
_PAIRS = 40
_INFORMATION = "mutual information in bits: how much each side tells about the other; 0 means nothing"


def independence(
    table: TableArgument,
    hide: Annotated[str, typer.Option(metavar="NAME,NAME", help="Attributes whose values are masked.")],
    hidden_from: Annotated[
        str, typer.Option("--from", metavar="NAME,NAME", help="Attributes that they become independent of.")
    ],
    clusters: Annotated[
        int, typer.Option(min=1, help="Number of equally large clusters that replace the --from attributes.")
    ],
    output: MaskedTableOption,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="The plan, with the columns to keep, such as the label, and the types of values."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME", help="Columns to keep unchanged, such as a label, without --plan; '' for none."
        ),
    ] = None,
    exact_values: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--exact-values", help="Write and print the exact values in each cluster.")
    ] = False,
    ordered: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Attributes of --from that are numbers or dates, not categories."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random draw.")] = 0,
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Time limit of the search for fewer masked values; the best result so far is used."),
    ] = 30,
    star: Annotated[str, typer.Option(help="Text that replaces masked values.")] = "*",
    delimiter: DelimiterOption = None,
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Make attributes exactly independent of others. Masks few of their values and leaves other columns unchanged.

    The --from attributes become one column: the number of a cluster of records. A separate file, masked.clusters.csv
    beside masked.csv, describes the clusters, in words or exactly (--exact-values). It lists values in sorted order and
    the masked table is shuffled, so values cannot be matched to records. Values are categories unless the plan's types
    or --ordered make them numbers or dates. A single ordered attribute gets clusters that are intervals. To rank the
    masked table against other maskings, name it in a plan as `masked_table`.
    """
    from aegis_provider.independence import hide as hide_attributes
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.table import delimiter_in, open_table, table_name
    from aegis_provider.table.formulas import formulas_in

    if plan is None and keep is None:
        raise InputError("name the columns to keep: give --plan with a label, or --keep NAME,NAME ('' for none)")
    intended = None if plan is None else load_plan(plan, configurations_needed=False)
    say(f"hiding in {table_name(table)} ...")
    with progress_bar("masking") as progress:
        hidden = hide_attributes(
            table,
            hide=names_of("hide", hide),
            from_=names_of("from", hidden_from),
            clusters=clusters,
            output=output,
            exact_values=exact_values,
            plan=intended,
            keep=names_of("keep", keep),
            ordered=names_of("ordered", ordered),
            seed=seed,
            seconds=seconds,
            star=star,
            measure=True,
            delimiter=delimiter or delimiter_in(table, intended.label if intended else hide.split(",")[0]),
            memory_limit=memory_limit(),
            accept_identifiers=accept_identifiers,
            progress=progress,
        )
    with open_table(output, delimiter=delimiter_in(output, hidden.cluster), memory_limit=memory_limit()) as written:
        if said := formulas_in(written).in_words():
            warn(said)
    print_result(as_document(hidden), report(hidden), as_json=as_json)


def report(hidden: Hidden) -> Iterator[str]:
    """Report the files, the clusters, the masked values by attribute, and the mutual information."""
    yield from _head(hidden)
    yield from _clusters(hidden)
    yield from _stars(hidden)
    yield from _associations(hidden.associations)


def as_document(hidden: Hidden) -> dict[str, Any]:
    """Return the results as JSON values."""
    return {
        "output": str(hidden.output),
        "clusters_output": str(hidden.clusters_output),
        "exact_values": hidden.exact_values,
        "hidden": list(hidden.hidden),
        "from": list(hidden.from_),
        "records": hidden.records,
        "dropped": hidden.dropped,
        "seed": hidden.seed,
        "cluster": hidden.cluster,
        "clusters": [_cluster(cluster, exact=hidden.exact_values) for cluster in hidden.clusters],
        "groups": hidden.groups,
        "values": hidden.values,
        "stars": hidden.stars,
        "lower_bound": hidden.lower_bound,
        "stars_by_attribute": dict(hidden.stars_by_attribute),
        "solver": hidden.solver,
        "accepted": dict(hidden.accepted),
        "mutual_information": [
            {
                "attributes": list(association.first),
                "with": list(association.second),
                "in_clusters": association.in_clusters,
                "before": association.before,
                "after": association.after,
            }
            for association in hidden.associations
        ],
    }


def _head(hidden: Hidden) -> Iterator[str]:
    dropped = f", {hidden.dropped} dropped at random (seed {hidden.seed})" if hidden.dropped else ""
    yield f"{hidden.output}: {hidden.records} records{dropped}"
    values = "the exact values" if hidden.exact_values else "what each cluster holds, without exact values,"
    yield f"{hidden.clusters_output}: {values} of {_names(hidden.from_)}"
    checked = f"exactly independent of the clusters of {_names(hidden.from_)}, as checked in the file"
    yield f"{checked}: {_names(hidden.hidden)}"
    if hidden.accepted:
        from aegis_provider.identifiers import accepted_in_words

        yield accepted_in_words(hidden.accepted)


def _clusters(hidden: Hidden) -> Iterator[str]:
    from aegis_provider.independence import Extent

    rows: list[tuple[str | float, ...]] = [
        (cluster.number, cluster.records, *map(_exactly if hidden.exact_values else Extent.in_words, cluster.extents))
        for cluster in hidden.clusters[:_CLUSTERS]
    ]
    yield from ("", *aligned(("cluster", "records", *map(shown, hidden.from_)), rows))
    if len(hidden.clusters) > _CLUSTERS:
        yield f"  and {len(hidden.clusters) - _CLUSTERS} more"


def _exactly(extent: Extent) -> str:
    """Return `[4, 7]`, or the values if they have no order, and how many are missing."""
    ordered = extent.is_ordered and extent.values
    values = f"[{extent.values[0]}, {extent.values[-1]}]" if ordered else some(extent.values, _VALUES)
    missing = f"{extent.missing} missing" if extent.missing else ""
    return "; ".join(filter(None, (values, missing)))


def _stars(hidden: Hidden) -> Iterator[str]:
    groups = f"{hidden.groups} groups of {len(hidden.clusters)}"
    yield ""
    yield f"{hidden.stars} of {hidden.values} values masked ({_percent(hidden.stars, hidden.values)}), in {groups}"
    yield f"found by `{hidden.solver}`; with these clusters, at least {hidden.lower_bound} must be masked"
    rows = [(shown(name), stars, _percent(stars, hidden.records)) for name, stars in hidden.stars_by_attribute.items()]
    yield from aligned(("attribute", "masked", "share"), rows)


def _associations(associations: Sequence[Association]) -> Iterator[str]:
    measured = [
        association for association in associations if association.before is not None or association.after is not None
    ]
    rows = [(_names(each.first), _second(each), _bits(each.before), _bits(each.after)) for each in measured]
    yield from ("", _INFORMATION, *aligned(("of", "with", "before", "after"), rows[:_PAIRS]))
    if len(rows) > _PAIRS:
        yield f"  and {len(rows) - _PAIRS} more: --json has all"
    unmeasured = [
        association for association in associations if association.before is None or association.after is None
    ]
    if unmeasured:
        pairs = some(sorted({f"{_names(pair.first)} with {_second(pair)}" for pair in unmeasured}), _VALUES)
        yield f"  not measured, because there are too many values: {pairs}"


def _second(association: Association) -> str:
    return f"{'clusters of ' if association.in_clusters else ''}{_names(association.second)}"


def _bits(bits: float | None) -> str:
    return "not measured" if bits is None else f"{bits:.6f}" if bits else "0"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names))


def _percent(part: int, whole: int) -> str:
    return str(Share(part / whole))


def _cluster(cluster: Cluster, *, exact: bool) -> dict[str, Any]:
    told = _values if exact else _without_values
    return {
        "number": cluster.number,
        "records": cluster.records,
        "values": [told(extent) for extent in cluster.extents],
    }


def _without_values(extent: Extent) -> dict[str, Any]:
    """Return the default, inexact description; `null` marks an open end of the interval."""
    ends = {} if extent.interval is None else {"above": extent.interval[0], "below": extent.interval[1]}
    missing = {"missing": extent.missing} if extent.missing else {}
    return {"attribute": extent.attribute, "distinct": extent.distinct, **ends, **missing}


def _values(extent: Extent) -> dict[str, Any]:
    ends: dict[str, Any]
    if extent.is_ordered:
        ends = {"least": extent.values[0], "most": extent.values[-1]} if extent.values else {}
    else:
        ends = {"values": list(extent.values)}
    return {"attribute": extent.attribute, **ends, **({"missing": extent.missing} if extent.missing else {})}
