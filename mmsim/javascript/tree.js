/*
 * Python's syntax tree: nodes with the names, the fields and the places of Python's module `ast`.
 *
 * A node is an object whose `kind` is the name of its class; `row`, `column`, `endRow` and `endColumn` say where it
 * stands. Operators are the names of their classes, as "Add".
 */
import { NotPython, tokensOf } from "./tokens.js";

const PYTHON_KEYWORDS = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally for from global "
    + "if import in is lambda nonlocal not or pass raise return try while with yield").split(" "),
);
const COMPARISONS = { "==": "Eq", "!=": "NotEq", "<": "Lt", "<=": "LtE", ">": "Gt", ">=": "GtE", in: "In" };
const TREE_BINARY = [
  { "|": "BitOr" },
  { "^": "BitXor" },
  { "&": "BitAnd" },
  { "<<": "LShift", ">>": "RShift" },
  { "+": "Add", "-": "Sub" },
  { "*": "Mult", "/": "Div", "//": "FloorDiv", "%": "Mod", "@": "MatMult" },
];
const TREE_UNARY = { "-": "USub", "+": "UAdd", "~": "Invert" };
const AUGMENTED = {
  ...{ "+=": "Add", "-=": "Sub", "*=": "Mult", "/=": "Div", "//=": "FloorDiv", "%=": "Mod", "@=": "MatMult" },
  ...{ "&=": "BitAnd", "|=": "BitOr", "^=": "BitXor", "<<=": "LShift", ">>=": "RShift", "**=": "Pow" },
};
/** The statements with blocks, with the method that reads them. */
const COMPOUND_STATEMENTS = {
  ...{ if: "if", while: "while", for: "for", try: "try", with: "with", def: "def", class: "class", async: "async" },
  "@": "decorated",
};
const TEXT_TOKENS = new Set(["NAME", "OP", "NUMBER", "STRING"]);
const SMALL_STATEMENTS = {
  pass: "Pass", break: "Break", continue: "Continue", return: "Return", raise: "Raise", del: "Delete",
  assert: "Assert", global: "Global", nonlocal: "Nonlocal", import: "Import", from: "ImportFrom",
};
/** The most levels of nesting that this parser follows. */
const DEEPEST_TREE = 1500;
/** The fields of nodes that hold nodes, in the order of Python's module `ast`. */
const CHILDREN = {
  FunctionDef: "args body decorators returns", AsyncFunctionDef: "args body decorators returns",
  ClassDef: "bases keywords body decorators", Return: "value", Delete: "targets", Assign: "targets value",
  AugAssign: "target value", AnnAssign: "target annotation value", For: "target iter body orelse",
  AsyncFor: "target iter body orelse", While: "test body orelse", If: "test body orelse", With: "items body",
  AsyncWith: "items body", withitem: "context variables", Match: "subject cases", match_case: "guard body",
  Raise: "exc cause", Try: "body handlers orelse finalbody", TryStar: "body handlers orelse finalbody",
  ExceptHandler: "type body", Assert: "test msg", Expr: "value", BoolOp: "values", NamedExpr: "target value",
  BinOp: "left right", UnaryOp: "operand", Lambda: "args body", IfExp: "test body orelse", Dict: "keys values",
  Set: "elts", ListComp: "elt generators", SetComp: "elt generators", GeneratorExp: "elt generators",
  DictComp: "key value generators", comprehension: "target iter ifs", Await: "value", Yield: "value",
  YieldFrom: "value", Compare: "left comparators", Call: "func args keywords", keyword: "value", Attribute: "value",
  Subscript: "value slice", Starred: "value", List: "elts", Tuple: "elts", Slice: "lower upper step",
  arguments: "posonly args vararg kwonly kwDefaults kwarg defaults", arg: "annotation",
};
const NO_NAMES = [];
for (const [kind, names] of Object.entries(CHILDREN)) CHILDREN[kind] = names.split(" ");

/** The nodes right inside a node. */
export function childNodes(node) {
  const found = [];
  for (const name of CHILDREN[node.kind] ?? NO_NAMES) {
    const held = node[name];
    if (!Array.isArray(held)) {
      if (held) found.push(held);
    } else for (const one of held) if (one !== null) found.push(one);
  }
  return found;
}

/** A node and all nodes inside, level by level, as Python's `ast.walk`. */
export function walkTree(node) {
  const found = [node];
  for (let at = 0; at < found.length; at += 1) for (const one of childNodes(found[at])) found.push(one);
  return found;
}

/** The tree of a text: the statements, and the tokens they were read from. */
export function treeOf(lines) {
  const tokens = tokensOf(lines);
  try {
    const body = new TreeParser(tokens).file();
    checkTree(body);
    return { body, tokens };
  } catch (error) {
    if (error instanceof RangeError) throw new NotPython("the text is nested too deeply", 1, 0);
    throw error;
  }
}

class TreeParser {
  constructor(tokens) {
    this.tokens = tokens.filter((one) => one.type !== "NL" && one.type !== "COMMENT");
    this.at = 0;
    this.depth = 0;
    this.last = null; // the last token that is text
  }

  get token() {
    return this.tokens[this.at];
  }

  // Tokens

  next() {
    const { token } = this;
    if (TEXT_TOKENS.has(token.type)) this.last = token;
    if (token.type !== "ENDMARKER") this.at += 1;
    return token;
  }

  is(text, ahead = 0) {
    const token = this.tokens[this.at + ahead];
    if (token === undefined || token.text !== text) return false;
    return token.type === "OP" || (token.type === "NAME" && PYTHON_KEYWORDS.has(text));
  }

