"""What all masking functions share."""

from typing import ClassVar, Protocol

from aegis_sdk.provider.values import Domain


class MaskingFunction(Protocol):
    """A masking function `M`: gives every value of `Dom(A)` a masked value."""

    name: ClassVar[str]

    def parameters(self) -> dict[str, object]:
        """What the published entry says of the function, as JSON values."""
        ...

    def mask(self, domain: Domain) -> list[str]:
        """The masked text of each value. Raises `UnmaskableValueError` for a value that has none."""
        ...
