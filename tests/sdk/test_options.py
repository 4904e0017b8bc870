"""Parsing of options."""

import pytest

from aegis_sdk.cli.options import kinds_of, requirements_of, weights_of
from aegis_sdk.cli.terminal import InputError
from tests.for_each import for_each


def test_weights_are_numbers_by_name():
    told = [
        (None, {}),
        (["age=2"], {"age": 2}),
        (["age=2", "zip=.5"], {"age": 2, "zip": 0.5}),
        (["age=2, zip=0.5", "sex=0"], {"age": 2, "zip": 0.5, "sex": 0}),
        (["age=2", "age=2.0"], {"age": 2}),
        (['"age, in years=2",a=b=3'], {"age, in years": 2, "a=b": 3}),
        (["größe=1"], {"größe": 1}),
    ]
    assert [(texts, weights_of(texts)) for texts, _ in told] == told


@for_each("text", ["age", "=2", "age=", "age=two", "age=nan", "age=1,,zip=2", "age=1e3"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(InputError, match="--weights must be NAME=NUMBER, for example age=2, not "):
        weights_of([text])


def test_requirements_are_one_each():
    with pytest.raises(InputError, match="--require must be NAME=NUMBER, for example k=5, not 'k=5,l=2'"):
        requirements_of(["k=5,l=2"])


def test_kinds_are_named_between_commas():
    told = [(None, None), ("generated", ["generated"]), ("masked, generated", ["masked", "generated"])]
    assert [(text, kinds_of(text)) for text, _ in told] == told


@for_each("text", ["", "drawn", "masked,,generated", "masked,masked", "Masked"])
def test_what_is_no_kind_is_refused(text):
    with pytest.raises(InputError, match="--kinds must be masked or generated, or both separated by a comma, not "):
        kinds_of(text)