  isAny(table) {
    const { token } = this;
    return (token.type === "OP" || token.type === "NAME") && Object.hasOwn(table, token.text);
  }

  accept(text) {
    return this.is(text) ? this.next() : null;
  }

  expect(text, message = `expected '${text}'`) {
    if (!this.is(text)) throw this.wrong(message);
    return this.next();
  }

  isType(type) {
    return this.token.type === type;
  }

  isName(ahead = 0) {
    const token = this.tokens[this.at + ahead];
    return token?.type === "NAME" && !PYTHON_KEYWORDS.has(token.text);
  }

  name() {
    if (!this.isName()) throw this.wrong();
    return this.next().text;
  }

  wrong(message = "invalid syntax", token = this.token) {
    if (token.type === "INDENT" && message === "invalid syntax") message = "unexpected indent";
    const end = token.endRow === token.row ? token.endColumn : token.column + 1;
    return new NotPython(message, token.row, token.column, Math.max(end, token.column + 1));
  }

  wrongNode(message, node) {
    const end = node.endRow === node.row ? node.endColumn : node.column + 1;
    return new NotPython(message, node.row, node.column, end);
  }

  /** A node from a token, or from a node, to the last token that was read. */
  node(kind, start, fields) {
    const { endRow, endColumn } = this.last;
    return { kind, row: start.row, column: start.column, endRow, endColumn, ...fields };
  }

  deeper(read) {
    this.depth += 1;
    if (this.depth > DEEPEST_TREE) throw this.wrong("the text is nested too deeply");
    const found = read.call(this);
    this.depth -= 1;
    return found;
  }

  /** What `read` reads, or null, with nothing read, where it can't. */
  attempt(read) {
    const { at, depth, last } = this;
    try {
      return read.call(this);
    } catch (error) {
      if (!(error instanceof NotPython)) throw error;
      Object.assign(this, { at, depth, last });
      return null;
    }
  }

  // Statements

  file() {
    const body = [];
    while (!this.isType("ENDMARKER")) body.push(...this.statements());
    return body;
  }

  statements() {
    const { token } = this;
    if (token.type === "INDENT") throw this.wrong("unexpected indent");
    if (this.isAny(COMPOUND_STATEMENTS)) return [this.deeper(this[COMPOUND_STATEMENTS[token.text]])];
    if (token.type === "NAME" && token.text === "match") {
      const found = this.match();
      if (found) return [found];
    }
    return this.simple();
  }

  block(what, head) {
    if (!this.isType("NEWLINE")) return this.simple();
    this.next();
    if (!this.isType("INDENT")) {
      throw this.wrong(`expected an indented block after ${what} on line ${head.row}`);
    }
    this.next();
    const body = [];
    while (!this.isType("DEDENT")) body.push(...this.statements());
    this.next();
    return body;
  }

  simple() {
    const found = [];
    do {
      if (this.isType("NEWLINE") && found.length) break;
      found.push(this.small());
    } while (this.accept(";"));
    if (!this.isType("NEWLINE")) throw this.wrong();
    this.next();
    return found;
  }

  small() {
    const start = this.token;
    if (start.type !== "NAME" || !Object.hasOwn(SMALL_STATEMENTS, start.text)) return this.assignment();
    const kind = SMALL_STATEMENTS[start.text];
    this.next();
    const ends = this.isType("NEWLINE") || this.is(";");
    const fields = {};
    if (kind === "Return") fields.value = ends ? null : this.starExpressions();
    if (kind === "Raise") {
      fields.exc = ends ? null : this.expression();
      fields.cause = fields.exc && this.accept("from") ? this.expression() : null;
    }
    if (kind === "Assert") {
      fields.test = this.expression();
      fields.msg = this.accept(",") ? this.expression() : null;
    }
    if (kind === "Delete") {
      const target = this.starExpressions();
      this.store(target, "Del");
      fields.targets = target.kind === "Tuple" && target.column === target.elts[0]?.column ? target.elts : [target];
    }
    if (kind === "Global" || kind === "Nonlocal") {
      fields.names = [this.name()];
      while (this.accept(",")) fields.names.push(this.name());
    }
    if (kind === "Import") fields.names = this.several(() => this.alias(true));
    if (kind === "ImportFrom") Object.assign(fields, this.importFrom());
    return this.node(kind, start, fields);
  }

  several(read) {
    const found = [read()];
    while (this.accept(",")) found.push(read());
    return found;
  }

  dotted() {
    const names = [this.name()];
    while (this.accept(".")) names.push(this.name());
    return names.join(".");
  }

  alias(isDotted) {
    const start = this.token;
    const name = isDotted ? this.dotted() : this.name();
    const asname = this.accept("as") ? this.name() : null;
    return this.node("alias", start, { name, asname });
  }

  importFrom() {
    let level = 0;
    for (; this.is(".") || this.is("..."); this.next()) level += this.token.text.length;
    const module = level && this.is("import") ? null : this.dotted();
    this.expect("import", "invalid syntax");
    if (this.is("*")) {
      const start = this.next();
      return { module, level, names: [this.node("alias", start, { name: "*", asname: null })] };
    }
    if (!this.accept("(")) return { module, level, names: this.several(() => this.alias(false)) };
    const names = [this.alias(false)];
    while (this.accept(",") && !this.is(")")) names.push(this.alias(false));
    this.expect(")", "invalid syntax");
    return { module, level, names };
  }

