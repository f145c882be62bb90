"""The forms of the language that leave no statement of their own, as they stand in a text.

Names of arrays, tuples and loops over tuples are gone when a program is parsed, so that they are
counted in its text.
"""

from __future__ import annotations

import ast
import textwrap

from mmsim.ir import nodes as ir

FORMS = (
    *("name of an array", "name of a row", "exchange of arrays", "choice of an array"),
    *("arrays from a function", "name of a tuple", "nested targets", "divmod", "in", "not in"),
    *("loop over a tuple", "loop over enumerate", "loop over zip", "a.shape", "a.shape[:2]"),
    *("a.size", "a.ndim", "decorated function"),
)


def forms(code: ir.Code) -> set[str]:
    """The forms that occur in a program and in the functions that it calls."""
    found: set[str] = set()
    for source in code.sources:
        (tree,) = ast.parse(textwrap.dedent("\n".join(source.lines))).body
        assert isinstance(tree, ast.FunctionDef)
        if tree.decorator_list and source.function != code.name:
            found.add("decorated function")
        arrays = _arrays(tree)
        for node in ast.walk(tree):
            found.update(_of(node, arrays))
    return found


def _arrays(tree: ast.FunctionDef) -> set[str]:
    """The names of a function that are arrays: their length or an element is asked for."""
    own = {argument.arg for argument in tree.args.args}
    own |= {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name(name)) | ast.Attribute(ast.Name(name), "shape"):
                found.add(name)
            case ast.Call(ast.Name("len"), [ast.Name(name)]):
                found.add(name)
    tuples = {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if isinstance(node.value, ast.Tuple)
    }
    return (found & own) - tuples


def _of(node: ast.AST, arrays: set[str]) -> list[str]:
    """The forms that a node of the text is."""
    match node:
        case ast.Assign([ast.Name(name)], ast.Name()) if name in arrays:
            return ["name of an array"]
        case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(whole))) if {
            name,
            whole,
        } <= arrays:
            return ["name of a row"]
        case ast.Assign([ast.Name(name)], ast.IfExp()) if name in arrays:
            return ["choice of an array"]
        case ast.Assign([ast.Name()], ast.Tuple()):
            return ["name of a tuple"]
        case ast.Assign([ast.Tuple(targets)], value):
            names = [one.id for one in targets if isinstance(one, ast.Name)]
            if any(isinstance(one, ast.Tuple) for one in targets):
                return ["nested targets"]
            if names and arrays.issuperset(names):
                kind = {ast.Tuple: "exchange of arrays", ast.Call: "arrays from a function"}
                return [kind[type(value)]] if type(value) in kind else []
        case ast.Call(ast.Name("divmod")):
            return ["divmod"]
        case ast.Compare(_, [ast.In()]):
            return ["in"]
        case ast.Compare(_, [ast.NotIn()]):
            return ["not in"]
        case ast.For(_, ast.Call(ast.Name("enumerate" | "zip" as kind))):
            return [f"loop over {kind}"]
        case ast.For(_, ast.Tuple() | ast.Name()):
            return ["loop over a tuple"]
        case ast.Subscript(ast.Attribute(_, "shape"), ast.Slice()):
            return ["a.shape[:2]"]
        case ast.Attribute(_, "shape" | "size" | "ndim" as field):
            return [f"a.{field}"]
    return []
