from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.catalog.tables.base import Base, PackedColumns

#: The name of the row that holds the codes; each other row holds one privacy criterion, by its name.
CODES = ""


class ConfigurationTableRow(PackedColumns, Base):
    """The configurations of an entry's version as numbers: a row of codes, and a row for each privacy criterion."""

    __tablename__ = "configuration_table"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    guarantee: Mapped[str] = mapped_column(Text, primary_key=True)