  assignment() {
    const start = this.token;
    const first = this.is("yield") ? this.yield() : this.starExpressions();
    if (this.is(":") && first.kind !== "Yield") {
      const isPlain = start.text !== "(";
      if (!["Name", "Attribute", "Subscript"].includes(first.kind)) {
        const what = { Tuple: "tuple", List: "list" }[first.kind];
        const message = what ? `only single target (not ${what}) can be annotated`
          : "illegal target for annotation";
        throw this.wrongNode(message, first);
      }
      this.next();
      this.store(first);
      const annotation = this.expression();
      const value = this.accept("=") ? this.yieldOrStar() : null;
      return this.node("AnnAssign", start, { target: first, annotation, value, isPlain });
    }
    if (this.isAny(AUGMENTED)) {
      if (!["Name", "Attribute", "Subscript"].includes(first.kind)) {
        throw this.wrongNode(`'${nameOfKind(first)}' is an illegal expression for augmented assignment`, first);
      }
      const op = AUGMENTED[this.next().text];
      this.store(first);
      return this.node("AugAssign", start, { target: first, op, value: this.yieldOrStar() });
    }
    if (!this.is("=")) return this.node("Expr", start, { value: first });
    const parts = [first];
    while (this.accept("=")) parts.push(this.yieldOrStar());
    const value = parts.pop();
    for (const target of parts) this.store(target);
    return this.node("Assign", start, { targets: parts, value });
  }

  /** Make an expression a target, or refuse it. */
  store(target, context = "Store") {
    if (target.kind === "Tuple" || target.kind === "List") {
      for (const one of target.elts) this.store(one, context);
    } else if (target.kind === "Starred" && context === "Store") this.store(target.value, context);
    else if (!["Name", "Attribute", "Subscript"].includes(target.kind)) {
      const verb = context === "Del" ? "delete" : "assign to";
      throw this.wrongNode(`cannot ${verb} ${nameOfKind(target)}`, target);
    }
    target.context = context;
    return target;
  }

  if() {
    const start = this.next();
    const test = this.namedExpression();
    this.expect(":");
    const body = this.block(`'${start.text}' statement`, start);
    let orelse = [];
    if (this.is("elif")) orelse = [this.deeper(this.if)];
    else orelse = this.else();
    return this.node("If", start, { test, body, orelse });
  }

  else() {
    const start = this.accept("else");
    if (!start) return [];
    this.expect(":");
    return this.block("'else' statement", start);
  }

  while() {
    const start = this.next();
    const test = this.namedExpression();
    this.expect(":");
    const body = this.block("'while' statement", start);
    return this.node("While", start, { test, body, orelse: this.else() });
  }

  for(start = this.token, kind = "For") {
    this.next();
    const target = this.store(this.targets());
    this.expect("in", "invalid syntax");
    const iter = this.starExpressions();
    this.expect(":");
    const body = this.block("'for' statement", start);
    return this.node(kind, start, { target, iter, body, orelse: this.else() });
  }

  /** The targets of a loop: what stands before `in` is no comparison. */
  targets() {
    const start = this.token;
    const one = () => {
      const from = this.token;
      if (!this.accept("*")) return this.primary();
      return this.node("Starred", from, { value: this.primary(), context: "Load" });
    };
    const first = one();
    if (!this.is(",")) return first;
    const elts = [first];
    while (this.accept(",") && !this.is("in")) elts.push(one());
    return this.node("Tuple", start, { elts, context: "Load" });
  }

  try() {
    const start = this.next();
    this.expect(":");
    const body = this.block("'try' statement", start);
    const handlers = [];
    let isStar = false;
    while (this.is("except")) {
      const head = this.next();
      const star = this.accept("*") !== null;
      if (handlers.length && star !== isStar) throw this.wrong("cannot have both 'except' and 'except*'", head);
      isStar = star;
      const type = this.is(":") ? null : this.expression();
      if (this.is(",")) throw this.wrong("multiple exception types must be parenthesized");
      if (star && !type) throw this.wrong("expected one or more exception types");
      const name = type && this.accept("as") ? this.name() : null;
      this.expect(":");
      const inside = this.block(`'except${star ? "*" : ""}' statement`, head);
      handlers.push(this.node("ExceptHandler", head, { type, name, body: inside }));
    }
    const orelse = handlers.length ? this.else() : [];
    const last = this.accept("finally");
    if (last) this.expect(":");
    const finalbody = last ? this.block("'finally' statement", last) : [];
    if (!handlers.length && !last) throw this.wrong("expected 'except' or 'finally' block");
    const open = handlers.slice(0, -1).find((one) => one.type === null);
    if (open) throw this.wrongNode("default 'except:' must be last", open);
    return this.node(isStar ? "TryStar" : "Try", start, { body, handlers, orelse, finalbody });
  }

  with(start = this.token, kind = "With") {
    this.next();
    const item = () => {
      const from = this.token;
      const context = this.expression();
      const variables = this.accept("as") ? this.store(this.starTarget()) : null;
      return this.node("withitem", from, { context, variables });
    };
    const inParentheses = () => {
      this.expect("(");
      const found = [item()];
      while (this.accept(",") && !this.is(")")) found.push(item());
      this.expect(")");
      this.expect(":");
      return found;
    };
    let items = this.is("(") ? this.attempt(inParentheses) : null;
    if (!items) {
      items = this.several(item);
      this.expect(":");
    }
    return this.node(kind, start, { items, body: this.block("'with' statement", start) });
  }

  starTarget() {
    const start = this.token;
    if (this.accept("*")) return this.node("Starred", start, { value: this.primary(), context: "Load" });
    return this.primary();
  }

