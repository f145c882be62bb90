"""What users of NumPy, Numba and Matplotlib type first: it works, or the error says what to write.

In `GUESSES` the second column is part of the error, or None where the guess works.
"""

import copy as copying
import pickle

import numpy as np
import pytest

import mmsim as mm
from mmsim import claims, cuda
from mmsim.errors import CallError, LanguageError, MMSimError, UnknownNameError
from mmsim.host.guesses import Guessed, advised, nearest


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@cuda.jit
def kernel(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i]


def copied(n):
    return mm.DMM(4, 3).run(copy, np.arange(n), np.zeros(n, int), threads=n)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Names that a user has defined before the guess."""
    a, b = np.arange(16), np.zeros(16, int)
    machine = mm.DMM(4, 3)
    kernel[4, 4](a, b)
    tmp = tmp_path_factory.mktemp("guesses")
    return {
        **{"mm": mm, "np": np, "cuda": cuda, "claims": claims, "a": a, "b": b, "tmp": tmp},
        **{"copy": copy, "kernel": kernel, "machine": machine},
        "run": machine.run(copy, a, b, threads=16, trace=True),
        "other": machine.run(copy, a, b, threads=16),
        "report": machine.check(copy, a, b, threads=16),
        "rows": mm.sweep(copied, {"n": [8, 16]}, tmp / "rows.jsonl", jobs=1, progress=False),
        "claim": claims.choose(claims.registered(), ["SMM-L5.1"])[0],
        "tile": mm.layout.Padded(1),
        "access": lambda thread, value: (thread, value),
    }


GUESSES = [
    # Machines.
    ("mm.DMM(w=32, l=5)", "DMM takes no w=, l=; write width=32, latency=5"),
    ("mm.DMM(banks=32, latency=5)", "DMM takes no banks=; write width=32"),
    ("mm.DMM(32)", "write DMM(width, latency, bank_bytes=None)"),
    ("mm.UMM(width=32, latency='5')", "latency of a UMM must be a whole number, not '5'"),
    ("mm.HMM(d=8, w=32, L=300)", "write dmms=8, width=32, global_latency=300"),
    ("mm.HMM(dmms=8, width=32, latency=300)", "write global_latency= and shared_latency="),
    ("mm.Cached(8, 32, 300, cache=1024)", "write capacity=, the places of the cache"),
    ("mm.dmm(32, 5)", "mmsim has no attribute 'dmm'; did you mean DMM"),
    ("mm.GPU()", "write mm.HMM(dmms, width, global_latency)"),
    ("machine.width", None),
    ("machine.w", "DMM has no attribute 'w'; write machine.width"),
    ("machine.simulate(copy, a, b)", "write machine.run(program, ..., threads=)"),
    # The arguments of run.
    ("machine.run(copy, a, b)", "give threads=, or grid= and block="),
    ("machine.run(copy, a, b, n_threads=16)", "write threads=16"),
    ("machine.run(copy, a, b, p=16)", "Machine.run takes no p=; write threads=16"),
    ("machine.run(copy, a, b, threads=16, blockdim=4)", "write block=4"),
    ("machine.run(copy, a, b, threads=16, blocksize=4)", "did you mean block_size"),
    ("machine.run(copy, a, b, threads=16, schedule='async')", "'synchronous' or 'asynchronous'"),
    ("machine.run(copy, a, b, threads=16, engine='event')", "'array' or 'events'"),
    ("machine.run(copy, a, b, threads=16, verbose=True)", "run.profile(), for what each line"),
    ("machine.run(copy, a, threads=16)", "copy(T, a, b) is missing argument 'b'"),
    ("machine.run(copy, a=a, b=b, threads=16)", "machine.run(program, a, b, threads=16)"),
    ("machine.run(lambda T, a: None, a, threads=1)", "decorate the function with mmsim.program"),
    ("machine.run(copy, [1] * 16, [0] * 16, threads=16)", None),
    # Programs.
    ("copy(a, b)", "mm.DMM(32, 5).run(copy, ..., threads=...)"),
    ("copy[4, 4](a, b)", "machine.run(f, a, grid=grid, block=block)"),
    ("copy.run(a, b, threads=16)", "write machine.run(program, ..., threads=)"),
    ("mm.program()", "write @mm.program without ()"),
    ("mm.jit", "@mm.program, or from mmsim import cuda and @cuda.jit"),
    ("mm.syncthreads()", "write T.barrier() in a program"),
    # Results.
    ("run['b']", None),
    ("run['c']", "copy has no array parameter 'c'; there are a, b"),
    ("run.b", "Run has no attribute 'b'; write run['b']"),
    ("run[0]", "copy has no array parameter 0; there are a, b"),
    ("run.result", "write run[NAME] for an array parameter"),
    ("run.wasted", None),
    ("run.conflicts", "write run.wasted for the stages beyond the least possible"),
    ("run.cycles", "write run.time"),
    ("run.stage", "did you mean stages"),
    ("run.stats", "write run.profile() for each line"),
    ("run.summary()", "write print(run)"),
    ("run.accesses['b']", "write [row for row in rows if row.array == 'b']"),
    ("run.to_pandas()", "write run.to_dataframe()"),
    ("run.to_csv(tmp / 'run.csv')", None),
    ("run.to_csv()", 'write run.to_csv("run.csv")'),
    ("run.to_json(tmp / 'run.json')", "write Path(path).write_text(run.to_json())"),
    ("run.save('run.json')", "write run.to_json() for all of it as text"),
    ("run.profile()", None),
    ("run.profile().to_csv('x.csv')", "write run.to_csv(path)"),
    ("run.timeline()", "write run.player()"),
    ("run.compare(other)", "write run.diff(other) for a table"),
    ("other.player()", "run it with trace=True"),
    ("run.trace.plot()", "write run.plot()"),
    ("mm.total(run, other)", "write mm.total([first, second])"),
    ("report.ok", None),
    ("report.errors", "write report.findings"),
    ("report.races", "if finding.kind == 'race'"),
    ("run.to_dataframe()", None),
    ("run.diff(other)", None),
    # Claims.
    ("claim.plot(over='n', w=4, l=5)", None),
    ("claim.plot('size')", "there are n, p, w, l"),
    ("claim.table(n=16).to_latex()", None),
    ("claim.table(n=16).to_csv(tmp / 'cases.csv')", None),
    ("claim.verify()", "write mmsim.claims.verify_claim(claim)"),
    ("claim.latex", "write sympy.latex(claim.statement)"),
    ("claims.verify_claim(claim).holds", "write verdict.good"),
    ("claims.verify_claim(claim).table()", "write claim.table()"),
    ("claims.verify(claim)", "write verify_claim(claim)"),
    ("claims.choose('SMM-L5.1')", "write choose(registered(), ['SMM-L5.1'])"),
    ("claims.choose([claim], 'SMM-L51')", "did you mean SMM-L5.1"),
    ("claims.Claim('X', 'p', 't', len, 'atmost', list, None)", "kind must be 'exact'"),
    ("claims.Claim('X', 'p', 't', 'n/w', 'upper', list, None)", "write formula=lambda n, w: ..."),
    ("claims.Claim('X', 'p', 't', len, 'exact', [{'n': 1}], None)", "write grid=lambda: ..."),
    ("mm.verify(claim)", "write from mmsim.claims import Claim, verify_claim"),
    # Figures.
    ("run.plot()", None),
    ("run.plot('banks')", "write mm.figures.banks(run)"),
    ("run.plot(kind='banks')", "write mm.figures.banks(run)"),
    ("run.plot(ax=None)", "write axes=None"),
    ("run.plot(figsize=(3, 3))", "write axes.figure.set_size_inches(width, height)"),
    ("mm.figures.bank(run)", "did you mean banks"),
    ("mm.figures.timeline(run)", "write mm.figures.warps(run)"),
    ("mm.figures.banks(run, over='rounds')", "'time' or 'round'"),
    ("mm.figures.banks(run, ax=None)", "write axes=None"),
    ("mm.figures.times([run], ax=None)", "write axes=None"),
    ("mm.figures.lines()", "write lines(run"),
    ("run.plot().savefig('run.png')", "write mm.figures.save(axes, path)"),
    ("mm.figures.save(run.plot(), tmp / 'run.svg')", None),
    ("mm.figures.save(run.plot().figure, tmp / 'run.pdf')", None),
    ("mm.figures.save(mm.compare(run, run).plot(), tmp / 'two.png')", None),
    ("mm.figures.save(tile.plot((4, 4)), tmp / 'tile.svg')", None),
    ("mm.figures.save(run, tmp / 'run.svg')", "write mm.figures.save(run.plot(), path)"),
    ("mm.figures.save(run.player(), tmp / 'run.html')", "write player.save(path)"),
    ("mm.figures.save(tmp / 'run.svg', run.plot())", "write mm.figures.save(axes, path)"),
    ("mm.figures.save(run.plot(), 'run.gif')", "saved as .svg, .pdf or .png"),
    # Layouts and conflicts.
    ("mm.conflicts(tile, access, (32, 32))", None),
    ("mm.conflicts('padded 1', access, (32, 32))", "mm.layout.Padded(1)"),
    ("mm.conflicts(tile, 'columns', (32, 32))", "write lambda thread, value: (thread, value)"),
    ("mm.conflicts(np.zeros((32, 32)), access)", "as mm.layout.Padded(1)"),
    ("mm.conflicts(tile, access)", "as in shape=(64, 64)"),
    ("mm.conflicts(tile, lambda t: (t, 0), (32, 32))", "as lambda thread, value: (thread, value)"),
    ("mm.conflicts(tile, access, (32, 32), dtype=np.float32)", "write bytes=4"),
    ("mm.conflicts(tile, access, (32, 32), kind='load')", "one of read, write, atomic"),
    ("mm.conflicts(tile, access, (32, 32)).ways", "write found.stages"),
    ("mm.layout.padded(1)", "did you mean Padded"),
    ("mm.layout.Swizzled(5)", "did you mean Swizzle"),
    ("mm.place(a, 'padded')", "give one of mmsim.layout's"),
    ("mm.place(a.reshape(4, 4), tile)", None),
    # Sweeps.
    ("rows[0]['time']", None),
    ("rows['time']", "pandas.DataFrame(rows)['time']"),
    ("rows.to_dataframe()", "write pandas.DataFrame(rows)"),
    ("rows.plot(over='n')", "write mm.figures.sweep(rows, over)"),
    ("mm.figures.sweep(rows, 'size')", "'size' isn't a number in every row; there are n"),
    ("mm.sweep(copy, {'n': [1]})", 'write mm.sweep(function, {"n": [8, 16]}, "rows.jsonl")'),
    # The host side of cuda.
    ("cuda.last", None),
    ("kernel.last.time", None),
    ("kernel.profile()", None),
    ("kernel.run(a, b)", "write kernel[grid, block](...), then kernel.last"),
    ("kernel.time", "write kernel.last.time"),
    ("kernel.inspect_asm()", "kernel.profile() shows what each line costs"),
    ("cuda.profile()", "write kernel.profile(), or cuda.last.profile()"),
    ("cuda.synchronise()", "did you mean synchronize"),
    ("cuda.shared.array(32, np.float32)", "only inside a function decorated with cuda.jit"),
]


@pytest.mark.parametrize(("guess", "advice"), GUESSES, ids=[guess for guess, _ in GUESSES])
def test_a_guess_works_or_says_what_to_write(guess, advice, names):
    if advice is None:
        eval(guess, names)
        return
    with pytest.raises(MMSimError) as refused:
        eval(guess, names)
    assert advice in str(refused.value)


def test_an_array_of_a_run_by_its_name(names):
    assert names["run"]["b"] is names["run"].arrays["b"]
    with pytest.raises(KeyError):
        names["run"]["c"]
    with pytest.raises(TypeError):
        iter(names["run"])


def test_wasted_stages_of_a_run():
    @mm.program
    def stride(T, a):
        a[4 * T.id]

    run = mm.DMM(4, 3).run(stride, np.zeros(32), threads=8)
    assert (run.stages, run.wasted) == (8, 6)


def test_the_thread_is_no_array():
    """`def k(a)` of a user of Numba: its first parameter is the thread."""

    def by_index(a):
        a[0] = 1

    def by_len(a):
        for i in range(len(a)):
            a[i] = 0

    def by_method(a):
        a.sum()

    for function in (by_index, by_len, by_method):
        with pytest.raises(LanguageError) as refused:
            mm.program(function)
        assert (
            "'a' is the thread, not an array; a program's first parameter is the thread: "
            in str(refused.value)
        )


@pytest.mark.parametrize("name", ["run", "other", "report", "machine", "copy", "rows", "claim"])
def test_what_guesses_can_still_be_copied_and_asked(name, names):
    value = names[name]
    assert not hasattr(value, "no_such_name")
    assert not hasattr(value, "__array__")
    assert type(copying.copy(value)) is type(value)
    if name != "claim":  # it holds a function without a name
        assert type(pickle.loads(pickle.dumps(value))) is type(value)


def test_an_error_inside_an_attribute_stays_itself():
    class Broken(Guessed):
        @property
        def width(self):
            return self.__dict__["nowhere"].width

        @property
        def latency(self):
            return (1).latency

    with pytest.raises(KeyError, match="nowhere"):
        Broken().width
    with pytest.raises(AttributeError, match="'int' object has no attribute 'latency'"):
        Broken().latency


def test_a_type_error_inside_a_function_stays_itself():
    @advised()
    def add(a, b):
        return a + b

    with pytest.raises(TypeError, match="unsupported operand") as raised:
        add(1, "2")
    assert not isinstance(raised.value, MMSimError)
    with pytest.raises(CallError, match=r"write add\(a, b\)"):
        add(1)


def test_errors_of_names_are_those_of_python_and_can_be_pickled():
    error = UnknownNameError("Run has no 'x'")
    assert isinstance(error, AttributeError)
    assert isinstance(error, KeyError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "Run has no 'x'"


def test_near_names_in_any_case():
    assert nearest("smm-l5.1", ["SMM-L5.1", "RAP-TH2"]) == "did you mean SMM-L5.1?"
