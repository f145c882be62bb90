"""Python that isn't in the language is refused at decoration: where, what, and what to write.

Every case is a program with the offending text between guillemets. The error must point at that
text and no other, and its message must hold the words next to it.
"""

from __future__ import annotations

import ast
import inspect
import pickle
import traceback

import pytest

import mmsim as mm
from mmsim.frontend.python.grammar import ADVICE, DEEPEST, MOST_CALLS, STATEMENT_ADVICE
from tests.kit.generators.random_programs import define

OUTSIDE = """\
import math
import numpy as np

TABLE = np.arange(4)
LIMIT = 3
NOTHING = None

def double(x):
    return 2 * x

def store(array, i):
    array[i] = 1

def again(x):
    return again(x)

def plus(x, y=1):
    return x + y

PAIRS = ((1, 2), (3, 4))
DEEP = (PAIRS,)
UNEVEN = ((1, 2), 3)
LARGE = np.zeros(1025)
WORDS = ("one", "two")
from enum import Enum
Colour = Enum("Colour", "RED")
Ending = Enum("Ending", "RED")
DAYS = np.timedelta64(3, "D")
def pairs(x):
    return x, x, x

"""

# A body of `def f(T, a, b, n)`, and words of the message.
KINDS = {
    ast.Lambda: ("x = «lambda: 0»", "a lambda", "with def and call it"),
    ast.NamedExpr: ("x = 1 + («y := 2»)", "assignment inside an expression", "its own"),
    ast.ListComp: ("x = «[i for i in range(3)]»", "list comprehension", "mm.registers"),
    ast.SetComp: ("x = «{i for i in range(3)}»", "set comprehension", "write a loop"),
    ast.DictComp: ("x = «{i: i for i in range(3)}»", "dict comprehension", "write a loop"),
    ast.GeneratorExp: ("x = «(i for i in range(3))»", "generator expression", "loop"),
    ast.List: ("x = «[1, 2]»", "a list", "mm.registers"),
    ast.Tuple: ("x = 1 + min(2, «((1, 2), 3)»)", "a tuple", "assign it to a name"),
    ast.Set: ("x = «{1, 2}»", "a set", "mm.registers"),
    ast.Dict: ("x = «{1: 2}»", "a dict", "use arrays"),
    ast.JoinedStr: ("x = «f'{n}'»", "a string", "numbers only"),
    ast.Slice: ("x = a[«1:2»]", "a slice", "one index for each dimension"),
    ast.Starred: ("x = min(1, «*a»)", "starred", "one by one"),
    ast.Yield: ("x = «yield»", "yield", "store their results in arrays"),
    ast.YieldFrom: ("«yield from a»", "yield from", "store their results in arrays"),
}

STATEMENTS = {
    ast.FunctionDef: ("«def g():»\n    pass", "a function inside a program", "outside"),
    ast.AsyncFunctionDef: ("«async def g():»\n    pass", "async", "plain function"),
    ast.ClassDef: ("«class C:»\n    pass", "a class", "numbers and arrays"),
    ast.Delete: ("x = 1\n«del x»", "del", "leave it out"),
    ast.With: ("«with a:»\n    pass", "with", "its body alone"),
    ast.Match: ("«match n:»\n    case 1:\n        pass", "match", "if, elif, else"),
    ast.Raise: ("«raise ValueError»", "raise", "after the run"),
    ast.Try: ("«try:»\n    pass\nfinally:\n    pass", "try", "avoid the error with an if"),
    ast.TryStar: ("«try:»\n    pass\nexcept* ValueError:\n    pass", "try", "with an if"),
    ast.Assert: ("«assert n > 0»", "assert", "after the run"),
    ast.Import: ("«import math»", "import", "outside the program"),
    ast.ImportFrom: ("«from math import pi»", "import", "outside the program"),
    ast.Global: ("«global LIMIT»", "global", "pass numbers as parameters"),
    ast.Nonlocal: None,  # needs an enclosing function: WHOLE
}