  async() {
    const start = this.next();
    if (this.is("def")) return this.def([], start, "AsyncFunctionDef");
    if (this.is("for")) return this.for(start, "AsyncFor");
    if (this.is("with")) return this.with(start, "AsyncWith");
    throw this.wrong();
  }

  decorated() {
    const decorators = [];
    while (this.accept("@")) {
      decorators.push(this.namedExpression());
      if (!this.isType("NEWLINE")) throw this.wrong();
      this.next();
    }
    if (this.is("class")) return this.class(decorators);
    const start = this.token;
    const isAsync = this.accept("async") !== null;
    if (!this.is("def")) throw this.wrong();
    return this.def(decorators, start, isAsync ? "AsyncFunctionDef" : "FunctionDef");
  }

  def(decorators = [], start = this.token, kind = "FunctionDef") {
    this.next();
    const name = this.name();
    this.expect("(");
    const args = this.parameters(")", true);
    this.expect(")", "invalid syntax");
    const returns = this.accept("->") ? this.expression() : null;
    this.expect(":");
    const body = this.block("function definition", start);
    return this.node(kind, start, { name, args, body, decorators, returns });
  }

  class(decorators = []) {
    const start = this.next();
    const name = this.name();
    const { args, keywords } = this.accept("(") ? this.callArguments() : { args: [], keywords: [] };
    this.expect(":");
    const body = this.block("class definition", start);
    return this.node("ClassDef", start, { name, bases: args, keywords, body, decorators });
  }

  /** The parameters of a function or, without annotations, of a lambda. */
  parameters(end, isAnnotated) {
    const start = this.token;
    const found = { posonly: [], args: [], vararg: null, kwonly: [], kwDefaults: [], kwarg: null, defaults: [] };
    const names = new Set();
    let isAfterStar = false;
    const one = (isStar = false) => {
      const from = this.token;
      const arg = this.name();
      if (names.has(arg)) throw this.wrong(`duplicate argument '${arg}' in function definition`, from);
      names.add(arg);
      let annotation = null;
      if (isAnnotated && this.accept(":")) annotation = isStar ? this.starExpression() : this.expression();
      return this.node("arg", from, { arg, annotation });
    };
    while (!this.is(end)) {
      const { token } = this;
      if (this.accept("**")) {
        found.kwarg = one();
        this.accept(",");
        if (!this.is(end)) throw this.wrong("arguments cannot follow var-keyword argument");
        break;
      }
      if (this.accept("*")) {
        if (isAfterStar) throw this.wrong("* argument may appear only once", token);
        isAfterStar = true;
        if (!this.is(",")) found.vararg = one(true);
        else if (this.is(end, 1) || this.is("**", 1)) {
          throw this.wrong("named arguments must follow bare *", token);
        }
      } else if (this.accept("/")) {
        if (isAfterStar || found.posonly.length || !found.args.length) throw this.wrong("invalid syntax", token);
        [found.posonly, found.args] = [found.args, []];
      } else {
        const arg = one();
        const value = this.accept("=") ? this.expression() : null;
        if (isAfterStar) {
          found.kwonly.push(arg);
          found.kwDefaults.push(value);
        } else {
          if (value) found.defaults.push(value);
          else if (found.defaults.length) {
            throw this.wrongNode("non-default argument follows default argument", arg);
          }
          found.args.push(arg);
        }
      }
      if (!this.accept(",")) break;
    }
    if (isAfterStar && !found.vararg && !found.kwonly.length) {
      throw this.wrong("named arguments must follow bare *", start);
    }
    return { kind: "arguments", ...found };
  }

  /** A match statement; null where `match` is only a name. */
  match() {
    const start = this.token;
    const subject = this.attempt(() => {
      this.next();
      const value = this.starNamedExpressions();
      this.expect(":");
      if (!this.isType("NEWLINE")) throw this.wrong();
      this.next();
      if (!this.isType("INDENT")) throw this.wrong();
      this.next();
      if (this.token.text !== "case") throw this.wrong();
      return value;
    });
    if (!subject) return null;
    const cases = [];
    while (!this.isType("DEDENT")) {
      const head = this.token;
      if (head.text !== "case") throw this.wrong();
      this.next();
      this.deeper(() => this.openPattern());
      const guard = this.accept("if") ? this.namedExpression() : null;
      this.expect(":");
      cases.push({ kind: "match_case", guard, body: this.block("'case' statement", head) });
    }
    this.next();
    return this.node("Match", start, { subject, cases });
  }

  // Patterns: read, and dropped

  openPattern() {
    const one = () => (this.accept("*") ? this.name() : this.asPattern());
    const isStar = this.is("*");
    one();
    if (isStar && !this.is(",")) throw this.wrong();
    while (this.accept(",") && !this.is(":") && !this.is("if")) one();
  }

  asPattern() {
    this.deeper(() => {
      this.closedPattern();
      while (this.accept("|")) this.closedPattern();
      if (this.accept("as")) this.name();
    });
  }

  closedPattern() {
    const close = { "(": ")", "[": "]" }[this.token.type === "OP" ? this.token.text : ""];
    if (close) {
      this.next();
      this.patterns(close, () => (this.accept("*") ? this.name() : this.asPattern()));
    } else if (this.accept("{")) {
      this.patterns("}", () => {
        if (this.accept("**")) return this.name();
        if (this.isName()) this.dotted();
        else this.patternNumber();
        this.expect(":", "invalid syntax");
        return this.asPattern();
      });
    } else if (this.isName()) {
      this.dotted();
      if (!this.accept("(")) return;
      this.patterns(")", () => {
        if (this.isName() && this.is("=", 1)) {
          this.next();
          this.next();
        }
        this.asPattern();
      });
    } else this.patternNumber();
  }

