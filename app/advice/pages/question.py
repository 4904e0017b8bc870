"""The form of a question about an entry."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from aegis_advisor.measures import MEASURES, OFFERED
from aegis_sdk import wire
from app.advice.model import EXPECTED, PRICE, SUPPRESSED, USUAL
from app.advice.service.views import COARSE_WEIGHTS
from app.entries.pages.entry_index import About
from app.pages.commands import Commands, aegis, curl
from app.pages.forms import Form, number, written
from app.pages.viewers import Viewer
from app.platform.errors import Fault
from app.tenants.model import PERSON

#: The weights of a slider: those allowed in all questions. Its initial weight is 1.
STEPS: Final = COARSE_WEIGHTS
_USUAL: Final = STEPS.index(1.0)

#: The largest number of attributes with sliders; of more, people name those that they want.
SLIDERS: Final = 60

#: The measures in words; the API reference has their formulas.
MEASURE_WORDS: Final[Mapping[str, str]] = {
    "joint": "utility of all attributes together, for a linear model",
    "joint_interactions": "the same with interactions of two attributes",
    "joint_scores": "utility of all attributes together, for a label that is a number or has ordered classes",
    "correlation_ratio": "share of the variance of such a label that each attribute explains",
    "mutual_information": "bits about the label in each attribute",
    "normalised_mutual_information": "share of the bits in each attribute that are about the label",
    "chi_square": "distance of each from independence of the label",
    "g1": "pairs of records that contradict each other",
    "g2": "records that contradict another one",
    "g3": "records that a rule by each gets wrong",
    "theils_u": "uncertainty about the label that each removes",
    "goodman_kruskal_lambda": "wrong guesses that each avoids",
    "goodman_kruskal_tau": "wrong guesses that each avoids, if guesses are proportional",
    "cramers_v": "association of each with the label",
    "cramers_v_corrected": "the same, corrected for chance",
    "jensen_shannon": "distance of each from independence of the label, in bits",
}

#: The most frequent requirements, which come first in the form.
_FIRST: Final = ("k", "l", "t")


@dataclass(frozen=True, slots=True)
class Slider:
    """An attribute in the form: whether it is scored, and its weight.

    Attributes:
        step: the place of its weight in `STEPS`.
        other: its weight if not in `STEPS`, for a number field in place of the slider.
    """

    name: str
    is_chosen: bool
    step: int
    other: str

    @property
    def weight(self) -> str:
        """Its weight in words."""
        return f"{STEPS[self.step]:g}"


@dataclass(frozen=True, slots=True)
class Labels:
    """The columns that a question about a version can be about: those that it lists, and those that pairs allow.

    `targets`: by column, its maskings that can be predicted instead.
    """

    listed: Sequence[str]
    estimated: Sequence[str] = ()
    targets: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def default(self) -> str:
        """The label of a question that names none."""
        return self.listed[0]

    @property
    def others(self) -> Sequence[str]:
        """All but the default one."""
        return [*self.listed[1:], *self.estimated]

    @property
    def in_words(self) -> dict[str, str]:
        """Each in words by its name; empty if there are no others."""
        words = {name: name for name in self.listed}
        words |= {name: f"{name} (estimated from pairs)" for name in self.estimated}
        return words if self.others else {}


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """The form of a question.

    Attributes:
        measures: the two groups of measures by title: words by measure id.
        unweighted: the joint measures, which need equal weights.
        labels: the columns that can be the label, in words; empty if only one can.
        label: the chosen one; `target`: its masking that is to be predicted, if the question has one.
        targets: by label, the maskings to choose from.
        sliders: the attributes, unless there are too many.
        named: otherwise, the named attributes, one on each line.
        weighted: and the weights other than 1, one on each line.
        criteria: the required numbers by privacy criterion; empty texts for none.
        bias_correction: as in the address; empty for the measure's default.
        axes: the axes that a frontier can have besides utility, in words; `frontier`: the chosen ones.
        faults: the first fault of each field, by `measure`, `attributes`, `weights` and `require-` with a criterion.
    """

    measures: Mapping[str, Mapping[str, str]]
    unweighted: tuple[str, ...]
    measure: str
    sliders: tuple[Slider, ...]
    named: str
    weighted: str
    attributes: int
    criteria: Mapping[str, str]
    labels: Mapping[str, str]
    label: str
    target: str
    targets: Mapping[str, Sequence[str]]
    has_generated: bool
    wants_generated: bool
    wants_people: bool
    bias_correction: str
    axes: Mapping[str, str]
    frontier: list[str]
    faults: Mapping[str, str]


def question_form(
    about: About, names: Sequence[str], labels: Labels, asked: Form, faults: Sequence[Fault] = ()
) -> QuestionForm:
    """The form for an entry, filled in from the given fields. Where the measure takes no weights, 0 is not ticked.

    If other labels can be asked about, the default one can be ticked, too: then it is an attribute.
    """
    measure = asked.text("measure") or about.measure
    names = [labels.default, *names] if labels.others else names
    unweighted = tuple(name for name, one in MEASURES.items() if one.is_joint)
    omitted = {name for name in names if measure in unweighted and _weight(asked, name) == 0}
    chosen = frozenset(asked.texts("attributes") or names) - omitted
    few = len(names) <= SLIDERS
    words_of = {name: f"{name}: {MEASURE_WORDS.get(name, measure.formula)}" for name, measure in MEASURES.items()}
    # Those with any promise, the most frequently required first.
    vouched = {criterion.name for criterion in about.vouched}
    criteria = dict.fromkeys((*_FIRST, *wire.PRIVACY_CRITERIA))
    given = () if few else [f"{name}={weight}" for name in names if (weight := asked.text(f"weight-{name}"))]
    return QuestionForm(
        measures={
            "Offered first": {name: words for name, words in words_of.items() if name in OFFERED},
            "Classical": {name: words for name, words in words_of.items() if name not in OFFERED},
        },
        unweighted=unweighted,
        measure=measure,
        sliders=tuple(_slider(asked, name, is_chosen=name in chosen) for name in names) if few else (),
        named="" if few else "\n".join(asked.texts("attributes")) or asked.text("named"),
        weighted="\n".join(given) or asked.text("weighted"),
        attributes=len(names),
        criteria={name: asked.text(f"require-{name}") for name in criteria if name in vouched or name == "k"},
        labels=labels.in_words,
        label=asked.text("label") or labels.default,
        target=asked.text("target"),
        targets=labels.targets,
        has_generated=about.generated > 0,
        wants_generated="generated" in asked.texts("kinds"),
        wants_people=asked.text("unit") == PERSON,
        bias_correction=asked.text("bias_correction"),
        axes=_axes(about, vouched, asked.texts("frontier")),
        frontier=asked.texts("frontier"),
        faults=_first_of_each_field(faults),
    )


def _axes(about: About, vouched: AbstractSet[str], chosen: Sequence[str]) -> dict[str, str]:
    """The axes of a frontier besides utility, in words, by name; chosen ones in any case."""
    words = {name: name for name in wire.PRIVACY_CRITERIA if name in vouched}
    words[SUPPRESSED] = "records left out"
    words |= {EXPECTED: "what a model should reach"} if MEASURES[about.measure].is_joint else {}
    words |= {PRICE: f"price in {about.currency}"} if about.currency else {}
    return words | {name: name for name in chosen if name not in words}


def _first_of_each_field(faults: Sequence[Fault]) -> dict[str, str]:
    by_field: dict[str, str] = {}
    for fault in faults:
        field, _, rest = fault.pointer.strip("/").partition("/")
        by_field.setdefault(f"require-{rest}" if field == "require" and rest else field, fault.detail)
    return by_field


def _slider(asked: Form, name: str, *, is_chosen: bool) -> Slider:
    weight = number(asked.text(f"weight-{name}"))
    if weight is None:
        return Slider(name, is_chosen, _step(asked, name), "")
    if isinstance(weight, float) and weight in STEPS:
        return Slider(name, is_chosen, STEPS.index(weight), "")
    return Slider(name, is_chosen, _USUAL, asked.text(f"weight-{name}"))


def question_members(form: Form, names: Sequence[str], default: str = "") -> dict[str, Any]:
    """The members of the question in a form, in the contract's names, unchecked.

    Args:
        form: the form, which may have a box for each column; that of the label is ignored.
        names: the attributes of the entry.
        default: its default label, which is an attribute if the form names another label.
    """
    label = form.text("label") or default
    names = [name for name in (default, *names) if name != label]
    chosen = [name for name in form.texts("attributes") if name != label] or _lines(form.text("named"))
    has_boxes = any(form.has(f"step-{name}") for name in names)
    # The contract refuses an empty selection.
    is_selection = (chosen or has_boxes) and frozenset(chosen) != frozenset(names)
    weights = {name: weight for name in chosen or names if (weight := _weight(form, name)) != 1}
    for line in _lines(form.text("weighted")):  # such as age=2; the name may contain =
        name, _, weight = line.rpartition("=")
        weights[name.strip() or line] = number(weight.strip()) if name else ""
    measure = MEASURES.get(form.text("measure"))
    if has_boxes and measure is not None and measure.is_joint:
        weights = {}  # the page does not show them
    required = {name: number(form.text(f"require-{name}")) for name in wire.PRIVACY_CRITERIA}
    return {
        "measure": form.text("measure"),
        "label": label if label != default else None,
        "target": form.text("target") or None,
        **({"attributes": chosen} if is_selection else {}),
        "weights": weights or None,
        "require": {name: limit for name, limit in required.items() if limit is not None} or None,
        "unit": form.text("unit") or None,
        "kinds": ["masked", "generated"] if "generated" in form.texts("kinds") else ["masked"],
        "bias_correction": {"true": True, "false": False}.get(form.text("bias_correction")),
    }


def _weight(form: Form, name: str) -> object:
    """A weight: the number in an address, or that of its slider; 1 by default."""
    given = number(form.text(f"weight-{name}"))
    return STEPS[_step(form, name)] if given is None else given


def _step(form: Form, name: str) -> int:
    """The place of a slider in `STEPS`."""
    step = form.text(f"step-{name}")
    return int(step) if step in map(str, range(len(STEPS))) else _USUAL


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def question_link(entry_id: str, question: wire.AdviceRequest) -> str:
    """The address of the form with this question about an entry."""
    fields = [("measure", question.measure or USUAL), *(("attributes", name) for name in question.attributes or ())]
    fields += [(f"weight-{name}", written(weight)) for name, weight in (question.weights or {}).items()]
    fields += [(f"require-{name}", written(limit)) for name, limit in (question.require or {}).items()]
    fields += [("kinds", kind) for kind in question.kinds if kind == "generated"]
    fields += [] if question.unit is None else [("unit", question.unit)]
    named = (("label", question.label), ("target", question.target))
    fields += [(name, text) for name, text in named if text is not None]
    fields += [("frontier", axis) for axis in question.frontier or ()]
    measure, corrected = MEASURES.get(question.measure or USUAL), question.bias_correction
    if measure is not None and corrected is not None and corrected != measure.corrected_by_default:
        fields.append(("bias_correction", str(corrected).lower()))
    return f"/entries/{entry_id}/ask?{urlencode(fields)}"


def question_commands(
    viewer: Viewer, entry_id: str, question: wire.AdviceRequest, names: Sequence[str] = ()
) -> Commands:
    """Commands that ask the same about an entry with these attributes. A weight of 0 omits an attribute."""
    chosen = question.attributes
    weights = dict(question.weights or {}) | {name: 0.0 for name in names if chosen and name not in chosen}
    options: list[str] = []
    named = (("--measure", question.measure), ("--label", question.label), ("--target", question.target))
    for option, text in named:
        options += [] if text is None else [option, text]
    for option, numbers in (("--require", question.require), ("--weights", weights)):
        options += [word for name, value in (numbers or {}).items() for word in (option, f"{name}={written(value)}")]
    options += ["--kinds", "masked,generated"] if "generated" in question.kinds else []
    options += [] if question.unit is None else ["--require", f"unit={question.unit}"]
    options += [] if question.frontier is None else ["--frontier", ",".join(question.frontier)]
    members = {"measure", "label", "target", "attributes", "weights", "require", "kinds", "unit", "frontier"}
    body = question.model_dump(include=members, exclude_none=True) | {"limit": None}
    return Commands(
        (aegis("advise", entry_id, *options),) if len(weights) <= SLIDERS else (),
        (curl(viewer, f"/v1/entries/{entry_id}/advice", body=body),),
    )


def advice_commands(
    viewer: Viewer, advice_id: str, entry_id: str, question: wire.AdviceRequest, names: Sequence[str] = ()
) -> Commands:
    """Commands that ask the same, as in `question_commands`, and the one that reads the advice."""
    asking = question_commands(viewer, entry_id, question, names)
    return Commands(asking.aegis, (*asking.curl, curl(viewer, f"/v1/advice/{advice_id}")))
