"""The privacy required by settings, commands and questions, as domain objects."""

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from aegis_sdk import wire
from app.platform.errors import InvalidDocumentError
from app.settings import Settings, numbers_by_name
from app.tenants.model import RequiredPrivacy

_PRIVACY: TypeAdapter[dict[str, float]] = TypeAdapter(wire.Privacy)


def required_privacy(numbers: Mapping[str, float]) -> RequiredPrivacy:
    """Limits for the contract's criteria: minima where higher is better, maxima otherwise.

    Raises:
        InvalidDocumentError: there is no such criterion.
    """
    try:
        known = _PRIVACY.validate_python(dict(numbers))
    except ValidationError:
        unknown = ", ".join(sorted(numbers.keys() - wire.PRIVACY_CRITERIA.keys()))
        message = f"There is no privacy criterion {unknown}; use {', '.join(wire.PRIVACY_CRITERIA)}."
        raise InvalidDocumentError(message) from None
    return RequiredPrivacy(
        *(
            {name: limit for name, limit in sorted(known.items()) if wire.PRIVACY_CRITERIA[name] == better}
            for better in ("higher", "lower")
        )
    )


def privacy_in(text: str) -> RequiredPrivacy:
    """Limits in a text like `k=5,t=0.2`; none in an empty one.

    Raises:
        InvalidDocumentError: the text is malformed, or there is no such criterion.
    """
    try:
        return required_privacy(numbers_by_name(text))
    except ValueError as error:
        raise InvalidDocumentError(str(error)) from None


def required_by(settings: Settings) -> RequiredPrivacy:
    """The privacy that the settings require of every entry.

    Raises:
        InvalidDocumentError: they name a criterion that does not exist.
    """
    return required_privacy(settings.require_privacy or {})