  patterns(close, read) {
    while (!this.is(close)) {
      read();
      if (!this.accept(",")) break;
    }
    this.expect(close, "invalid syntax");
  }

  patternNumber() {
    if (["None", "True", "False"].some((one) => this.accept(one))) return;
    if (this.isType("STRING")) {
      this.strings();
      return;
    }
    const number = () => {
      if (!this.isType("NUMBER")) throw this.wrong();
      this.next();
    };
    this.accept("-");
    number();
    if (this.accept("+") || this.accept("-")) number();
  }

  // Expressions

  starExpressions() {
    return this.listed(() => this.starExpression());
  }

  starNamedExpressions() {
    return this.listed(() => this.starNamedExpression());
  }

  /** One expression, or a tuple without parentheses. */
  listed(read) {
    const start = this.token;
    const first = read();
    if (!this.is(",")) return first;
    const elts = [first];
    while (this.accept(",") && this.beginsExpression()) elts.push(read());
    return this.node("Tuple", start, { elts, context: "Load" });
  }

  beginsExpression() {
    const { token } = this;
    if (["NUMBER", "STRING"].includes(token.type)) return true;
    if (token.type === "NAME") {
      return this.isName() || ["None", "True", "False", "not", "lambda", "await"].includes(token.text);
    }
    return token.type === "OP" && ["(", "[", "{", "-", "+", "~", "*", "..."].includes(token.text);
  }

  starred(otherwise) {
    const start = this.token;
    if (!this.accept("*")) return otherwise.call(this);
    return this.node("Starred", start, { value: this.binary(0), context: "Load" });
  }

  starExpression() {
    return this.starred(this.expression);
  }

  starNamedExpression() {
    return this.starred(this.namedExpression);
  }

  yieldOrStar() {
    return this.is("yield") ? this.yield() : this.starExpressions();
  }

  yield() {
    const start = this.next();
    if (this.accept("from")) return this.node("YieldFrom", start, { value: this.expression() });
    return this.node("Yield", start, { value: this.beginsExpression() ? this.starExpressions() : null });
  }

  namedExpression() {
    const start = this.token;
    if (!this.isName() || !this.is(":=", 1)) {
      const found = this.expression();
      if (this.is(":=")) {
        throw this.wrongNode(`cannot use assignment expressions with ${nameOfKind(found)}`, found);
      }
      return found;
    }
    const target = this.nameNode("Store");
    this.next();
    return this.node("NamedExpr", start, { target, value: this.expression() });
  }

  expression() {
    return this.deeper(this.conditional);
  }

  conditional() {
    const start = this.token;
    if (this.accept("lambda")) {
      const args = this.parameters(":", false);
      this.expect(":", "invalid syntax");
      return this.node("Lambda", start, { args, body: this.expression() });
    }
    const body = this.disjunction();
    if (!this.accept("if")) return body;
    const test = this.disjunction();
    this.expect("else", "expected 'else' after 'if' expression");
    const orelse = this.expression();
    return this.node("IfExp", start, { test, body, orelse });
  }

  joined(word, op, read) {
    const start = this.token;
    const first = read.call(this);
    if (!this.is(word)) return first;
    const values = [first];
    while (this.accept(word)) values.push(read.call(this));
    return this.node("BoolOp", start, { op, values });
  }

  disjunction() {
    return this.joined("or", "Or", this.conjunction);
  }

  conjunction() {
    return this.joined("and", "And", this.inversion);
  }

  inversion() {
    const start = this.token;
    if (!this.accept("not")) return this.comparison();
    const operand = this.deeper(this.inversion);
    return this.node("UnaryOp", start, { op: "Not", operand });
  }

  comparison() {
    const start = this.token;
    const left = this.binary(0);
    const [ops, comparators] = [[], []];
    for (;;) {
      if (this.is("not") && this.is("in", 1)) {
        this.next();
        this.next();
        ops.push("NotIn");
      } else if (this.accept("is")) ops.push(this.accept("not") ? "IsNot" : "Is");
      else if (this.isAny(COMPARISONS)) ops.push(COMPARISONS[this.next().text]);
      else break;
      comparators.push(this.binary(0));
    }
    return ops.length ? this.node("Compare", start, { left, ops, comparators }) : left;
  }

  binary(level) {
    if (level === TREE_BINARY.length) return this.factor();
    const [start, table] = [this.token, TREE_BINARY[level]];
    let left = this.binary(level + 1);
    while (this.token.type === "OP" && Object.hasOwn(table, this.token.text)) {
      const op = table[this.next().text];
      const right = this.binary(level + 1);
      left = this.node("BinOp", start, { left, op, right });
    }
    return left;
  }

  factor() {
    const start = this.token;
    if (start.type === "OP" && Object.hasOwn(TREE_UNARY, start.text)) {
      this.next();
      const operand = this.deeper(this.factor);
      return this.node("UnaryOp", start, { op: TREE_UNARY[start.text], operand });
    }
    const left = this.awaited();
    if (!this.accept("**")) return left;
    const right = this.deeper(this.factor);
    return this.node("BinOp", start, { left, op: "Pow", right });
  }

  awaited() {
    const start = this.token;
    if (!this.accept("await")) return this.primary();
    return this.node("Await", start, { value: this.primary() });
  }