BODIES = [
    # Numbers and names
    ("x = «'text'»", "'text' is not a number", "int, float, complex and bool"),
    ("x = «None»", "None is not a number"),
    ("x = «18446744073709551616»", "18446744073709551616", "64 bits"),
    ("x = «-9223372036854775809»", "-9223372036854775809", "64 bits"),
    ("x = 1 + «y»", "'y' means nothing here", "define it above the program"),
    ("x = «T» + 1", "'T' is the thread", "T.id"),
    ("x = 1 + «TABLE»", "'TABLE' is an array from outside", "TABLE[i]", "as a parameter"),
    ("«TABLE»[0] = 1", "'TABLE' is an array from outside", "pass it to run"),
    ("«PAIRS»[0] = 1", "'PAIRS' is a tuple from outside", "it is constant"),
    ("x = «LARGE»[n]", "'LARGE' has more than 1024 numbers", "make it a parameter"),
    ("x = «WORDS»[n]", "'WORDS' from outside the program holds", "floats and bools"),
    ("x = PAIRS[«2»]", "'PAIRS' has 2 values, none at 2", "the last at -1"),
    ("x = PAIRS[1][«-3»]", "'PAIRS[1]' has 2 values, none at -3"),
    ("x = «PAIRS[0][1][0]»", "'PAIRS[0][1]' has fewer axes", "leave some out"),
    ("x = «PAIRS[n][1][0]»", "'PAIRS' has fewer axes"),
    ("x = PAIRS[n][«0:1»]", "a slice"),
    ("x = PAIRS[«n:»]", "a slice"),
    ("x = UNEVEN[«n»]", "'UNEVEN' is not a regular table", "write its index as a number"),
    ("x = 1 + «PAIRS[n]»", "'PAIRS[n]' is a tuple of 2 values", "x, y = ..."),
    ("x = «Colour.RED» + 1", "'Colour.RED' is a Colour from outside", "write Colour.RED.value"),
    ("x = «Ending.RED» + 1", "'Ending.RED' is an Ending from outside"),
    ("x = «Colour.GREY»", "'Colour.GREY' means nothing"),
    ("x = «DAYS»", "'DAYS' is a timedelta64 from outside the program"),
    ("x = float(«'one'»)", "'one' is not a float", "float('inf')"),
    ("x = «NOTHING»", "'NOTHING' is a NoneType from outside", "numbers, tables of numbers"),
    ("x = «math»", "'math' is a module from outside"),
    ("x = «math.tau.x»", "'math.tau.x' means nothing"),
    ("x = «math.phi»", "'math.phi' means nothing"),
    # Arrays
    ("x = a[0]\ny = 1 + «a»", "'a' is used as a number here and as an array in line 33"),
    ("x = n + 1\n«n»[0] = 1", "'n' is used as an array here and as a number in line 33"),
    ("s = mm.shared(4)\nx = 1 + «s»", "the array 's' stands where a number must", "an element"),
    ("s = mm.shared(4)\nx = s\ny = 1 + «x»", "the array 'x' stands where a number must"),
    ("x = a[0]\ny = x[1]\n«x» += 1", "'x' is not a number", "element by element"),
    ("x = 1\ns = mm.shared(4)\nif n:\n    «x» = s", "'x' is not an array: line 33 assigns"),
    ("if n:\n    row = a[0]\nx = «row»[0]", "'row' may not name one array here", "every path"),
    ("for k in range(n):\n    x = «row»[0]\n    row = a[k]", "'row' may not name one array"),
    ("row = b\nfor k in range(n):\n    if k:\n        row = b[0]\n    else:\n        row = a\n"
     "    x = row[0]\nx = a.shape[0]\ny = row.shape[«-2»]", "counted from 0 here"),
    ("x = «a[0].y»", "'a[0].y' means nothing"),
    # Vectors
    ("v = «mm.vector(a, 2)»", "the vectors of an array have an index", "mm.vector(a, 2)[i]"),
    ("v = mm.vector(a, «3»)[0]", "2, 4, 8 or 16 elements", "write mm.vector(a, 4)[i]"),
    ("v = mm.vector(a, «n»)[0]", "2, 4, 8 or 16 elements", "known before the launch"),
    ("v = mm.vector(a, «True»)[0]", "2, 4, 8 or 16 elements"),
    ("v = «mm.vector(a)»[0]", "mm.vector takes array and count"),
    ("v = mm.vector(«1», 2)[0]", "'1' is not an array", "the first argument of mm.vector is one"),
    ("r = mm.registers(4)\nv = mm.vector(«r», 2)[0]", "'r' is an mm.registers array", "one by one"),
    ("x = 1 + «mm.vector(a, 2)[0]»", "is a tuple of 2 values where a number must stand"),
    ("x = «mm.vector(a, 2)[0][1]»", "'mm.vector(a, 2)[0]' is a vector", "write v[0]"),
    ("v = mm.vector(a, 2)[0]\nx = v[«n»]", "'v' is not a regular table", "or use an mm.registers"),
    ("x, y, z = «mm.vector(a, 2)[0]»", "2 values for 3 names"),
    ("mm.vector(a, 2)[0] = «1»", "a vector of 2 elements takes a tuple", "as in x, y, z, w"),
    ("mm.vector(a, 2)[0] = «1, 2, 3»", "3 values for a vector of 2 elements"),
    ("«mm.vector(a, 2)[0] += 1»", "not changed in one assignment", "x, y = mm.vector(a, 2)[i]"),
    ("x = mm.vector(a, 2)[«0:2»]", "a slice"),
    ("mm.vector(«n + 1», 2)[0] = 1, 2", "'n + 1' is not an array"),
    ("x = «float4»(a[0])", "'float4' is not a function here", "x, y = mm.vector(a, 2)[i]"),
    ("x = a.shape[«n:»]", "how many axes this takes is not known", "a.shape[:2]"),
    ("x = 1 + «a.shape[:2]»", "'a.shape[:2]' is a tuple of 2 values"),
    ("x = «a.shape[:2]» + 1", "'a.shape[:2]' is a tuple of 2 values"),
    ("s = mm.shared(4)\n«x» = s, b", "a tuple of arrays has no name here", "x, y = y, x"),
    ("p = 1, 2\n«p» = 3", "'p' is given something else here than tuples of 2, as in line 33"),
    ("p = 1, 2\n«p» = 1, 2, 3", "'p' is given something else here than tuples of 2"),
    ("p = 1, 2\n«p» += 3", "'p' is not a number", "assigning a new one"),
    ("p = 1, 2\n«p»[0] = 3", "'p' is a tuple, whose values stay as they are", "a new tuple"),
    ("p = 1, 2\nx = 1 + «p»", "'p' is a tuple of 2 values where a number must stand"),
    ("p = n, 2\nx = p[«n»]", "'p' is not a regular table of constants", "mm.registers"),
    ("x, y = «pairs(n)»", "3 values for 2 names"),
    ("x = 1\ny = «x»[0]", "'x' is not an array", "only arrays have elements"),
    ("x = «double(1)»[0]", "'double(1)' is not an array"),
    ("x = a[«None»]", "'None' is not an index", "write a number"),
    ("x = a[«...»]", "not an index", "write a number"),
    ("x = «a.shape»", "'a.shape' is not a number", "a.shape[0]", "rows, columns = a.shape"),
    ("x = «a.T»", "'a.T' is not a number", "its shape, its size, its ndim, len()"),
    ("x = a.shape[«n»]", "an axis of a shape", "a.shape[0]"),
    ("x = a.shape[«0.5»]", "an axis of a shape", "a.shape[0]"),
    ("x = «len(1)»", "len takes an array, a tuple or a table"),
    ("x = «len(a, a)»", "len takes an array, a tuple or a table"),
    ("x, y = «divmod(1)»", "divmod takes two numbers"),
    # The thread
    ("x = «T.rank»", "the thread has no 'rank'", "T.id", "T.block_size", "T.barrier()"),
    ("x = «T.barrier»", "a barrier has no value", "statement of its own"),
    ("«T.barrier»", "a barrier has no value", "T.barrier()"),
    ("x = «T.barrier»()", "a barrier has no value"),
    ("«T.barrier(1)»", "a barrier takes no arguments", "T.barrier()"),
    ("x = «T.id()»", "'T.id' is a number", "without ()"),
    ("x = «T.rank»()", "the thread has no 'rank'"),
    ("«T» = 1", "'T' is the thread", "can't be assigned"),
    ("for «T» in range(3):\n    pass", "'T' is the thread", "can't be assigned"),
    # Operators and calls
    ("x = «a @ b»", "matrix product", "write loops"),
    ("x = 1\n«x @= 2»", "matrix product", "write loops"),
    ("x = «n is None»", "'is' isn't in the language", "compare numbers by =="),
    ("x = «1 < n in (1, 2)»", "'in' stands alone", "compare in two steps"),
    ("x = n in «a»", "'in' takes a tuple of numbers here", "write x in (2, 3)"),
    ("x = n in «range(4)»", "'in' takes a tuple of numbers here", "start <= x < stop"),
    ("x = n in «DEEP»", "'in' takes a tuple of numbers"),
    ("x = «min(n)»", "min takes two or more numbers"),
    ("x = «max(1, 2, key=n)»", "max takes two or more numbers"),
    ("x = «abs(1, 2)»", "abs takes one number"),
    ("x = «int()»", "int takes one number"),
    ("x = «float(1, x=2)»", "float takes one number"),
    ("x = 1 + «mm.shared(4)»", "mm.shared stands inside an expression", "name = mm.shared(...)"),
    ("x = y = «mm.registers(4)»", "mm.registers stands inside an expression", "top level"),
    ("x = «store(a, 0)»", "'store' returns nothing"),
    ("x = «missing»(1)", "'missing' is not a function here", "above the program"),
    ("x = «a.sum»()", "'a.sum' is not a function here"),
    ("x = «math.gcd»(2, 4)", "'math.gcd' isn't in the language", "of math's functions"),
    ("x = «math.sqrt(2, 3)»", "math.sqrt takes one number here"),
    ("x = «math.log(2, 3, 4)»", "math.log takes one number or two numbers here"),
    ("x = «mm.popc()»", "mm.popc takes one number here"),
    ("«print»(1)", "'print' isn't in the language"),
    ("x = «range»(3)", "'range' isn't in the language"),
    ("x = «LIMIT»(3)", "'LIMIT' isn't in the language"),
    ("x = «plus(1, 2, 3)»", "'plus' takes 2 arguments, not 3"),
    ("x = «plus(1, z=2)»", "'plus' can't take 'z' here"),
    ("x = «plus(1, x=2)»", "'plus' can't take 'x' here"),
    ("x = «plus()»", "the call of 'plus' lacks 'x'"),
    ("x = plus(**«a»)", "**", "one by one"),
    ("x = plus(«*a»)", "starred", "one by one"),
    ("x = plus(«gone»)", "'gone' means nothing here"),
    # Assignments
    ("«a.y» = 1", "'a.y' can't be assigned"),
    ("«T.x» += 1", "'T.x' can't be assigned"),
    ("«[x, y]» = z = 1", "a list"),
    ("x, «*y» = 1, 2", "starred"),
    ("x, (y, z) = «1, 2»", "only a tuple of values or a.shape", "as many values"),
    ("x = y, z = «1, 2, 3»", "3 values for 2 names"),
    ("x, y = «n»", "only a tuple of values or a.shape"),
    ("x, y = «1, 2, 3»", "3 values for 2 names"),
    ("«s» = mm.shared(4)\ns = mm.shared(4)", "two arrays or variables of one name: 's'"),
    ("«a» = mm.shared(4)", "two arrays or variables of one name: 'a'", "a name of its own"),
    ("«s» = mm.registers(4)\ns = 1", "two arrays or variables of one name: 's'"),
    # Local arrays
    ("if n:\n    s = «mm.shared(4)»", "mm.shared inside a loop or a branch", "top level"),
    ("for i in range(3):\n    r = «mm.registers(4)»", "mm.registers inside a loop", "top level"),
    ("s = «mm.shared()»", "mm.shared takes a shape and a dtype"),
    ("s = «mm.shared(4, int, 3)»", "mm.shared takes a shape and a dtype"),
    ("s = «mm.registers(4, order='C')»", "mm.registers takes a size and a dtype"),
    ("s = mm.shared(«T.index»)", "the same for all threads", "T.block_size"),
    ("s = mm.shared((4, «a[0]»))", "the same for all threads", "numbers, parameters, shapes"),
    ("x = T.id\ns = mm.shared(«x + 1»)", "the same for all threads"),
    ("x = 1\nx = 2\ns = mm.shared(«x»)", "the same for all threads"),
    ("s = mm.shared(«4 if n > 3 else 2»)", "known before the launch", "without a branch or a loop"),
    ("s = mm.shared(«a.shape»)", "'a.shape' is not a number"),
    ("s = mm.shared(4, «str»)", "'str' is not an element type", "int8 to int64", "complex64"),
    ("s = mm.shared(4, «'float128'»)", "not an element type"),
    ("s = mm.shared(4, «object»)", "not an element type"),
    ("s = mm.shared(4, «'strange'»)", "not an element type"),
    *((f"s = mm.shared(4, «np.{kind}»)", f"'np.{kind}' is not an element type")
      for kind in ("integer", "signedinteger", "number", "floating", "generic", "void")),
    ("s = mm.shared(4, «np.character»)", "'np.character' is not an element type"),
    ("s = «mm.shared(4, shape=5)»", "mm.shared takes a shape and a dtype"),
    ("s = mm.shared(«()»)", "at least one dimension"),
    ("«a[()]» = 1", "an element needs an index"),
    ("x = «min»(2, 3)\nmin = 3", "'min' is a name of this function; give that another name"),
    ("s = mm.shared(4)\nr = mm.shared(4, «s.dtype»)", "'s.dtype' follows from what", "a dtype"),
    # Control
    ("for i in «a»:\n    pass", "runs over range(...)", "for i in range(n)"),
    ("for i in enumerate(«a»):\n    pass", "runs over range(...) or a tuple"),
    ("for i in «enumerate()»:\n    pass", "enumerate takes a tuple or a range"),
    ("for «i» in enumerate(range(n)):\n    pass", "has two variables here"),
    ("for i, j in «enumerate((1, 2), n)»:\n    pass", "must be a constant"),
    ("for i, j in «zip((1, 2), (3,), strict=True)»:\n    pass", "tuples of several sizes"),
    ("for i, j in zip((1, 2), «range(n)»):\n    pass", "the length of this range must be known"),
    ("for i in «(1,) * 3»:\n    pass", "runs over range(...) or a tuple"),
    ("for i, j in «LARGE»:\n    pass", "'LARGE' has more than 1024 numbers"),
    ("for i in zip(«range(1001)»):\n    pass", "more than 1000 iterations of loops over tuples"),
    ("for i, j in «(1, 2)»:\n    pass", "only a tuple of values"),
    ("for «i, j» in range(3):\n    pass", "one variable"),
    ("for «a[0]» in range(3):\n    pass", "one variable"),
    ("for i in «range()»:\n    pass", "one, two or three numbers"),
    ("for i in «range(1, 2, 3, 4)»:\n    pass", "one, two or three numbers"),
    ("for i in «range(0, 3, 0)»:\n    pass", "the step of a range can't be 0"),
    ("for i in range(3):\n    pass\nelse:\n    «x = 1»", "else after a loop", "a variable"),
    ("while n:\n    pass\nelse:\n    «x = 1»", "else after a loop", "a variable"),
    ("«n + 1»", "this statement does nothing", "assign, read an element"),
    ("«min(1, 2)»", "this statement does nothing"),
    ("«a.shape[0]»", "this statement does nothing"),
    ("r = mm.registers(4)\n«r[0]»", "this statement does nothing"),
]  # fmt: skip

