"""One real thing with each package of the runtime: what its users would notice if it were broken. Each gives `True`, or what
it gave instead."""

import io
import struct
import zlib

WORK = {}


def of(name):
    def keep(function):
        WORK[name] = function
        return function

    return keep


def same(found, expected):
    return True if found == expected else repr(found)


def png_size(data):
    """Width and height of a PNG whose every chunk has the right check sum, and more than one colour."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, pixels, size = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    assert len(set(zlib.decompress(pixels))) > 2, "one colour"
    return size


@of("attrs")
def _():
    import attrs

    @attrs.define
    class Point:
        x: int = attrs.field(validator=attrs.validators.instance_of(int))

    return same(attrs.asdict(Point(1)), {"x": 1})


@of("beautifulsoup4")
def _():
    import bs4

    return same(bs4.BeautifulSoup("<p>a<b>c</b></p>", "html.parser").b.text, "c")


@of("charset-normalizer")
def _():
    import charset_normalizer

    text = "Größere Übungen für ältere Hörer: ähnlich schön, überall möglich."
    return same(str(charset_normalizer.from_bytes(text.encode("cp1252")).best()), text)


@of("cloudpickle")
def _():
    import pickle

    import cloudpickle

    return same(pickle.loads(cloudpickle.dumps(lambda x: x + 1))(1), 2)


@of("contourpy")
def _():
    import contourpy

    lines = contourpy.contour_generator(z=[[0.0, 0.0], [1.0, 1.0]]).lines(0.5)
    return same(lines[0].tolist(), [[0.0, 0.5], [1.0, 0.5]])


@of("cycler")
def _():
    from cycler import cycler

    return same([step["c"] for step in cycler(c="rg") * 2], ["r", "g"] * 2)


@of("defusedxml")
def _():
    import defusedxml.ElementTree
    from defusedxml.common import EntitiesForbidden

    try:
        defusedxml.ElementTree.fromstring('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    except EntitiesForbidden:
        return same(defusedxml.ElementTree.fromstring("<a><b/></a>").tag, "a")
    return "an entity was taken"


@of("et_xmlfile")
def _():
    from et_xmlfile import xmlfile

    out = io.BytesIO()
    with xmlfile(out) as file, file.element("a"):
        file.write("b")
    return same(out.getvalue(), b"<a>b</a>")


@of("fonttools")
def _():
    from fontTools.ttLib import TTFont
    import matplotlib

    font = TTFont(matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans.ttf")
    return same(font.getBestCmap()[ord("A")], "A")


@of("formulaic")
def _():
    import formulaic
    import pandas

    matrix = formulaic.model_matrix("a + b", pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    return same(matrix.values.tolist(), [[1.0, 1.0, 0.0], [1.0, 2.0, 1.0]])


@of("html5lib")
def _():
    import html5lib

    tree = html5lib.parse("<p>a<p>b", namespaceHTMLElements=False)
    return same([p.text for p in tree.iter("p")], ["a", "b"])


@of("interface_meta")
def _():
    from interface_meta import InterfaceMeta

    class Base(metaclass=InterfaceMeta):
        def f(self):
            return 1

    return same(Base().f(), 1)


@of("Jinja2")
def _():
    import jinja2

    return same(jinja2.Template("{% for x in xs %}{{ x }}{% endfor %}").render(xs=[1, 2]), "12")


@of("joblib")
def _():
    import joblib

    joblib.dump({"a": [1]}, "/tmp/kept")
    doubled = joblib.Parallel(n_jobs=1)(joblib.delayed(lambda x: 2 * x)(x) for x in (1, 2))
    return same((doubled, joblib.load("/tmp/kept")), ([2, 4], {"a": [1]}))


@of("kiwisolver")
def _():
    import kiwisolver

    x, solver = kiwisolver.Variable("x"), kiwisolver.Solver()
    solver.addConstraint(2 * x == 6)
    solver.updateVariables()
    return same(x.value(), 3.0)


@of("lxml")
def _():
    from lxml import etree

    tree = etree.fromstring("<a><b c='1'/><b c='2'><d>x</d></b></a>")
    sheet = etree.XSLT(etree.fromstring(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
        "<xsl:template match='/'><r><xsl:value-of select='//d'/></r></xsl:template></xsl:stylesheet>"
    ))
    return same((tree.xpath("//b[@c=2]/d/text()"), str(sheet(tree)).splitlines()[-1]), (["x"], "<r>x</r>"))


@of("MarkupSafe")
def _():
    import markupsafe

    return same(str(markupsafe.escape("<&>")), "&lt;&amp;&gt;")


@of("matplotlib")
def _():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 3), dpi=100)
    axes.plot([1, 2, 3], [1, 4, 9], label="squares")
    axes.set_title("a title with $x^2$")
    axes.legend()
    out, drawing = io.BytesIO(), io.StringIO()
    figure.savefig(out, format="png")
    figure.savefig(drawing, format="svg")
    return same((png_size(out.getvalue()), plt.get_backend().lower(), "<svg" in drawing.getvalue()), ((400, 300), "agg", True))


@of("more-itertools")
def _():
    import more_itertools

    return same(list(more_itertools.chunked([1, 2, 3], 2)), [[1, 2], [3]])


@of("mpmath")
def _():
    import mpmath

    with mpmath.workdps(40):
        return same(str(mpmath.pi), "3.141592653589793238462643383279502884197")


@of("narwhals")
def _():
    import narwhals
    import pandas

    frame = narwhals.from_native(pandas.DataFrame({"a": [1, 2], "b": [3, 4]}))
    return same(frame.select(narwhals.col("b").sum()).to_native()["b"].tolist(), [7])


@of("networkx")
def _():
    import networkx

    return same(networkx.shortest_path(networkx.Graph([(1, 2), (2, 3), (1, 4), (4, 5), (5, 3)]), 1, 3), [1, 2, 3])


@of("numpy")
def _():
    import numpy as np

    solved = np.linalg.solve([[2.0, 1.0], [1.0, 3.0]], [3.0, 5.0])
    back = np.fft.ifft(np.fft.fft([1.0, 2.0, 3.0])).real
    return same((solved.round(9).tolist(), back.round(9).tolist()), ([0.8, 1.4], [1.0, 2.0, 3.0]))


@of("openpyxl")
def _():
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", 1])
    book.save(out)
    return same([[cell.value for cell in row] for row in openpyxl.load_workbook(out).active], [["a", 1]])


@of("packaging")
def _():
    from packaging.specifiers import SpecifierSet

    return same([v for v in ("1.0", "1.5", "2.0") if v in SpecifierSet(">=1.1,<2")], ["1.5"])


@of("pandas")
def _():
    import pandas as pd

    frame = pd.read_csv(io.StringIO("day,k,v\n2026-01-01,a,1\n2026-01-02,b,2\n2026-01-03,a,3\n"), parse_dates=["day"])
    by_key = frame.groupby("k").v.sum().to_dict()
    return same((by_key, str(frame.v.dtype), frame.day.dt.day.tolist()), ({"a": 4, "b": 2}, "int64", [1, 2, 3]))


@of("patsy")
def _():
    import patsy

    return same(patsy.dmatrix("x", {"x": [1.0, 2.0]}).tolist(), [[1.0, 1.0], [1.0, 2.0]])


@of("pillow")
def _():
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (20, 10), "white")
    ImageDraw.Draw(picture).rectangle((2, 2, 8, 8), fill=(200, 0, 10), outline=(1, 2, 3))
    out = io.BytesIO()
    picture.save(out, "PNG")
    again = Image.open(io.BytesIO(out.getvalue()))
    return same((png_size(out.getvalue()), again.getpixel((4, 4))), ((20, 10), (200, 0, 10)))


@of("pyparsing")
def _():
    import pyparsing as pp

    number = pp.Word(pp.nums).set_parse_action(lambda found: int(found[0]))
    grammar = pp.infix_notation(number, [("+", 2, pp.OpAssoc.LEFT)])
    return same(grammar.parse_string("1+2").as_list(), [[1, "+", 2]])


@of("pypdf")
def _():
    import pypdf

    writer, out = pypdf.PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 200)
    writer.write(out)
    page = pypdf.PdfReader(out).pages[0]
    return same((float(page.mediabox.width), float(page.mediabox.height)), (100.0, 200.0))


@of("python-dateutil")
def _():
    import dateutil.parser
    import dateutil.tz

    when = dateutil.parser.parse("1 July 2026 12:00").replace(tzinfo=dateutil.tz.gettz("Europe/Berlin"))
    return same(when.isoformat(), "2026-07-01T12:00:00+02:00")


@of("PyYAML")
def _():
    import yaml

    return same(yaml.safe_load(yaml.safe_dump({"a": [1, None, "x"]})), {"a": [1, None, "x"]})


@of("regex")
def _():
    import regex

    return same(regex.findall(r"\p{Lu}(?:\w{e<=1})", "Ab Ça"), ["Ab", "Ça"])


@of("reportlab")
def _():
    import pypdf
    from reportlab.pdfgen import canvas

    out = io.BytesIO()
    sheet = canvas.Canvas(out, pagesize=(200, 100))
    sheet.drawString(10, 50, "hello from a cell")
    sheet.save()
    return same(pypdf.PdfReader(out).pages[0].extract_text().strip(), "hello from a cell")


@of("scikit-learn")
def _():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    found = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=500).fit(*found).score(*found) > 0.95


@of("scipy")
def _():
    import scipy.linalg
    import scipy.optimize
    import scipy.stats

    solved = scipy.linalg.solve([[3.0, 2.0], [1.0, 2.0]], [12.0, 8.0]).round(9).tolist()
    root = round(scipy.optimize.brentq(lambda x: x * x - 2, 0, 2), 9)
    return same((solved, root, round(scipy.stats.norm.cdf(1.96), 4)), ([2.0, 3.0], 1.414213562, 0.975))


@of("seaborn")
def _():
    import pandas
    import seaborn

    axes = seaborn.barplot(data=pandas.DataFrame({"k": ["a", "b", "a"], "v": [1.0, 2.0, 3.0]}), x="k", y="v", errorbar=None)
    out = io.BytesIO()
    axes.figure.savefig(out, format="png", dpi=50)
    return same((png_size(out.getvalue())[0] > 100, [bar.get_height() for bar in axes.patches]), (True, [2.0, 2.0]))


@of("six")
def _():
    import six

    return same(six.ensure_str(b"a"), "a")


@of("soupsieve")
def _():
    import bs4
    import soupsieve

    soup = bs4.BeautifulSoup("<a class='x'>1</a><a>2</a>", "html.parser")
    return same([a.text for a in soupsieve.select("a:not(.x)", soup)], ["2"])


@of("statsmodels")
def _():
    import statsmodels.api as sm

    fitted = sm.OLS([1.0, 3.0, 5.0, 7.0], sm.add_constant([0.0, 1.0, 2.0, 3.0])).fit()
    return same(fitted.params.round(9).tolist(), [1.0, 2.0])


@of("sympy")
def _():
    import sympy

    x = sympy.Symbol("x")
    return same(str(sympy.integrate(sympy.sin(x) * x, x)), "-x*cos(x) + sin(x)")


@of("tabulate")
def _():
    import tabulate

    return same(tabulate.tabulate([["a", 1]], ["k", "v"], tablefmt="plain"), "k      v\na      1")


@of("threadpoolctl")
def _():
    import threadpoolctl

    with threadpoolctl.threadpool_limits(1):
        return isinstance(threadpoolctl.threadpool_info(), list)


@of("tomli_w")
def _():
    import tomllib

    import tomli_w

    return same(tomllib.loads(tomli_w.dumps({"a": {"b": [1, 2]}})), {"a": {"b": [1, 2]}})


@of("toolz")
def _():
    import toolz

    return same(toolz.pipe([1, 2, 3], toolz.curried.map(lambda x: x * 2), list), [2, 4, 6])


@of("tqdm")
def _():
    import tqdm

    out = io.StringIO()
    list(tqdm.tqdm(range(3), file=out))
    return "3/3" in out.getvalue()


@of("typing_extensions")
def _():
    import typing_extensions

    class Point(typing_extensions.TypedDict, closed=True):
        x: int

    return same(typing_extensions.get_type_hints(Point), {"x": int})


@of("tzdata")
def _():
    import datetime
    import zoneinfo

    when = datetime.datetime(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Asia/Kathmandu"))
    return same(when.isoformat(), "2026-07-01T12:00:00+05:45")


@of("webencodings")
def _():
    import webencodings

    return same(webencodings.decode(b"\x80", "latin1")[0], "\u20ac")


@of("wrapt")
def _():
    import wrapt

    @wrapt.decorator
    def doubled(wrapped, instance, args, kwargs):
        return 2 * wrapped(*args, **kwargs)

    return same(doubled(lambda x: x + 1)(1), 4)


@of("xlrd")
def _():
    import xlrd

    kind = xlrd.inspect_format(content=bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
    return same((kind, xlrd.xldate_as_tuple(46000.5, 0)), ("xls", (2025, 12, 9, 12, 0, 0)))


@of("xlsxwriter")
def _():
    import openpyxl
    import xlsxwriter

    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        book.add_worksheet("s").write_row(0, 0, ["a", 2.5])
    return same([cell.value for cell in openpyxl.load_workbook(out)["s"][1]], ["a", 2.5])


@of("xmltodict")
def _():
    import xmltodict

    return same(xmltodict.parse("<a><b>1</b></a>"), {"a": {"b": "1"}})