  primary() {
    const start = this.token;
    let value = this.atom();
    for (;;) {
      if (this.accept(".")) value = this.node("Attribute", start, { value, attr: this.name(), context: "Load" });
      else if (this.accept("(")) value = this.node("Call", start, { func: value, ...this.callArguments() });
      else if (this.accept("[")) {
        const slice = this.deeper(this.slices);
        this.expect("]", "invalid syntax");
        value = this.node("Subscript", start, { value, slice, context: "Load" });
      } else return value;
    }
  }

  /** The arguments of a call, to the closing parenthesis. */
  callArguments() {
    return this.deeper(() => {
      const [args, keywords] = [[], []];
      const names = new Set();
      while (!this.is(")")) {
        const start = this.token;
        if (this.accept("**")) keywords.push(this.node("keyword", start, { arg: null, value: this.expression() }));
        else if (this.accept("*")) {
          if (keywords.some((one) => one.arg === null)) {
            throw this.wrong("iterable argument unpacking follows keyword argument unpacking", start);
          }
          const value = this.expression();
          args.push(this.node("Starred", start, { value, context: "Load" }));
        } else if (this.isName() && this.is("=", 1)) {
          const arg = this.name();
          this.next();
          const value = this.expression();
          const found = this.node("keyword", start, { arg, value });
          if (names.has(arg)) throw this.wrongNode(`keyword argument repeated: ${arg}`, found);
          names.add(arg);
          keywords.push(found);
        } else {
          let found = this.namedExpression();
          if (this.is("for") || this.is("async")) {
            const generators = this.generators();
            if (args.length || keywords.length || !this.is(")")) {
              throw this.wrongNode("Generator expression must be parenthesized", found);
            }
            const open = this.tokens[this.tokens.indexOf(start, 0) - 1];
            const close = this.token;
            found = {
              ...{ kind: "GeneratorExp", row: open.row, column: open.column, elt: found, generators },
              ...{ endRow: close.endRow, endColumn: close.endColumn },
            };
          }
          if (this.is("=")) {
            const maybe = "expression cannot contain assignment, perhaps you meant \"==\"?";
            throw this.wrongNode(maybe, found);
          }
          if (keywords.length) {
            const kind = keywords.some((one) => one.arg === null) ? "keyword argument unpacking" : "keyword argument";
            throw this.wrongNode(`positional argument follows ${kind}`, found);
          }
          args.push(found);
        }
        if (!this.accept(",")) break;
      }
      this.expect(")", "invalid syntax. Perhaps you forgot a comma?");
      return { args, keywords };
    });
  }

  slices() {
    const start = this.token;
    const one = () => (this.is("*") ? this.starExpression() : this.slice());
    const first = one();
    if (!this.is(",") && first.kind !== "Starred") return first;
    const elts = [first];
    while (this.accept(",") && !this.is("]")) elts.push(one());
    return this.node("Tuple", start, { elts, context: "Load" });
  }

  slice() {
    const start = this.token;
    const part = () => (this.is(":") || this.is("]") || this.is(",") ? null : this.expression());
    if (!this.is(":")) {
      const found = this.namedExpression();
      if (!this.is(":")) return found;
      return this.restOfSlice(start, found, part);
    }
    return this.restOfSlice(start, null, part);
  }

  restOfSlice(start, lower, part) {
    this.expect(":");
    const upper = part();
    const step = this.accept(":") ? part() : null;
    return this.node("Slice", start, { lower, upper, step });
  }

  generators() {
    const found = [];
    while (this.is("for") || (this.is("async") && this.is("for", 1))) {
      const start = this.token;
      const isAsync = this.accept("async") !== null;
      this.next();
      const target = this.store(this.targets());
      this.expect("in", "invalid syntax");
      const iter = this.disjunction();
      const ifs = [];
      while (this.accept("if")) ifs.push(this.disjunction());
      found.push(this.node("comprehension", start, { target, iter, ifs, isAsync }));
    }
    if (!found.length) throw this.wrong();
    return found;
  }

  nameNode(context = "Load") {
    const start = this.next();
    return this.node("Name", start, { id: start.text, context });
  }

  atom() {
    const { token } = this;
    if (token.type === "NUMBER") {
      this.next();
      return this.node("Constant", token, { value: numberIn(token.text) });
    }
    if (token.type === "STRING") return this.strings();
    if (this.isName()) return this.nameNode();
    const constants = { None: { is: "none" }, True: { is: "bool", value: true }, False: { is: "bool", value: false } };
    if (token.type === "NAME" && Object.hasOwn(constants, token.text)) {
      this.next();
      return this.node("Constant", token, { value: constants[token.text] });
    }
    if (this.accept("...")) return this.node("Constant", token, { value: { is: "ellipsis" } });
    if (this.is("(")) return this.deeper(this.group);
    if (this.is("[")) return this.deeper(this.list);
    if (this.is("{")) return this.deeper(this.dict);
    throw this.wrong();
  }

  group() {
    const start = this.next();
    if (this.accept(")")) return this.node("Tuple", start, { elts: [], context: "Load" });
    if (this.is("yield")) {
      const found = this.yield();
      this.expect(")", "invalid syntax");
      return found;
    }
    const first = this.starNamedExpression();
    if (this.is("for") || this.is("async")) return this.comprehension("GeneratorExp", start, { elt: first }, ")");
    if (!this.is(",")) {
      if (first.kind === "Starred") throw this.wrongNode("cannot use starred expression here", first);
      this.expect(")", "invalid syntax. Perhaps you forgot a comma?");
      return first;
    }
    const elts = [first];
    while (this.accept(",") && !this.is(")")) elts.push(this.starNamedExpression());
    this.expect(")", "invalid syntax. Perhaps you forgot a comma?");
    return this.node("Tuple", start, { elts, context: "Load" });
  }