# Whole programs.
WHOLE = [
    ("«def f():»\n    pass", "the program 'f' has no parameter", "def f(T, ...)"),
    ("def f(«T», x, /):\n    pass", "'T' is of a kind", "plain"),
    ("def f(T, *, «x»):\n    pass", "the parameter 'x' is of a kind", "plain parameters"),
    ("def f(T, *«x»):\n    pass", "the parameter 'x' is of a kind"),
    ("def f(T, **«x»):\n    pass", "the parameter 'x' is of a kind"),
    ("def f(T, x=1, y=«None»):\n    pass", "the default of 'y' is not a number", "give numbers"),
    ("«f = lambda T, a: 0»", "'<lambda>' is a lambda", "with def"),
    ("«async def f(T):»\n    pass", "no plain function", "with def"),
    (
        "def again(x):\n    return «again(x)»\ndef f(T, a):\n    a[0] = again(1)",
        "'again' calls itself",
        "a loop instead of recursion",
    ),
    (
        "«def change(x):»\n    x = 1\ndef f(T):\n    change(T)",
        "'change' assigns its parameter 'x'",
    ),
    (
        "def uneven(x):\n    if x:\n        return x\n    «return x, x»\n"
        "def f(T, a):\n    a[0] = uneven(1)",
        "'uneven' returns something of another size elsewhere",
        "a tuple of one size",
    ),
    (
        "def gives(x, y):\n    if x[0]:\n        «return x»\n    return y\n"
        "def f(T, a, b):\n    c = gives(a, b)\n    c[0] = 1",
        "an array is returned from more than one place",
        "in the function's last line alone",
    ),
    (
        "def takes(p):\n    x, y = p\n    x[0] = y\n"
        "def f(T, a):\n    s = mm.shared(4)\n    takes(«(s, 1)»)",
        "a tuple of arrays is handed to a function",
        "hand the arrays one by one",
    ),
    (
        "def total(*«x»):\n    return 1\ndef f(T, a):\n    a[0] = total(1)",
        "the parameter 'x' is of a kind",
    ),
    (
        "def bump(x, y=«None»):\n    y += x\n    return y\ndef f(T, a):\n    a[0] = bump(1)",
        "the default of 'y' is not a number",
    ),
    (
        "def outer():\n    n = 1\n    def f(T):\n        «nonlocal n»\n    return f\nf = outer()",
        "nonlocal",
        "pass numbers as parameters",
    ),
    (
        "def f1(T, x):\n    s = «mm.shared(1)»\n    s[0] = x\n    return s[0]\n"
        "def f(T, a):\n    for i in range(3):\n        a[T.id] = f1(T, i)\n",
        "mm.shared in a function that is called in a loop; declare the array in the program",
    ),
    (
        "def local(T):\n    if T.id:\n        s = «mm.shared(2)»\ndef f(T):\n    local(T)",
        "mm.shared inside a loop or a branch",
    ),
]

