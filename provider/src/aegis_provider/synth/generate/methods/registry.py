"""The methods of generation by name. Each is imported on first use."""

from collections.abc import Callable, Mapping
from typing import Final

from aegis_provider.errors import PlanError, nearest, needs_extra
from aegis_provider.synth.generate.methods.method import Knobs, Method


def _cart() -> Method:
    from aegis_provider.synth.generate.methods.sequential import Cart  # noqa: PLC0415 - an extra, and slow to load

    return Cart()


def _marginals() -> Method:
    from aegis_provider.synth.generate.methods.marginals import Marginals  # noqa: PLC0415 - an extra, and slow to load

    return Marginals()


def _wgan_gp() -> Method:
    from aegis_provider.synth.generate.methods.wgan_gp import WganGp  # noqa: PLC0415 - an extra, and slow to load

    return WganGp()


def _trees() -> Method:
    from aegis_provider.synth.generate.methods.sequential import Trees  # noqa: PLC0415 - an extra, and slow to load

    return Trees()


METHODS: Final[Mapping[str, Callable[[], Method]]] = {
    "trees": _trees,
    "wgan-gp": _wgan_gp,
    "cart": _cart,
    "mbi": _marginals,
}
"""The constructors of methods by name."""

_USUAL: Final = {"trees": Knobs(privacy=5.0)}


def usual_knobs(name: str) -> Knobs:
    """Return the default parameters of a method: for `trees` some privacy, which costs it little."""
    return _USUAL.get(name, Knobs())


def method_of(name: str) -> Method:
    """Return the method with this name.

    Raises:
        PlanError: The name is unknown.
        AegisError: The extra `synth` is not installed.
    """
    if name not in METHODS:
        raise PlanError(f"unknown method {name!r}; {nearest(name, list(METHODS))}")
    with needs_extra("synth"):
        return METHODS[name]()
