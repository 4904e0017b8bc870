"""The methods of generation by their names. Each is imported only when it is asked for."""

from collections.abc import Callable, Mapping
from typing import Final

from aegis_provider.errors import PlanError, nearest
from aegis_provider.extras import needs_extra
from aegis_provider.generate.methods.method import Method


def _cart() -> Method:
    from aegis_provider.generate.methods.cart import Cart  # noqa: PLC0415 - an extra, and slow to load

    return Cart()


def _marginals() -> Method:
    from aegis_provider.generate.methods.marginals import Marginals  # noqa: PLC0415 - an extra, and slow to load

    return Marginals()


def _wgan_gp() -> Method:
    from aegis_provider.generate.methods.wgan_gp import WganGp  # noqa: PLC0415 - an extra, and slow to load

    return WganGp()


def _trees() -> Method:
    from aegis_provider.generate.methods.trees import Trees  # noqa: PLC0415 - an extra, and slow to load

    return Trees()


METHODS: Final[Mapping[str, Callable[[], Method]]] = {
    "wgan-gp": _wgan_gp,
    "cart": _cart,
    "mbi": _marginals,
    "trees": _trees,
}
"""By its name, what makes a method."""


def method_of(name: str) -> Method:
    """Return the method of that name.

    Raises:
        PlanError: There is none.
        AegisError: The extra `synth` is not installed.
    """
    if name not in METHODS:
        raise PlanError(f"unknown method {name!r}; {nearest(name, list(METHODS))}")
    with needs_extra("synth"):
        return METHODS[name]()
