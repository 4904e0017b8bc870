from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base


class CompatibleRevisionRow(Base):
    """A revision of the schema whose version of the service works with the schema as it is now."""

    __tablename__ = "compatible_revision"

    revision: Mapped[str] = mapped_column(Text, primary_key=True)
