"""Packages that a call needs although no file imports them: the library that is called does, when it is called."""

#: A call, or how one begins, and the module that it imports then.
_CALLS = {
    "pandas.read_parquet": "pyarrow",
    "pandas.read_feather": "pyarrow",
    "pandas.read_orc": "pyarrow",
    "pandas.read_hdf": "tables",
    "pandas.read_spss": "pyreadstat",
    "pandas.read_html": "lxml",
    "pandas.read_excel": "openpyxl",
    "polars.read_excel": "fastexcel",
    "passlib.hash.bcrypt.hash": "bcrypt",
    "passlib.hash.argon2.hash": "argon2",
    "networkx.draw": "matplotlib",
    "xarray.open_dataset": "netCDF4",
}
#: Methods that nothing but a table of pandas has, or a figure of plotly.
METHODS = {
    "to_parquet": ("pandas", "pyarrow"),
    "to_feather": ("pandas", "pyarrow"),
    "to_orc": ("pandas", "pyarrow"),
    "to_hdf": ("pandas", "tables"),
    "to_excel": ("pandas", "openpyxl"),
    "to_markdown": ("pandas", "tabulate"),
    "write_image": ("plotly", "kaleido"),
    "to_image": ("plotly", "kaleido"),
}
#: A call, how one of its arguments begins, and the module.
_ARGUMENTS = [
    ("sqlalchemy.create_engine", "postgresql+asyncpg:", "asyncpg"),
    ("sqlalchemy.create_engine", "postgresql+psycopg:", "psycopg"),
    ("sqlalchemy.create_engine", "postgresql+pg8000:", "pg8000"),
    ("sqlalchemy.create_engine", "postgres", "psycopg2"),
    ("sqlalchemy.create_engine", "mysql+pymysql:", "pymysql"),
    ("sqlalchemy.create_engine", "mysql", "MySQLdb"),
    ("sqlalchemy.create_engine", "mssql", "pyodbc"),
    ("sqlalchemy.create_engine", "oracle", "oracledb"),
    ("sqlalchemy.create_engine", "duckdb:", "duckdb"),
    ("bs4.BeautifulSoup", "html5lib", "html5lib"),
    ("bs4.BeautifulSoup", "lxml", "lxml"),
    ("pandas.read_csv", "s3:", "s3fs"),
    ("pandas.read_parquet", "s3:", "s3fs"),
    ("jwt.encode", "RS", "cryptography"),
    ("jwt.encode", "ES", "cryptography"),
    ("jwt.encode", "PS", "cryptography"),
    ("jwt.encode", "EdDSA", "cryptography"),
]


_WITH_ARGUMENTS = {call for call, _, _ in _ARGUMENTS}


def modules(dotted, texts):
    """What a call imports, by its name and what its arguments can be: `texts` tells that."""
    if module := _CALLS.get(dotted):
        yield module
    leaf, top = dotted.rpartition(".")[2], dotted.partition(".")[0]
    if leaf in METHODS and METHODS[leaf][0] == top:
        yield METHODS[leaf][1]
    found = texts() if dotted in _WITH_ARGUMENTS else []
    for call, start, module in _ARGUMENTS:
        if dotted == call and any(text.startswith(start) for text in found):
            yield module
            return
