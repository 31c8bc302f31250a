"""Reads all tables of a directory with pyarrow: no column of words holds numbers."""

import pathlib
import re
import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet

# A number, perhaps with a unit; labels of factors and addresses are words that look like numbers.
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?( ?(ns|µs|us|ms|s|B|kB|MB|GB|[kMG]?bit/s|%))?")
WORDS = re.compile(r".*(_label|_address)")


def read(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    if path.suffix == ".arrow":
        return pyarrow.feather.read_table(path)
    return None


def faults(path, table):
    found = []
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_string(column.type) and not WORDS.fullmatch(name):
            values = [value for value in column.to_pylist() if value is not None]
            if values and all(NUMBER.fullmatch(value) for value in values):
                found.append(f"{path.name}: `{name}` is text, but holds numbers: {values[:3]}")
        if pa.types.is_unsigned_integer(column.type) and name not in ("seed", "id", "origin_id"):
            found.append(f"{path.name}: `{name}` is unsigned, so differences wrap")
    return found


def main():
    found, count = [], 0
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        table = read(path)
        if table is None:
            continue
        count += 1
        found += faults(path, table)
        if path.suffix == ".parquet":
            other = read(path.with_suffix(".arrow"))
            if table.column_names != other.column_names or table.num_rows != other.num_rows:
                found.append(f"{path.name}: Parquet and Arrow differ")
            elif table.to_pylist() != other.to_pylist():
                found.append(f"{path.name}: values of Parquet and Arrow differ")
            lines = path.with_suffix(".csv").read_text().count("\n")
            if lines < table.num_rows + 1:
                found.append(f"{path.name}: the CSV has {lines} lines for {table.num_rows} rows")
            lines = path.with_suffix(".jsonl").read_text().count("\n")
            if lines != table.num_rows:
                found.append(f"{path.name}: JSON Lines has {lines} lines for {table.num_rows} rows")
    print(f"{count} tables read")
    print("\n".join(found))
    sys.exit(bool(found))


main()
