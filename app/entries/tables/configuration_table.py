from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, PackedColumns

#: The name of the row that holds the codes.
CODES = ""

#: The first character of the names of rows with what entries of format 2 declare besides. Each other row holds one
#: privacy criterion, by its name, which is a word.
DECLARED = "/"


class ConfigurationTableRow(PackedColumns, Base):
    """The configurations of an entry's version as numbers.

    There is a row of codes, a row for each privacy criterion, and one for each array of what is declared besides.
    """

    __tablename__ = "configuration_table"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    guarantee: Mapped[str] = mapped_column(Text, primary_key=True)
