"""A table with every kind of value that engines write differently, and a plan for it."""

import duckdb

COLUMNS = {
    "age": "INTEGER",
    "Income": "DOUBLE PRECISION",
    "ratio": "REAL",
    "member": "BOOLEAN",
    "since": "DATE",
    "seen": "TIMESTAMP",
    "price": "DECIMAL(8,2)",
    "city": "VARCHAR",
    'it\'s "odd"': "VARCHAR",
    "y": "VARCHAR",
}
PLAN = """
label: y
attributes:
  age: {maskings: {tens: {bucketize: {width: 10}}}}
  Income: {discretize: {rule: equal_width, width: 0.1}, maskings: {half: {bucketize: {width: 0.5}}}}
  ratio: {maskings: {ones: {round: {to: 1}}}}
  member: {}
  since: {maskings: {year: {blur: {keep: 4}}}}
  seen: {}
  price: {discretize: {rule: equal_frequency, bins: 4}}
  city: {maskings: {first: {blur: {keep: 1}}}}
  "it's \\"odd\\"": {}
configurations:
  fine: {}
  coarse: {age: tens, Income: half, ratio: ones, since: year, seen: drop, city: first}
"""


def records():
    """Yield records with every kind of value that engines write differently, including missing ones."""
    for n in range(60):
        yield (
            None if n % 11 == 0 else n % 40,
            [None, 0.3, 0.1, 1e20 / 1e19, -0.2, float("nan"), 2.5, 1.0][n % 8],
            [None, 0.1, 2.0, -1.5e-7][n % 4],
            [None, True, False][n % 3],
            [None, "2024-02-29", "1999-12-31"][n % 3],
            ["2024-02-29 12:30:00", "1999-12-31 00:00:00.5"][n % 2],
            f"{n % 7}.{n % 10}0",
            ["", None, "Wien", "wien", "Łódź", "a,b", "'"][n % 7],
            ["NULL", "true", " "][n % 3],
            "yes" if n % 5 else "no",
        )


def definition(names=COLUMNS):
    return ", ".join('"{}" {}'.format(name.replace('"', '""'), COLUMNS[name]) for name in names)


def write_parquet(path):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({definition()})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(COLUMNS))})", list(records()))
        connection.sql("FROM t").write_parquet(str(path))