  comprehension(kind, start, fields, close) {
    const star = fields.elt?.kind === "Starred" ? fields.elt : null;
    if (star) throw this.wrongNode("iterable unpacking cannot be used in comprehension", star);
    const generators = this.generators();
    this.expect(close, "invalid syntax");
    return this.node(kind, start, { ...fields, generators });
  }

  list() {
    const start = this.next();
    const elts = [];
    while (!this.is("]")) {
      elts.push(this.starNamedExpression());
      if (elts.length === 1 && (this.is("for") || this.is("async"))) {
        return this.comprehension("ListComp", start, { elt: elts[0] }, "]");
      }
      if (!this.accept(",")) break;
    }
    this.expect("]", "invalid syntax. Perhaps you forgot a comma?");
    return this.node("List", start, { elts, context: "Load" });
  }

  dict() {
    const start = this.next();
    const [keys, values, elts] = [[], [], []];
    const isComprehension = () => this.is("for") || this.is("async");
    while (!this.is("}")) {
      if (this.is("**")) {
        if (elts.length) throw this.wrong();
        this.next();
        keys.push(null);
        values.push(this.binary(0));
      } else {
        const one = this.starNamedExpression();
        if (one.kind !== "Starred" && one.kind !== "NamedExpr" && this.is(":")) {
          if (elts.length) throw this.wrong();
          this.next();
          const value = this.expression();
          if (!keys.length && isComprehension()) {
            return this.comprehension("DictComp", start, { key: one, value }, "}");
          }
          keys.push(one);
          values.push(value);
        } else {
          if (keys.length) throw this.wrong("':' expected after dictionary key");
          elts.push(one);
          if (elts.length === 1 && isComprehension()) return this.comprehension("SetComp", start, { elt: one }, "}");
        }
      }
      if (!this.accept(",")) break;
    }
    this.expect("}", "invalid syntax. Perhaps you forgot a comma?");
    return elts.length ? this.node("Set", start, { elts }) : this.node("Dict", start, { keys, values });
  }

  strings() {
    const start = this.token;
    const [texts, whole] = [[], []];
    let [isFormatted, isBytes] = [false, null];
    while (this.isType("STRING")) {
      const token = this.next();
      const prefix = /^[a-zA-Z]*/.exec(token.text)[0].toLowerCase();
      const own = prefix.includes("b");
      whole.push(token.text);
      if (isBytes !== null && own !== isBytes) throw this.wrong("cannot mix bytes and nonbytes literals", start);
      isBytes = own;
      const quote = token.text.startsWith(token.text[prefix.length].repeat(3), prefix.length) ? 3 : 1;
      const inside = token.text.slice(prefix.length + quote, -quote);
      if (own && /[^\0-\x7f]/.test(inside)) {
        throw this.wrong("bytes can only contain ASCII literal characters", token);
      }
      if (prefix.includes("f")) isFormatted = true;
      texts.push(prefix.includes("r") ? inside : unescaped(inside, own, () => this.wrong(undefined, token)));
    }
    if (isFormatted) return this.node("JoinedStr", start, { text: whole.join(" ") });
    const value = { is: isBytes ? "bytes" : "str", value: texts.join("") };
    return this.node("Constant", start, { value });
  }
}

const ESCAPES = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v", "\\": "\\", "'": "'", '"': '"' };

/** A string's characters; `wrong` makes the error for an escape that isn't one. */
function unescaped(text, isBytes, wrong) {
  const pattern = /\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|N(?:\{[^}]*\})?|[^])/g;
  return text.replace(pattern, (whole, escape) => {
    if (escape === "\n") return "";
    if (Object.hasOwn(ESCAPES, escape)) return ESCAPES[escape];
    if (/^[0-7]/.test(escape)) return String.fromCharCode(parseInt(escape, 8) & (isBytes ? 255 : 511));
    const digits = { x: 2, u: isBytes ? 0 : 4, U: isBytes ? 0 : 8 }[escape[0]];
    if (digits) {
      const code = parseInt(escape.slice(1), 16);
      if (escape.length !== digits + 1 || code > 0x10ffff) {
        throw Object.assign(wrong(), { message: `truncated \\${escape[0]} escape in a string` });
      }
      return String.fromCodePoint(code);
    }
    return whole;
  });
}

/** The number in a token: `{is: "int", value}` with a BigInt, a float or a complex number. */
function numberIn(token) {
  const text = token.replaceAll("_", "");
  if (/^0[xXoObB]/.test(text)) return { is: "int", value: BigInt(text.toLowerCase()) };
  if (/[jJ]$/.test(text)) return { is: "complex", re: 0, im: Number(text.slice(0, -1)) };
  if (/[.eE]/.test(text)) return { is: "float", value: Number(text) };
  return { is: "int", value: BigInt(text) };
}

/** What Python calls an expression that can't be a target. */
function nameOfKind(node) {
  const names = {
    Call: "function call", BinOp: "expression", UnaryOp: "expression", BoolOp: "expression", Compare: "comparison",
    Lambda: "lambda", IfExp: "conditional expression", Dict: "dict literal", Set: "set display",
    JoinedStr: "f-string expression", ListComp: "list comprehension", SetComp: "set comprehension",
    DictComp: "dict comprehension", GeneratorExp: "generator expression", Yield: "yield expression",
    YieldFrom: "yield expression", Await: "await expression", NamedExpr: "named expression", Starred: "starred",
    Tuple: "tuple", List: "list", Name: "name", Attribute: "attribute", Subscript: "subscript",
  };
  if (node.kind !== "Constant") return names[node.kind] ?? "expression";
  const { is, value } = node.value;
  if (is === "none") return "None";
  if (is === "bool") return value ? "True" : "False";
  return is === "ellipsis" ? "ellipsis" : "literal";
}

