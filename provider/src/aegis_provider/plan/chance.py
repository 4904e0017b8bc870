"""Reads the maskings of the plan file that are left to chance: `noise`, `randomised_response`, `pram`, `shuffle`."""

from decimal import Decimal
from pathlib import Path

from aegis_provider.masking import Noise, Pram, RandomisedResponse, Shuffle
from aegis_provider.plan.element import Element


def read_noise(element: Element, _folder: Path) -> Noise:
    """`{kind: laplace, scale: 2, step: 1, lower: 0, upper: 100}`; all after `scale` may be absent."""
    fields = element.fields("kind", "scale", optional=("step", "lower", "upper"))
    kind = fields["kind"].one_of("laplace", "gaussian")
    step = fields["step"].positive() if "step" in fields else Decimal(1)
    bounds = {name: fields[name].decimal() for name in ("lower", "upper") if name in fields}
    scale = fields["scale"].positive()
    return Noise("gaussian" if kind == "gaussian" else "laplace", scale, step, bounds.get("lower"), bounds.get("upper"))


def read_randomised_response(element: Element, _folder: Path) -> RandomisedResponse:
    """`{keep: 0.8}`."""
    keep = element.fields("keep")["keep"]
    with keep.naming_faults():
        return RandomisedResponse(float(keep.decimal()))


def read_pram(element: Element, _folder: Path) -> Pram:
    """`{transition: {yes: {yes: 0.9, no: 0.1}, no: {no: 1}}}`."""
    transition = element.fields("transition")["transition"]
    rows = {
        value: {masked: float(probability.decimal()) for masked, probability in row.items()}
        for value, row in transition.items()
    }
    with transition.naming_faults():
        return Pram(rows)


def read_shuffle(element: Element, _folder: Path) -> Shuffle:
    """`{}`."""
    element.fields()
    return Shuffle()
