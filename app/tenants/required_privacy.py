"""The privacy required by settings, commands and questions, as domain objects."""

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from aegis_sdk import wire
from app.platform.errors import InvalidDocumentError
from app.settings import Settings, limits_by_name
from app.tenants.model import RequiredPrivacy

_PRIVACY: TypeAdapter[dict[str, float]] = TypeAdapter(wire.Privacy)


def required_privacy(numbers: Mapping[str, float], unit: str | None = None) -> RequiredPrivacy:
    """Limits for the contract's criteria: minima where higher is better, maxima otherwise; `unit`: what they count.

    Raises:
        InvalidDocumentError: there is no such criterion.
    """
    try:
        known = _PRIVACY.validate_python(dict(numbers))
    except ValidationError:
        unknown = ", ".join(sorted(numbers.keys() - wire.PRIVACY_CRITERIA.keys()))
        message = f"There is no privacy criterion {unknown}; use {', '.join(wire.PRIVACY_CRITERIA)}."
        raise InvalidDocumentError(message) from None
    least, most = (
        {name: limit for name, limit in sorted(known.items()) if wire.PRIVACY_CRITERIA[name] == better}
        for better in ("higher", "lower")
    )
    return RequiredPrivacy(least, most, unit)


def privacy_in(text: str) -> RequiredPrivacy:
    """Limits in a text like `k=5,t=0.2` or `k=5,unit=person`; none in an empty one.

    Raises:
        InvalidDocumentError: the text is malformed, or there is no such criterion.
    """
    try:
        return _of_limits(limits_by_name(text))
    except ValueError as error:
        raise InvalidDocumentError(str(error)) from None


def required_by(settings: Settings) -> RequiredPrivacy:
    """The privacy that the settings require of every entry.

    Raises:
        InvalidDocumentError: they name a criterion that does not exist.
    """
    return _of_limits(settings.require_privacy or {})


def _of_limits(limits: Mapping[str, float | str]) -> RequiredPrivacy:
    unit = limits.get("unit")
    numbers = {name: float(limit) for name, limit in limits.items() if name != "unit"}
    return required_privacy(numbers, None if unit is None else str(unit))
