"""Parquet files with split-block filters: of DuckDB and of Arrow, and one filter alone as it stands in such a file.

DuckDB is asked for the first absent keys, of every file. It takes half a millisecond a key, so all of them are asked by
the description of the format here, which has to agree with it.
"""

import os
import sys

import duckdb
import pyarrow
import pyarrow.parquet
from xxhash import xxh64_intdigest

from common import ABSENT, FEW, answers, fold_of, print_row

SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]
PLACES = """select bloom_filter_offset, bloom_filter_length from parquet_metadata(?)
            where path_in_schema = ? order by row_group_id"""
PROBE = "select count(*) from parquet_bloom_probe(?, ?, ?) where not bloom_filter_excludes"

database = duckdb.connect()


def bits_in(filter_bytes):
    """The array after the header, whose size is a zigzag varint after the first byte."""
    size, shift, at = 0, 0, 1
    while True:
        size |= (filter_bytes[at] & 127) << shift
        shift += 7
        at += 1
        if filter_bytes[at - 1] < 128:
            break
    assert filter_bytes[0] == 0x15 and len(filter_bytes) > size // 2
    return filter_bytes[len(filter_bytes) - size // 2 :]


def has(bits, digest):
    block = (digest >> 32) * (len(bits) // 32) >> 32
    for i, salt in enumerate(SALTS):
        bit = (digest & 0xFFFFFFFF) * salt % 2**32 >> 27
        if not bits[32 * block + 4 * i + bit // 8] >> bit % 8 & 1:
            return False
    return True


def filters_of(path, column):
    with open(path, "rb") as file:
        everything = file.read()
    return [everything[at : at + size] for at, size in database.execute(PLACES, [path, column]).fetchall()]


def print_answers(name, path, count, original, column="k", filters=None, integer_bytes=None):
    """`integer_bytes`: the keys are integers of this width, from 0 on, and not text."""
    arrays = [bits_in(one) for one in filters or filters_of(path, column)]

    def absent(number):
        return ABSENT + number if integer_bytes else f"absent-{number}"

    def may_have(key):
        digest = xxh64_intdigest(key.to_bytes(integer_bytes, "little") if integer_bytes else key.encode())
        return any(has(bits, digest) for bits in arrays)

    columns = answers(may_have, absent)
    asked = [i for i in range(FEW) if database.execute(PROBE, [path, column, absent(i)]).fetchone()[0]]
    assert columns[2:] == [str(len(asked)), fold_of(asked)]
    form, options = ("sbbf", "-") if filters else ("parquet", f"column={column}")
    prefix, key_form = ("", f"int{8 * integer_bytes}le") if integer_bytes else ("key-", "utf8")
    print_row(name, form, options, prefix, count, columns, original, key_form)


def place_of(name):
    return os.path.join(sys.argv[1], name)


def make_with_duckdb(name):
    """DuckDB gives a filter to a column that has a dictionary, so each key is in it eight times."""
    path = place_of(name)
    database.execute(
        f"""copy (select 'key-' || (i // 8) as k, (i // 8)::bigint as n from range(8000) t(i)) to '{path}'
            (format parquet, row_group_size 2048, bloom_filter_false_positive_ratio 0.01, compression zstd)"""
    )
    print_answers(name, path, 1000, "duckdb " + duckdb.__version__)


def make_with_arrow(name, rows_of_group, alone=None):
    path = place_of(name)
    table = pyarrow.table({"n": pyarrow.array(range(1000), pyarrow.int64()), "k": [f"key-{i}" for i in range(1000)]})
    size = {"ndv": rows_of_group, "fpp": 0.01}
    pyarrow.parquet.write_table(
        table, path, row_group_size=rows_of_group, compression="zstd", bloom_filter_options={"k": size, "n": size}
    )
    original = "pyarrow " + pyarrow.__version__
    if alone is None:
        return print_answers(name, path, 1000, original)
    (only,) = filters_of(path, "k")
    with open(place_of(alone), "wb") as file:
        file.write(only)
    print_answers(alone, path, 1000, original, filters=[only])
    os.remove(path)


def make_of_integers(name, kind, integer_bytes):
    path = place_of(name)
    database.execute(
        f"""copy (select (i // 8)::{kind} as n from range(4000) t(i)) to '{path}'
            (format parquet, row_group_size 2048, bloom_filter_false_positive_ratio 0.01, compression zstd)"""
    )
    print_answers(name, path, 500, "duckdb " + duckdb.__version__, "n", integer_bytes=integer_bytes)


make_with_duckdb("parquet.duckdb.parquet")
make_of_integers("parquet.int32.parquet", "integer", 4)
make_of_integers("parquet.int64.parquet", "bigint", 8)
make_with_arrow("parquet.arrow.parquet", 300)
make_with_arrow("whole.parquet", 1000, "parquet.arrow.filter")
