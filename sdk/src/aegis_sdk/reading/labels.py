"""The labels of an entry, and the task of an answer: the label that it is about, and the maskings of its attributes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aegis_sdk.printable import shown, some
from aegis_sdk.reading.configurations import maskings_of, most_shared
from aegis_sdk.wire import IDENTITY, Advice, CoarseAdvice, Label

_MOST_NAMES: Final = 6


def labels_of(schema: Mapping[str, Any]) -> list[str]:
    """The labels of an entry or its schema, the default one first."""
    return schema.get("labels") or [schema["label"]["name"]]


def label_of(asked: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The label that a question or a request is about, by default the entry's."""
    return str(asked.get("label") or schema["label"]["name"])


def most_joint(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> int:
    """The most that a joint measure can be: 1 for the scores of a label, otherwise its number of values less one."""
    label, columns = label_of(advice.request, schema), (schema["label"], *(schema.get("attributes") or ()))
    asked, measure = next(column for column in columns if column["name"] == label), advice.request.get("measure")
    by_scores = measure == "joint_scores" or (measure == "joint" and asked.get("scores") is not None)
    return 1 if by_scores else len(asked["domain"]) - 1


def maskings_about(
    advice: Advice | CoarseAdvice, schema: Mapping[str, Any], configuration: str | None
) -> dict[str, str]:
    """The maskings of a configuration by attribute, as in `maskings_of`, in the task of an answer.

    About another label than the default one, that one is an attribute, which all masked configurations show.
    """
    maskings, default = maskings_of(schema, configuration), schema["label"]["name"]
    label = label_of(advice.request, schema)
    if label == default or not maskings:
        return maskings
    return {default: IDENTITY} | {name: masking for name, masking in maskings.items() if name != label}


def masking_of_label(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> str | None:
    """The masking that shows the label of an answer in its best configuration, or its target; None if as it is."""
    label, asked = label_of(advice.request, schema), advice.request.get("target")
    masking = asked or maskings_of(schema, advice.configuration).get(label, IDENTITY)
    return None if masking == IDENTITY else str(masking)


def has_pairs(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has pairs of attributes, as joint measures need.

    Counts with a label are not enough, unless no configuration shares two attributes beside the labels.
    """
    labels = set(labels_of(schema))
    counted = [set(pair["attributes"]) - labels for pair in schema.get("pairs") or ()]
    if not counted or any(len(names) > 1 for names in counted):
        return bool(counted)
    most = most_shared(schema, labels)
    return (len(set[str]().union(*counted)) if most is None else most) <= 1


def label_shown(label: Label, maskings: Mapping[str, str]) -> tuple[Label, Sequence[int] | None]:
    """The default label as a configuration with these maskings shows it, with sums of its published counts.

    Returns:
        The label, and for each of its values the place of the masked one; None if it is shown as it is.
    """
    masking = next((one for one in label.maskings if one.id == maskings.get(label.name)), None)
    if masking is None:
        return label, None
    histogram = [0] * len(masking.domain)
    for place, records in zip(masking.mapping, label.histogram, strict=True):
        histogram[place] += records
    return Label(name=label.name, domain=masking.domain, histogram=histogram), masking.mapping


def task_in_words(advice: Advice | CoarseAdvice, schema: Mapping[str, Any]) -> Iterator[str]:
    """Which label an answer is about, if the entry has several or it is none of them, and what does not compete."""
    label, labels, other = label_of(advice.request, schema), labels_of(schema), advice.label
    if other is not None and other.target is not None:
        do = "configuration does" if other.left_out == 1 else "configurations do"
        competing = f": {other.left_out:,} {do} not compete" if other.left_out else ""
        yield f"about {shown(label)} as {shown(other.target)} shows it{competing}"
        return
    if other is not None and not other.listed:
        yield (
            f"about {shown(label)}, which is not a label of this entry ({some(labels, _MOST_NAMES)}): estimated from "
            "its published counts of pairs"
        )
    elif len(labels) > 1:
        yield f"about {shown(label)}, one of {len(labels)} labels of this entry: {some(labels, _MOST_NAMES)}"
    if other is not None and other.left_out:
        do, are = ("configurations do", "are") if other.left_out > 1 else ("configuration does", "is")
        has_generated = any(item.get("kind") == "generated" for item in schema.get("configurations") or ())
        generated = f" or {are} generated" if has_generated else ""
        what = f"not show {shown(label)} so that it can be compared{generated}"
        yield f"{other.left_out:,} {do} {what}, and {are} not ranked"
