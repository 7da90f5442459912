"""Tables: pandas' data frames where pandas is installed, else a small table that is read alike.

Both have table["column"], table.columns, len(table) and table.attrs["units"].
"""
import numpy as np

try:
    import pandas
except ImportError:
    pandas = None


class Table:
    """Columns of equal length by name. What is written for it works with a data frame as well."""

    def __init__(self, columns, attrs=None):
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        self.attrs = attrs or {}

    @property
    def columns(self):
        return list(self._columns)

    def __getitem__(self, key):
        """A column by its name, several by a list of names, or rows by a mask."""
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            return Table({name: self._columns[name] for name in key}, self.attrs)
        return Table({name: values[np.asarray(key)] for name, values in self._columns.items()}, self.attrs)

    def __contains__(self, name):
        return name in self._columns

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(next(iter(self._columns.values()), ()))

    def to_dict(self):
        return dict(self._columns)

    def __repr__(self):
        names, shown = self.columns, min(len(self), 20)
        cells = [[name] + [_shown(value) for value in self._columns[name][:shown]] for name in names]
        widths = [max(map(len, column)) for column in cells]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in zip(*cells)]
        return "\n".join(lines + ["%d rows x %d columns" % (len(self), len(names))])


def _shown(value):
    text = "%.6g" % value if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def make(columns, units=None):
    """A table of these columns, a dictionary of equally long sequences."""
    attrs = {"units": dict(units or {})}
    if pandas is None:
        return Table(columns, attrs)
    frame = pandas.DataFrame(columns)
    frame.attrs.update(attrs)
    return frame


def of_records(records):
    """A table of dictionaries, a row each. What a row lacks is None, or NaN among numbers."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return make({name: _column([record.get(name) for record in records]) for name in names})


def _column(values):
    there = [value for value in values if value is not None]
    kinds = {type(value) for value in there}
    if kinds and kinds <= {int, float}:
        if len(there) < len(values) or float in kinds:
            return np.array([np.nan if value is None else value for value in values], float)
        return np.array(values)
    if kinds == {bool} and len(there) == len(values):
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def units(table):
    """The units of a table's columns, by name; "1" is none."""
    return table.attrs.get("units", {})
