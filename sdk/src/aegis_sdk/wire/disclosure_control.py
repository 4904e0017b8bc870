"""What a provider did to the counts of its entry, so that they give away less."""

from typing import Annotated, Literal

from pydantic import Field

from aegis_sdk.wire.attribute import RoundingBase
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.values import COUNT_MAX, PositiveNumber


class DisclosureControl(Request):
    """The controls that all count tables of an entry went through; each table declares its own noise and rounding."""

    min_cell: Annotated[int, Field(ge=2, le=COUNT_MAX)] | None = Field(
        default=None, description="Before any rounding, no count but 0 was below this: masked values were merged"
    )
    rounded_to: RoundingBase | None = Field(
        default=None, description="Every count was rounded at random to a multiple of this base, up or down"
    )
    epsilon: PositiveNumber | None = Field(
        default=None,
        description="Budget of differential privacy that all tables took together; neighbouring tables differ by one "
        "record more or less",
    )
    split: Literal["equal", "cube_root"] | None = Field(
        default=None,
        description="How epsilon was split over the tables: in equal parts, or by the cube root of their cells",
    )