/** The names that a node itself sets. */
function namesSet(node) {
  if (node.kind === "Name") return node.context === "Load" ? [] : [node.id];
  if (["FunctionDef", "AsyncFunctionDef", "ClassDef", "ExceptHandler"].includes(node.kind)) return [node.name];
  return node.kind === "arg" || node.kind === "keyword" ? [node.arg] : [];
}

function namesOfParameters({ args }) {
  if (args?.kind !== "arguments") return new Set();
  const every = [...args.posonly, ...args.args, args.vararg, ...args.kwonly, args.kwarg];
  return new Set(every.filter(Boolean).map((one) => one.arg));
}

const FUTURE_FEATURES = [
  ...["nested_scopes", "generators", "division", "absolute_import", "with_statement", "print_function"],
  ...["unicode_literals", "barry_as_FLUFL", "generator_stop", "annotations"],
];

/** The imports from `__future__` at the beginning of a text, after a docstring. */
function firstImports(body) {
  const found = new Set();
  for (const [at, node] of body.entries()) {
    const isText = node.kind === "Expr" && node.value.kind === "Constant" && node.value.value.is === "str";
    if (node.kind === "ImportFrom" && node.module === "__future__") found.add(node);
    else if (at > 0 || !isText) break;
  }
  return found;
}

const INNER_SCOPES = { FunctionDef: "function", AsyncFunctionDef: "async", Lambda: "lambda", ClassDef: "class" };

/** Refuse what Python refuses after parsing: jumps outside of loops, values outside of functions, and the like. */
function checkTree(body) {
  const top = { inLoop: false, scope: "module", depth: 0, parameters: new Set(), allowsStar: new Set() };
  top.futures = firstImports(body);
  const pending = body.map((node) => [node, top]).reverse();
  while (pending.length) {
    const [node, around] = pending.pop();
    const wrong = wrongIn(node, around);
    if (wrong) {
      const end = node.endRow === node.row ? node.endColumn : node.column + 1;
      throw new NotPython(wrong, node.row, node.column, end);
    }
    let inBody = around;
    if (["For", "AsyncFor", "While"].includes(node.kind)) inBody = { ...around, inLoop: true };
    if (Object.hasOwn(INNER_SCOPES, node.kind)) {
      const scope = INNER_SCOPES[node.kind];
      const depth = around.depth + (scope !== "class");
      inBody = { ...around, inLoop: false, scope, depth, parameters: namesOfParameters(node) };
    }
    const own = new Set(inBody === around ? [] : [node.body].flat());
    for (const one of childNodes(node)) pending.push([one, own.has(one) ? inBody : around]);
  }
}

/** What Python says of a node in the wrong place; "" for none. */
function wrongIn(node, { inLoop, scope, depth, parameters, allowsStar, futures }) {
  const { kind } = node;
  const inFunction = scope === "function" || scope === "async";
  if (namesSet(node).includes("__debug__")) return "cannot assign to __debug__";
  if (kind === "Break" && !inLoop) return "'break' outside loop";
  if (kind === "Continue" && !inLoop) return "'continue' not properly in loop";
  if (kind === "Return" && !inFunction) return "'return' outside function";
  const yields = kind === "Yield" || kind === "YieldFrom";
  if (yields && !inFunction && scope !== "lambda") return "'yield' outside function";
  if (kind === "YieldFrom" && scope === "async") return "'yield from' inside async function";
  if (kind === "Await" && scope !== "async") return "'await' outside async function";
  if ((kind === "AsyncFor" || kind === "AsyncWith") && scope !== "async") {
    return `'async ${kind === "AsyncFor" ? "for" : "with"}' outside async function`;
  }
  if (kind === "Global" || kind === "Nonlocal") {
    if (kind === "Nonlocal" && scope === "module") return "nonlocal declaration not allowed at module level";
    const name = node.names.find((one) => parameters.has(one));
    if (name) return `name '${name}' is parameter and ${kind.toLowerCase()}`;
    const isUnbound = kind === "Nonlocal" && scope !== "class" && depth === 1;
    if (isUnbound) return `no binding for nonlocal '${node.names[0]}' found`;
  }
  if (kind === "ImportFrom" && node.names[0].name === "*" && scope !== "module") {
    return "import * only allowed at module level";
  }
  if (kind === "ImportFrom" && node.module === "__future__" && !node.level) {
    if (!futures.has(node)) return "from __future__ imports must occur at the beginning of the file";
    const unknown = node.names.find(({ name }) => !FUTURE_FEATURES.includes(name));
    if (unknown) return `future feature ${unknown.name} is not defined`;
  }
  if (kind === "Starred" && !allowsStar.has(node)) return "can't use starred expression here";
  const holders = { Tuple: node.elts, List: node.elts, Set: node.elts, Call: node.args, ClassDef: node.bases };
  const held = kind === "arg" ? [node.annotation] : Object.hasOwn(holders, kind) ? holders[kind] : NO_NAMES;
  const stars = held.filter((one) => one?.kind === "Starred");
  for (const one of stars) allowsStar.add(one);
  if (node.context === "Store" && stars.length > 1) return "multiple starred expressions in assignment";
  return "";
}