CASES = [
    (f"{OUTSIDE}def f(T, a, b, n):\n" + "".join(f"    {line}\n" for line in case[0].split("\n")),
     *case[1:])
    for case in [*KINDS.values(), *filter(None, STATEMENTS.values()), *BODIES]
] + [(case[0] + "\n", *case[1:]) for case in WHOLE]  # fmt: skip


def refusal(source):
    with pytest.raises(mm.LanguageError) as caught:
        mm.program(define(source, "f"))
    return caught.value


def unmarked(source):
    return source.replace("«", "").replace("»", "")


@pytest.mark.parametrize(
    ("marked", "words"),
    [(case[0], case[1:]) for case in CASES],
    ids=[next(line for line in case[0].split("\n") if "«" in line).strip() for case in CASES],
)
def test_it_points_at_the_text_and_says_what_to_write(marked, words):
    before, offending, _ = marked.replace("»", "«").split("«")
    lines = before.split("\n")
    place = refusal(unmarked(marked)).place
    assert (place.line, place.column) == (len(lines), len(lines[-1]))
    assert place.text[place.column : place.end_column] == offending
    message = str(refusal(unmarked(marked)))
    for word in words:
        assert word in message


def test_every_kind_with_advice_is_tried():
    assert KINDS.keys() == ADVICE.keys()
    assert STATEMENTS.keys() == STATEMENT_ADVICE.keys()


