"""The report of `aegis synth fidelity` on the utility and fidelity of a release."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from aegis_provider.check import Interval
from aegis_provider.classifiers import AUC, CHANCE
from aegis_provider.report.model import FIDELITY, Part, Report, Section, TextTable
from aegis_provider.synth.fidelity import Compared, Embedding, Fidelity, ModelValue, Relation
from aegis_provider.synth.released.released import NotUnderstood
from aegis_sdk.charts import BAD, GOOD, Axis, Measured, Plane, Series, Spot
from aegis_sdk.charts import Interval as Limits
from aegis_sdk.printable import some
from aegis_sdk.reading import Share, number, shown

_SHOWN: Final = 5
_NEARLY_ALL: Final = 0.9
_PLACES: Final = (("", ""), ("real_", ""), ("", "_difference"))

_RELATIONS: Final = {
    Relation.UNSEEN: "that the release never saw",
    Relation.TAKEN_OUT: "whose rows were taken out of the release first",
    Relation.RELEASED: "that the release was made of",
}


def fidelity_report(result: Fidelity, release: str) -> Report:
    """Report the utility and fidelity of a release."""
    sections = [
        Section("Models trained on the release", list(model_parts(result))),
        Section("Likeness to real records", [likeness(result)]),
        Section("Associations that differ most", [_associations(result)]),
        *([Section("Records in a picture", [_overlay(result.embedding)])] if result.embedding else []),
        Section("What to know about the numbers", list(_notes(result))),
        Section("What the numbers mean", [FIDELITY]),
    ]
    return Report(f"Value and fidelity of {release}", [fidelity_headline(result)], sections)


def fidelity_headline(result: Fidelity) -> str:
    """Return one line with the share of the table's utility that the release keeps."""
    if result.not_judged:
        return f"{NOT_JUDGED}: {why_not_judged(result.not_judged)}."
    if result.tested_on is Relation.UNSEEN and result.found > _NEARLY_ALL > result.found_by_chance:
        return (
            f"The release has {Share(result.found)} of the held-out records, so it was probably made of them, too, and "
            "models cannot be tested on them: say --holdout 0."
        )
    best, label = result.best, shown(result.label)
    tested = f"on {result.tested:,} records {_RELATIONS[result.tested_on]}"
    if best.kept is None:
        low, high = best.real_auc.low, best.real_auc.high
        limits = f"{best.model}: {result.scale} {best.real_auc.value:.3f}, {low:.3f} to {high:.3f}, {tested}"
        return f"The table itself tells nothing certain about {label} ({limits}), so there is nothing to keep."
    numbers = f"{best.model}: {result.scale} {best.auc.value:.3f} of {best.real_auc.value:.3f}, {tested}"
    kept = str(Share(best.kept.value)) if best.kept.value > 0 else "nothing"
    return f"A model trained on the release keeps {kept} of what the table tells about {label} ({numbers})."


def fidelity_document(result: Fidelity) -> dict[str, Any]:
    """Return the measurements as JSON values, without the points of the picture."""
    values = {name: _document(value) for name, value in vars(result).items() if name != "embedding"}
    if result.scale != AUC:
        names = {"auc": "r2", "accuracy": "rmse"}
        pairs = {
            f"{ahead}{name}{behind}": f"{ahead}{names[name]}{behind}" for name in names for ahead, behind in _PLACES
        }
        values["models"] = [{pairs.get(key, key): one for key, one in each.items()} for each in values["models"]]
    return {"headline": fidelity_headline(result), "best_model": result.best.model, **values}


def _document(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Compared):
        return asdict(value)
    if isinstance(value, tuple):
        return [each if isinstance(each, str) else asdict(each) for each in value]
    return documents_of(value) if isinstance(value, Mapping) else value


def model_parts(result: Fidelity) -> Iterator[Part]:
    """Yield the performance of models trained on the release, as a table and as a picture."""
    scale, label = result.scale, shown(result.label)
    right = "accuracy" if scale == AUC else "RMSE"
    header = ("model", scale, "of real records", "difference", "kept", right, "of real records")
    guessed = f"By chance: AUC {CHANCE}, accuracy {Share(result.guessed)} (always the most frequent label value)."
    if scale != AUC:
        error = number(result.guessed, 4)
        guessed = f"By chance: R2 0, RMSE {error} (always the mean). Both are of the scores of the bins of {label}."
    yield TextTable(header, [_row(model, scale) for model in result.models], guessed)
    places = [model.model for model in result.models]
    series = [
        Series.at_places("trained on real records", GOOD, [drawn(model.real_auc) for model in result.models]),
        Series.at_places("trained on the release", BAD, [drawn(model.auc) for model in result.models]),
    ]
    caption = "How well each model tells the label values of real records apart, with 95 % intervals."
    if scale != AUC:
        caption = f"The share of the variance of {label} that each model predicts, with 95 % intervals."
    auc = Axis(scale, scale, "share", levels={"chance": CHANCE if scale == AUC else 0.0})
    yield Plane(Axis("model", "model"), auc, series, places, notes=[caption])


