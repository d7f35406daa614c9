"""R files for tests, without R: objects as R serialises them."""

from pathlib import Path

import numpy as np
from rdata.parser import CharFlags, RData, RExtraInfo, RObject, RObjectInfo, RObjectType, RVersions
from rdata.unparser import unparse_file

NIL = RObject(RObjectInfo(RObjectType.NILVALUE, False, False, False, 0, 0), None, None)
NA_INT = -(2**31)


def _object(kind, value, attributes=None, *, tag=None, gp=0):
    pairs = None if not attributes else r_pairs(attributes)
    is_object = bool(attributes) and "class" in attributes
    info = RObjectInfo(kind, is_object, pairs is not None, tag is not None, gp, 0)
    return RObject(info, value, pairs, tag)


def r_pairs(named):
    """Return a pairlist of objects by name."""
    rest = NIL
    for name, value in reversed(named.items()):
        symbol = _object(RObjectType.SYM, _char(name))
        rest = _object(RObjectType.LIST, (value, rest), tag=symbol)
    return rest


def _char(text, encoding="utf-8", flag=CharFlags.UTF8):
    if text is None:
        return _object(RObjectType.CHAR, None)
    return _object(RObjectType.CHAR, text.encode(encoding), gp=flag)


def r_texts(*texts, encoding="utf-8", flag=CharFlags.UTF8, **attributes):
    chars = [_char(text, encoding, flag) for text in texts]
    return _object(RObjectType.STR, chars, attributes)


def r_numbers(*numbers, **attributes):
    return _object(RObjectType.REAL, np.array(numbers, dtype=float), attributes)


def r_whole(*numbers, **attributes):
    filled = [NA_INT if number is None else number for number in numbers]
    return _object(RObjectType.INT, np.array(filled, dtype=np.int32), attributes)


def r_logical(*values):
    filled = [NA_INT if value is None else int(value) for value in values]
    masked = np.ma.masked_equal(np.array(filled, dtype=np.int32), NA_INT)
    return _object(RObjectType.LGL, masked.astype(bool))


def r_factor(codes, levels, *, ordered=False):
    classes = r_texts("ordered", "factor") if ordered else r_texts("factor")
    return r_whole(*codes, **{"levels": r_texts(*levels), "class": classes})


def r_list(values, **attributes):
    return _object(RObjectType.VEC, list(values), attributes)


def r_frame(columns, n_records=None):
    n = n_records or len(next(iter(columns.values())).value)
    names = {"names": r_texts(*columns), "class": r_texts("data.frame")}
    return r_list(columns.values(), **names, **{"row.names": r_whole(None, -n)})


def r_short(kind, state):
    """A vector that R stores in short: its class, its state, and no attributes."""
    symbol = _object(RObjectType.SYM, _object(RObjectType.CHAR, kind, gp=64))
    name = _object(RObjectType.LIST, (symbol, NIL))
    return _object(RObjectType.ALTREP, (name, state, NIL))


def r_file(path, columns, **others):
    """Write a data frame to an .rds file, or with others to an .rdata file."""
    found, name = r_frame(columns), str(path)
    if not name.lower().endswith(".rds"):
        found = r_pairs({"people": found, **others})
    return write_object(path, found)


def write_object(path, found, *, encoding="UTF-8", **options):
    version = RVersions(3, 0x40301, 0x30500)
    kind = "rds" if str(path).lower().endswith(".rds") else "rda"
    unparse_file(Path(path), RData(version, RExtraInfo(encoding), found), file_type=kind, **options)
    return str(path)
