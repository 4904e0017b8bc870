"""`masked_table`: the values of a column of another table, which was masked elsewhere."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from aegis_provider.masking.function import Function
from aegis_provider.yaml_file import Element


@dataclass(frozen=True)
class MaskedTable(Function):
    """What the records have in a table that was masked elsewhere, as by `aegis independence`.

    What became of a value is not said by any mapping: only what the column holds together with the label counts.

    Attributes:
        file: that table.
        column: the one in it, empty for that of the attribute's name.
    """

    name: ClassVar[str] = "masked_table"
    file_keys: ClassVar[tuple[str, ...]] = ("file",)
    file: Path
    column: str = ""

    @classmethod
    def read(cls, parameters: Element) -> "MaskedTable":
        """`{file: masked.csv, column: age}`; the column may be absent."""
        fields = parameters.fields("file", optional=("column",))
        column = fields["column"].name() if "column" in fields else ""
        # The whole path, since a plan that is written elsewhere names the same file in another way.
        return cls(fields["file"].file().resolve(), column)

    def parameters(self) -> dict[str, object]:
        """The column, where it has another name than the attribute; the place of the file concerns nobody else."""
        return {"column": self.column} if self.column else {}

    def describe(self) -> str:
        """`those of masked.csv, a table masked elsewhere`."""
        column = f"column {self.column} of " if self.column else ""
        return f"those of {column}{self.file.name}, a table masked elsewhere"