def _row(one: ModelValue, scale: str) -> tuple[str, ...]:
    both = one.accuracy, one.real_accuracy
    return (
        one.model,
        one.auc.in_words(3),
        one.real_auc.in_words(3),
        one.auc_difference.in_words(3, "+"),
        "-" if one.kept is None else str(Share(max(0.0, one.kept.value))),
        *(each.in_words(3) if scale == AUC else each.in_unit() for each in both),
    )


def drawn(interval: Interval) -> Measured:
    """Return a measured value as charts draw it."""
    return Measured(interval.value, Limits(interval.low, interval.high))


def likeness(result: Fidelity) -> TextTable:
    """Return the similarity of released and real records, in a table."""
    measures = {
        f"clustering agreement, k = {result.clusters}": (result.agreement, "more"),
        "mean difference of associations": (result.mean_difference, "less"),
        "largest difference of associations": (result.largest_difference, "less"),
        "pair total variation": (result.pair_total_variation, "less"),
        "Fréchet distance": (result.frechet_distance, "less"),
    }
    rows = [
        (name, f"{one.released:.3f}", f"{one.real:.3f}", f"{one.shuffled:.3f}", better)
        for name, (one, better) in measures.items()
        if one is not None
    ]
    header = ("measure", "release", "real records", "shuffled", "better")
    return TextTable(header, rows, f"Each compares {result.compared:,} records with as many real ones.")


def _associations(result: Fidelity) -> TextTable:
    rows = [
        (shown(each.first), shown(each.second), f"{each.released:.3f}", f"{each.real:.3f}", f"{each.other:.3f}")
        for each in result.associations
    ]
    return TextTable(("column", "column", "release", "real records", "other real records"), rows, most=_SHOWN)


def _overlay(embedding: Embedding) -> Plane:
    series = [
        Series("real records", GOOD, [Spot(x, y) for x, y in embedding.real.tolist()]),
        Series("released records", BAD, [Spot(x, y) for x, y in embedding.released.tolist()]),
    ]
    caption = (
        f"{len(embedding.real):,} real and {len(embedding.released):,} released records by t-SNE: near ones have "
        "similar values. Where only one colour is, the release has what is not in the table, or lacks what is. "
        "Directions, and how large and how far apart groups are, mean nothing."
    )
    title = "Real and released records by t-SNE"
    return Plane(Axis("", ""), Axis("map", title), series, notes=[caption], is_map=True)


def _notes(result: Fidelity) -> Iterator[str]:
    drawn = f", drawn from {result.of_records:,}," if result.of_records > result.drawn else ""
    yield (
        f"Models are trained on {result.trained:,} released and on {result.trained_on_real:,} real records{drawn} and "
        f"tested on {result.tested:,} other real records {_RELATIONS[result.tested_on]}."
    )
    if result.tested_on is Relation.UNSEEN:
        yield "No record that the release was made of has their attributes."
    if result.tested_on is Relation.RELEASED:
        yield "Since the release shows these too, models trained on it may seem better than they are."
    if result.is_masked:
        yield "Models read real records as the release masks them, and take a masked value for a value of its own."
        yield "For all else, where a masked value stands for several, each of them was drawn equally often."
    if result.clusters is None:
        yield "Clusters are not compared, because real records have none."
    else:
        yield f"k = {result.clusters} has the highest mean silhouette of clusters of real records, from 2 to 10."
    yield from notes_on(result.not_understood)
    if result.lacking:
        yield f"Not in the release: {some(list(result.lacking), _SHOWN)}."
    yield "±: 95 % intervals, from the tested records; differences are paired."
    yield "Other uses may need what these measures do not see, and they tell nothing about privacy."
    yield "What attacks achieve: aegis risk RELEASE --against TABLE --plan PLAN"


NOT_JUDGED: Final = "NOT JUDGED"

_LOOKS: Final = 2


def why_not_judged(not_understood: Mapping[str, NotUnderstood]) -> str:
    """Return the columns with too many values that are not understood, and the remedy."""
    columns = [
        f"{Share(cells.share)} of the cells in {shown(name)} (such as {_looks(cells)})"
        for name, cells in not_understood.items()
    ]
    more = f" and in {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
    return (
        f"{', '.join(columns[:_SHOWN])}{more} are not understood; state what masked values stand "
        "for (--plan, --configuration), or write values as the table has them"
    )


def notes_on(not_understood: Mapping[str, NotUnderstood]) -> Iterator[str]:
    """Yield a note for each column with values that are not understood."""
    for name, each in not_understood.items():
        cells = f"{Share(each.share)} of the cells, such as {_looks(each)}"
        yield f"Not understood in {shown(name)}, so taken to tell nothing: {cells}."


def documents_of(not_understood: Mapping[str, NotUnderstood]) -> dict[str, Any]:
    """Return values that are not understood as JSON, by column."""
    return {name: {"share": each.share, "looks": list(each.looks)} for name, each in not_understood.items()}


def _looks(each: NotUnderstood) -> str:
    return " or ".join(shown(look) for look in each.looks[:_LOOKS])