def test_its_text_has_file_line_function_and_caret():
    error = refusal("def f(T, a):\n    a[0] = 1 + [2, 3]\n")
    assert str(error) == (
        "a list isn't in the language of programs; use an mm.registers array\n"
        f"  File {error.filename!r}, line 2, in f\n"
        "    a[0] = 1 + [2, 3]\n"
        "               ^^^^^^"
    )


def test_python_shows_it_as_a_syntax_error():
    error = refusal("def f(T, a):\n    a[0] = 1 + [2, 3]\n")
    assert traceback.format_exception_only(error) == [
        f'  File "{error.filename}", line 2\n',
        "    a[0] = 1 + [2, 3]\n",
        "               ^^^^^^\n",
        "mmsim.errors.LanguageError: a list isn't in the language of programs; "
        "use an mm.registers array\n",
    ]


def test_a_text_of_several_lines_is_shown_by_its_first():
    error = refusal("def f(T, a):\n    a[0] = [\n        1,\n    ]\n")
    assert str(error).endswith("line 2, in f\n    a[0] = [\n           ^")


def test_the_caret_counts_characters():
    error = refusal("def f(T, größe):\n    größe[0] = größe[1:2]\n")
    assert str(error).endswith("    größe[0] = größe[1:2]\n                     ^^^")


