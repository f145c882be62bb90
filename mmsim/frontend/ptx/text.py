"""The reader of PTX: from the text of a module to its data.

`grammar.lark` has the grammar. The parser is an LALR parser of the library Lark, so it takes a time
proportional to the length of the text. Of a long text it reads only the functions that are asked
for (see `outline`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from mmsim.errors import LanguageError
from mmsim.frontend.ptx.body import Body
from mmsim.frontend.ptx.module import Function, Instruction, Module, Symbol, Variable, Where
from mmsim.frontend.ptx.outline import LONG, LateFunctions, blank, bodies, may_use, without
from mmsim.frontend.ptx.places import Places, Strings
from mmsim.frontend.ptx.source import Source
from mmsim.frontend.ptx.variables import kind, variable, words
from mmsim.host.garbage import unsearched

LONGEST_SHOWN = 40
"""Characters of the longest text that an error repeats."""
_WORDS = {
    "$END": "the end",
    "NAME": "a name",
    "NUMBER": "a number",
    "OFFSET": "an offset as +8",
    "STRING": "a text in quotes",
    "LOC": ".loc FILE LINE COLUMN",
    "SECTION": ".section NAME {...}",
    "LINKAGE": ".visible or .extern",
    "SPACE": "a space as .shared",
    "TYPE": "a type as .f32",
    "VECTOR": "a vector as .v4",
    "ATTRIBUTE": ".attribute(...)",
    "LIMIT": "a limit as .maxntid",
}
"""The words of the grammar that are not spelled in one way, as an error names them."""
_OFFENDING = re.compile(r'[\w$%.]+|"[^"\n]*|\S')


@unsearched()
def read(text: str, name: str = "ptx") -> Module:
    """Return the module that a text in PTX spells; errors call the text `name`."""
    source = Source(text, name)
    late = bodies(text) if len(text) > LONG else {}
    tree = _tree(without(text, late), "start", source)
    return _Reader(source, tree, late).module()


def _tree(text: str, start: str, source: Source) -> Tree[Token]:
    """Return the tree of a text that has all its words where the source has them."""
    reading = _parser().parse_interactive(text, start)
    try:
        found: Tree[Token] = reading.resume_parse()  # type: ignore[no-untyped-call]  # of Lark
    except UnexpectedInput as error:
        possible = reading.accepts()  # type: ignore[no-untyped-call]  # nor has this types
        raise _unexpected(error, possible, source) from None
    return found


@cache
def _parser() -> Lark:
    grammar = files("mmsim.frontend.ptx").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        start=["start", "body"],
        maybe_placeholders=False,
        g_regex_flags=re.ASCII,
    )


def _unexpected(error: UnexpectedInput, possible: Iterable[str], source: Source) -> LanguageError:
    """Return our error for one of Lark's; `possible` are the words that the grammar allows."""
    start = error.pos_in_stream
    if start is None or getattr(error, "token", Token("", "")).type == "$END":
        start, found = len(source.text.rstrip()), "the end of the text"
    else:
        match = _OFFENDING.match(source.text, start)
        found = match[0] if match else ""
    spelled = {one.name: one.pattern.value for one in _parser().terminals}
    expected = sorted(_WORDS.get(word) or spelled[word] for word in possible)
    shown = found if len(found) <= LONGEST_SHOWN else f"{found[:LONGEST_SHOWN]}..."
    return source.error(
        start, len(found), f"{shown} is not expected here", f"expected {' or '.join(expected)}"
    )


