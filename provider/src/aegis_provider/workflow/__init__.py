"""From a bare table to a release: all steps in order, in a folder that records the finished ones."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aegis_provider.workflow.aim import USUAL, Aim
    from aegis_provider.workflow.card import Card
    from aegis_provider.workflow.released import Released
    from aegis_provider.workflow.releasing import release

__all__ = ["USUAL", "Aim", "Card", "Released", "release"]


def __getattr__(name: str) -> object:
    """Import the names on first use: handing over needs the folder and the cards, but not `release`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aegis_provider.workflow import aim, releasing  # noqa: PLC0415

    return next(getattr(module, name) for module in (aim, releasing) if hasattr(module, name))
