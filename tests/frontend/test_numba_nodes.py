"""The nodes of Numba's representation that kernels are read from: a change of them is noticed."""

import inspect

import pytest
from numba.core import ir

READ = {
    "Arg": "name index loc",
    "Assign": "value target loc",
    "Branch": "cond truebr falsebr loc",
    "Const": "value loc",
    "FreeVar": "index name value loc",
    "Global": "name value loc",
    "Jump": "target loc",
    "Print": "args vararg loc",
    "Return": "value loc",
    "SetAttr": "target attr value loc",
    "SetItem": "target index value loc",
    "StaticRaise": "exc_class exc_args loc",
    "DynamicRaise": "exc_class exc_args loc",
    "StaticSetItem": "target index index_var value loc",
    "Var": "scope name loc",
}
EXPRESSIONS = {
    "binop": "fn lhs rhs loc",
    "build_tuple": "items loc",
    "call": "func args kws loc vararg",
    "cast": "value loc",
    "exhaust_iter": "value count loc",
    "getattr": "value attr loc",
    "getitem": "value index loc",
    "getiter": "value loc",
    "inplace_binop": "fn immutable_fn lhs rhs loc",
    "iternext": "value loc",
    "pair_first": "value loc",
    "pair_second": "value loc",
    "phi": "loc",
    "static_getitem": "value index index_var loc",
    "typed_getitem": "value dtype index loc",
    "unary": "fn value loc",
}
OTHER_STATEMENTS = """
Stmt Terminator Del DelAttr DelItem EnterWith PopBlock Raise StaticTryRaise DynamicTryRaise
StoreMap TryRaise
"""
OTHER_EXPRESSIONS = "build_list build_map build_set dummy make_function null undef"
"""These say nothing, or kernels with them are refused."""


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


@pytest.mark.parametrize("name", READ)
def test_the_parts_of_a_node_are_those_that_are_read(name):
    given = parameters(getattr(ir, name))
    assert given[: len(READ[name].split())] == READ[name].split()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_parts_of_an_expression_are_those_that_are_read(name):
    given = parameters(getattr(ir.Expr, name))
    assert given[: len(EXPRESSIONS[name].split())] == EXPRESSIONS[name].split()


def test_there_is_no_other_node():
    nodes = vars(ir).values()
    statements = {
        one.__name__ for one in nodes if inspect.isclass(one) and issubclass(one, ir.Stmt)
    }
    assert statements <= READ.keys() | set(OTHER_STATEMENTS.split())
    made = {name for name, one in vars(ir.Expr).items() if isinstance(one, classmethod)}
    assert made == EXPRESSIONS.keys() | set(OTHER_EXPRESSIONS.split())