class _Reader:
    """Reads the tree of a module; `late` has the ends of bodies that it reads late."""

    def __init__(self, source: Source, tree: Tree[Token], late: Mapping[int, int]) -> None:
        self._source = source
        self._items = tree.children
        self._late = late
        self._strings = Strings(item for item in words(tree) if item.type == "SECTION")
        self._names: dict[str, Symbol] = {}
        self._aliases: dict[str, str] = {}
        self._functions: dict[str, Callable[[], Function]] = {}
        self._unread: dict[str, slice] = {}
        self._entries: set[str] = set()
        self._variables: dict[str, Variable] = {}
        self._files: dict[int, str] = {}
        self._version = self._target = ""

    def module(self) -> Module:
        """Return the module."""
        for item in self._items:
            if isinstance(item, Tree):
                self._name(item)
        for item in self._items:
            if isinstance(item, Tree):
                self._item(item)
        late = LateFunctions(self._functions)
        used = tuple(self._used(late))
        functions = late if self._late else {**late}
        return Module(self._version, self._target, functions, self._variables, self._files, used)

    def _name(self, item: Tree[Token]) -> None:
        """Note the names that an item declares."""
        if item.data in ("function", "entry"):
            names = words(item)
        elif item.data == "declaration":
            names = [words(one)[0] for one in item.find_data("declarator")]
        else:
            return
        for name in names:
            self._names[str(name)] = Symbol(str(name))

    def _item(self, item: Tree[Token]) -> None:
        if item.data in ("function", "entry"):
            self._function(item)
        elif item.data == "declaration":
            self._declaration(item)
        elif item.data == "version":
            self._version = str(words(item)[0])
        elif item.data == "target":
            self._target = str(words(item)[0])
        elif item.data == "address_size":
            (size,) = words(item)
            if size != "64":
                raise self._source.refuse(size, f"addresses of {size} bits", "compile for 64 bits")
        elif item.data == "file":
            number, path, *_ = words(item)
            self._files[self._source.integer(number)] = path[1:-1]
        elif item.data == "alias":
            alias, name = words(item)
            found = self._functions.get(name)
            if found is None:
                raise self._source.refuse(name, f"{name} is not a function")
            self._functions[str(alias)] = lambda: replace(found(), name=str(alias))
            if name in self._entries:
                self._entries.add(str(alias))

    def _declaration(self, item: Tree[Token]) -> None:
        """Add module variables; a definition replaces what is only declared."""
        linkage, declared = item.children
        assert isinstance(linkage, Tree)
        assert isinstance(declared, Tree)
        space, modifiers, *declarators = declared.children
        assert isinstance(space, Token)
        assert isinstance(modifiers, Tree)
        if space == ".reg":
            raise self._source.refuse(space, "a register outside of a function")
        known = kind(space, modifiers, self._source)
        for declarator in declarators:
            assert isinstance(declarator, Tree)
            found = variable(known, declarator, self._source, self._symbol)
            if found.name not in self._variables or ".extern" not in words(linkage):
                self._variables[found.name] = found

    def _symbol(self, name: Token) -> Symbol:
        if name not in self._names:
            raise self._source.refuse(name, f"{name} is not declared", "declare it in the module")
        return self._names[name]

    def _function(self, item: Tree[Token]) -> None:
        """Add a function; a definition replaces what is only declared."""
        (name,) = words(item)
        if item.data == "entry":
            self._entries.add(str(name))
        part = self._part(item)
        if part is not None:
            self._unread[str(name)] = part
            self._functions[str(name)] = partial(self._made, item)
            return
        found = self._made(item)
        if found.body is not None or name not in self._functions:
            self._functions[str(name)] = lambda: found

    def _part(self, item: Tree[Token]) -> slice | None:
        """Return which part of the text is a function's body that is read late, if it is."""
        last = item.children[-1]
        if not isinstance(last, Tree) or last.data != "body":
            return None
        begin = words(last)[0].start_pos or 0
        return slice(begin, self._late[begin]) if begin in self._late else None

    @unsearched()
    def _made(self, item: Tree[Token]) -> Function:
        """Read a function."""
        (name,) = words(item)
        body = Body(self._source, Places(self._strings), self._names)
        text = None
        lists: dict[str, list[Variable]] = {"results": [], "parameters": []}
        limits: dict[str, tuple[int, ...]] = {}
        for part in item.children:
            if not isinstance(part, Tree):
                continue
            if part.data == "limit":
                limits.update(self._limit(part))
            elif part.data == "body":
                text = part
            elif part.data in lists:
                declared = part.find_data("parameter")
                lists[part.data] = [self._parameter(one, body) for one in declared]
        where = Where(0, 0, 0, name.line or 0)
        if text is not None:
            late = self._part(item)
            if late is not None:
                before = blank(self._source.text, 0, late.start)
                text = _tree(before + self._source.text[late], "body", self._source)
            body.read(text)
            places = Places(self._strings)
            for first in words(text)[1:2]:  # behind the brace
                places.move(first)
            where = places.at(where.ptx)
        return Function(
            name=str(name),
            is_entry=item.data == "entry",
            parameters=tuple(lists["parameters"]),
            results=tuple(lists["results"]),
            body=None if text is None else tuple(body.items),
            registers=body.registers,
            variables=tuple(body.variables),
            tables=body.tables,
            limits=limits,
            where=where,
        )

    def _used(self, functions: Mapping[str, Function]) -> Iterator[str]:
        """Return the functions, but no kernels, whose address the module uses."""
        plain = [name for name in functions if name not in self._entries]
        if not plain:
            return
        used = {part.symbol.name for one in self._variables.values() for part in one.references}
        names = re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, plain))})(?![\w$])")
        for name in functions:
            part = self._unread.get(name)
            if part is not None and not may_use(self._source.text[part], names):
                continue
            for one in functions[name].body or ():
                if isinstance(one, Instruction) and one.name[0] != "call":
                    used |= {part.name for part in one.operands if isinstance(part, Symbol)}
        yield from (name for name in plain if name in used)

    def _limit(self, part: Tree[Token]) -> dict[str, tuple[int, ...]]:
        """Return a directive about a function with its numbers."""
        word, *numbers = words(part)
        return {word[1:]: tuple(map(self._source.integer, numbers))}

    def _parameter(self, part: Tree[Token], body: Body) -> Variable:
        space, modifiers, declarator = part.children
        assert isinstance(space, Token)
        assert isinstance(modifiers, Tree)
        assert isinstance(declarator, Tree)
        declared = kind(space, modifiers, self._source)
        found = variable(declared, declarator, self._source, self._symbol)
        body.parameter(found, words(declarator)[0])
        return found