def test_a_mistake_in_a_helper_is_shown_in_the_helper():
    error = refusal("def help(x):\n    return [x]\ndef f(T, a):\n    a[0] = help(1)\n")
    assert error.place.function == "help"
    assert "line 2, in help" in str(error)


@pytest.mark.parametrize("thing", [3, print, str, mm, "def f(T): pass"], ids=repr)
def test_only_functions_are_programs(thing):
    with pytest.raises(mm.LanguageError, match="is not a function; decorate a function written"):
        mm.program(thing)


def test_a_function_that_another_decorator_wraps_is_refused():
    inner = define("def f(T):\n    pass\n", "f")

    def wrapper(*args):
        return inner(*args)

    wrapper.__wrapped__ = inner
    with pytest.raises(mm.LanguageError, match="'wrapper' is wrapped by another decorator"):
        mm.program(wrapper)


@pytest.mark.parametrize(
    "deep",
    [
        "-" * (DEEPEST + 1) + "n",
        "(1 + " * DEEPEST + "n" + ")" * DEEPEST,
        " ** ".join(["n"] * (DEEPEST + 1)),
        "".join(f"{i} if n == {i} else " for i in range(DEEPEST)) + "n",
        "- " * 300 + "n",
    ],
    ids=["minus", "parentheses", "power", "choice", "very deep"],
)
def test_too_deep_a_nest_is_refused(deep):
    error = refusal(f"def f(T, a, n):\n    a[0] = {deep}\n")
    assert f"nested more than {DEEPEST} levels deep; take it apart" in str(error)
    assert error.place.line == 2


