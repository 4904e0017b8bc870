"""`masked_table`: the values of a column of another table, which was masked elsewhere."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from aegis_provider.masking.function import Function
from aegis_provider.yaml_file import Element


@dataclass(frozen=True)
class MaskedTable(Function):
    """The masked values of a table that was masked elsewhere, for example by `aegis independence`.

    There is no mapping. Only the column's joint counts with the label are used.

    Attributes:
        file: The path of that table.
        column: The column in it; empty for the column with the attribute's name.
    """

    name: ClassVar[str] = "masked_table"
    file_keys: ClassVar[tuple[str, ...]] = ("file",)
    file: Path
    column: str = ""

    @classmethod
    def read(cls, parameters: Element) -> "MaskedTable":
        """Read `{file: masked.csv, column: age}`; the column is optional."""
        fields = parameters.fields("file", optional=("column",))
        column = fields["column"].name() if "column" in fields else ""
        # The absolute path, because a plan written to another directory names the same file differently.
        return cls(fields["file"].file().resolve(), column)

    def parameters(self) -> dict[str, object]:
        """Return the column if its name differs from the attribute's; the path of the file stays private."""
        return {"column": self.column} if self.column else {}

    def describe(self) -> str:
        """Return words such as `those of masked.csv, a table masked elsewhere`."""
        column = f"column {self.column} of " if self.column else ""
        return f"those of {column}{self.file.name}, a table masked elsewhere"
