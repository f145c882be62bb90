"""`mmsim list`, and `mmsim run` without the name of a program."""

import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim.api.machines import Machine
from mmsim.cli import main
from mmsim.cli.listing import line_of, name_of
from mmsim_algorithms.catalogue import CATALOGUE

CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims()}
PROGRAMS = mmsim_algorithms.programs()


def test_every_program_is_in_the_catalogue_with_machines_that_there_are():
    names = {
        f"{program.function.__module__}:{program.name}".removeprefix("mmsim_algorithms.")
        for program in PROGRAMS
    }
    assert set(CATALOGUE) == names
    for machines, claim in CATALOGUE.values():
        assert machines in ("DMM", "UMM", "HMM", "DMM, UMM", "DMM, HMM", "DMM, UMM, HMM")
        assert claim in (*CLAIMS, "")
    assert all(line_of(program) for program in PROGRAMS)


@pytest.mark.parametrize("name", [name for name, (_, claim) in CATALOGUE.items() if claim])
def test_the_claim_of_a_program_runs_it_on_such_a_machine(name, monkeypatch):
    machines, id_ = CATALOGUE[name]
    claim, ran = CLAIMS[id_], []
    plain = Machine.run

    def run(self, program, *args, **options):
        ran.append((f"{program.function.__module__}:{program.name}", type(self).__name__))
        return plain(self, program, *args, **options)

    monkeypatch.setattr(Machine, "run", run)
    claim.run(schedule="synchronous", **claim.cases()[0])
    assert not claim.printed
    assert claim.quantity == "T"
    for program, machine in ran:
        assert machine in machines
        assert program == f"mmsim_algorithms.{name}"


def test_list_prints_a_row_for_each_program(capsys):
    assert main(["list"]) == 0
    output = capsys.readouterr().out
    for program in PROGRAMS:
        assert f" {name_of(program)} " in output


def test_list_takes_words_of_a_row(capsys):
    assert main(["list", "SUM", "hmm"]) == 0
    output = capsys.readouterr().out
    for word in ("sums:block_sums", "SUM-HMM", "HMM"):
        assert word in output
    assert "few_barriers" not in output
    assert main(["list", "no such"]) == 2
    assert "no program has 'no such' in its row" in capsys.readouterr().err


def test_run_without_a_name_lists_the_programs_of_a_module_or_a_file(capsys, tmp_path):
    assert main(["run", "mmsim_algorithms.transpose"]) == 0
    output = capsys.readouterr().out
    assert "diagonal" in output
    assert "straightforward" in output
    file = tmp_path / "mine.py"
    file.write_text(
        "import mmsim as mm\n\n\n@mm.program\ndef double(T, a):\n"
        '    """Twice a."""\n    a[T.id] = 2 * a[T.id]\n\n\nagain = double\n\n\n'
        "@mm.program\ndef half(x):\n    return x // 2\n"
    )
    assert main(["run", str(file)]) == 0
    output = capsys.readouterr().out
    assert output.count("double") == 1
    assert "Twice a." in output
    assert "half" not in output


def test_a_program_keeps_what_is_listed_in_another_process():
    import pickle

    program = next(one for one in PROGRAMS if name_of(one) == "mmsim_algorithms.sums:tree")
    assert program.listed == ("DMM, UMM", "SUM-tree")
    assert pickle.loads(pickle.dumps(program)).listed == program.listed
    assert mm.program(lambda_free).listed == ("", "")


def lambda_free(T, a):
    """Read a word."""
    a[T.id]