def test_too_deep_branches_are_refused():
    chain = "".join(f"    elif n == {i}:\n        a[0] = {i}\n" for i in range(DEEPEST))
    error = refusal(f"def f(T, a, n):\n    if n:\n        pass\n{chain}")
    assert "levels deep" in str(error)


def test_it_travels_between_processes():
    error = refusal("def f(T, a):\n    a[0] = [1]\n")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.place, copy.advice) == (str(error), error.place, error.advice)


def test_programs_and_the_names_in_them_are_not_called():
    program = mm.program(define("def f(T, a):\n    a[0] = 1\n", "f"))
    assert inspect.unwrap(program) is program.function
    with pytest.raises(mm.MMSimError, match=r"is run by a machine: mm.DMM\(32, 5\).run\(f"):
        program(1)
    with pytest.raises(mm.MMSimError, match="only inside a function decorated"):
        mm.shared(4)
    with pytest.raises(mm.MMSimError, match="only inside a function decorated"):
        mm.registers(4)


def test_calls_that_call_twice_at_each_level_are_bounded():
    levels = ["def f0(x):\n    return x + 1\n"]
    levels += [f"def f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x)\n" for n in range(1, 12)]
    source = "\n".join([*levels, "def program(T, a):\n    a[T.id] = f11(1)\n"])
    with pytest.raises(mm.LanguageError, match=f"more than {MOST_CALLS} calls"):
        mm.program(define(source, "program"))


def loaded(path, text):
    """A module's names after running the text of a file."""
    path.write_text(text)
    names = {"mm": mm, "__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    return names


FIRST = "def f(T, a, n=1):\n    a[T.id] = n + 1\n"
OTHER = "isn't the text that 'f' was compiled from"


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ("def f(T, a, n=1):\n    a[T.id] = n + 2\n", OTHER),
        ("def f(T, a, n=1):\n    a[T.id] = n - 1\n", "load it again"),
        ("def f(T, n, a=1):\n    a[T.id] = n + 1\n", OTHER),
        ("def f(T, a, n):\n    a[T.id] = n + 1\n", OTHER),
        *(("def f(T, a, b, n=1):\n    a[T.id] = n + 1\n", OTHER), ("x = 1\n" + FIRST, OTHER)),
        ("x = (\n", "the source of 'f' can't be read"),
        ("def f(T, a):\n    '''\n", "the source of 'f' can't be read"),
    ],
)
def test_a_file_that_changed_since_it_was_loaded_is_refused(now, words, tmp_path):
    path = tmp_path / "changing.py"
    f = loaded(path, FIRST)["f"]
    path.write_text(now + "# longer than before, so that Python looks again\n")
    with pytest.raises(mm.LanguageError) as caught:
        mm.program(f)
    assert words in str(caught.value)
    assert (caught.value.filename, caught.value.lineno) == (str(path), 1)


def test_a_helper_whose_file_changed_is_refused(tmp_path):
    path = tmp_path / "helpers.py"
    names = loaded(path, "def twice(x):\n    return 2 * x\n")
    path.write_text("def twice(x):\n    return 200 * x\n")
    f = define("def f(T, a):\n    a[T.id] = twice(T.id)\n", "f")
    f.__globals__["twice"] = names["twice"]
    with pytest.raises(mm.LanguageError, match="isn't the text that 'twice' was compiled from"):
        mm.program(f)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class C:\n    @mm.program\n    def f(T, __a, n=1):\n        __a[T.id] = n + 1\n", "C"),
        ("def o(n):\n    @mm.program\n    def f(T, a):\n        a[0] = n\n    return f\n", "o"),
        (
            "def o(n):\n    class C:\n        def f(T, a):\n            '''Doc'''\n"
            "            x: int = 3\n            a[0] = n + x\n"
            "    return C.f\n",
            "o",
        ),
        ("\x0c@mm.program\ndef f(T, a):\n    a[0] = 1\n", "f"),
        ("class C:\n    x = 1\n\x0c    @mm.program\n    def f(T, a):\n        a[0] = 1\n", "C"),
        ("@mm.program\n@mm.program\ndef f(T, a): a[0] = 1\n", "f"),
    ],
)
def test_a_text_is_known_for_its_functions_wherever_it_stands(source, name, tmp_path):
    made = loaded(tmp_path / "standing.py", source)[name]
    made = made(3) if name == "o" else made.f if name == "C" else made
    assert mm.program(made).name == "f"


def test_a_type_is_not_asked_whether_it_is_an_element_type():
    error = refusal(
        "class Asking(type):\n    def __eq__(self, other):\n        raise RuntimeError\n"
        "    __hash__ = None\nclass Odd(metaclass=Asking):\n    pass\n"
        "def f(T):\n    s = mm.shared(4, Odd)\n"
    )
    assert "'Odd' is not an element type" in str(error)


def test_attributes_of_a_function_are_not_its_programs_own():
    f = define("def f(T, a):\n    a[T.id] = 1\n", "f")
    vars(f).update(code=1, name="g", function=2, _memo=3, _example=4, mine=5)
    program = mm.program(f)
    run = mm.DMM(4, 1).run(program, [0] * 4, threads=4)
    assert run.arrays["a"].tolist() == [1] * 4
    assert (program.name, program.function, program.has_example, program.mine) == ("f", f, False, 5)


def test_a_function_of_mmsim_is_no_helper():
    """The refusal shows the program's line, not one of mmsim."""
    with pytest.raises(mm.LanguageError, match=r"the call of 'mm\.program' isn't in") as caught:

        @mm.program
        def calls(T, a):
            a[T.id] = mm.program(a[T.id])

    assert caught.value.place.file == __file__
    assert "mm.program(a[T.id])" in caught.value.place.text
