"""Runs the README's first program and its commands as in a bare container.

Root installs mmsim in an environment of its own, where no other user may write. The user has no
name, no HOME and no locale but C. Only root may become such a user: without root this is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from course.wheel import copy_sources

from tests.kit import ROOT
from tests.kit.tools import installing
from tests.kit.tools.pythons import version

USER = 54321

FIRST = """
import numpy as np
import mmsim as mm

@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]

n = 256  # 2^16 threads
a = np.arange(n * n).reshape(n, n)
run = mm.DMM(width=32, latency=5).run(transpose, a, np.zeros_like(a), threads=a.size)
print(run.profile())
assert run.time == n * n // 32 + 4 + n * n + 4, run.time
assert np.array_equal(run.arrays["b"], a.T)
"""


def main() -> int:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        print("skipped: only root may become a user whom the system does not know")
        return 0
    with tempfile.TemporaryDirectory(prefix="mmsim-bare-") as name:
        return _main(Path(name))


def _main(place: Path) -> int:
    place.chmod(0o755)
    environment, sources, work = place / "venv", place / "sources", place / "work"
    copy_sources(sources)
    subprocess.run([_open_to_all(), "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "-qq", "install", sources]
    subprocess.run(pip, env=os.environ | _tested_versions(python), check=True)
    work.mkdir()
    os.chown(work, USER, USER)
    first = work / "first.py"
    first.write_text(FIRST, encoding="utf-8")
    first.chmod(0o644)
    bare = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(work)}
    failed = []
    listed = installing.listed()
    for line in ["python first.py", "mmsim --help", *listed]:
        command = installing.ready(line, work) if line in listed else line.split()
        command[0] = str(environment / "bin" / command[0])
        done = subprocess.run(
            command,
            cwd=work,
            env=bare,
            user=USER,
            group=USER,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        right = installing.went_well(line, done.returncode, done.stderr)
        print("ok  " if right else "FAIL", line, flush=True)
        if not right:
            failed.append(line)
            print(done.stdout, done.stderr, sep="\n")
    return bool(failed)


def _tested_versions(python: Path) -> dict[str, str]:
    """Variables that limit pip, old or new, to the tested versions of a Python, if any."""
    found = version(python)
    assert found is not None
    file = ROOT / ".ci" / "constraints" / f"{found[0]}.{found[1]}.txt"
    names = ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT") if file.exists() else ()
    return dict.fromkeys(names, str(file))


def _open_to_all() -> str:
    """A Python that any user may start: this one may lie in root's home."""
    own = Path(sys.executable).resolve()
    if all(folder.stat().st_mode & 0o001 for folder in own.parents):
        return str(own)
    for folder in ("/usr/local/bin", "/usr/bin"):
        for candidate in sorted(Path(folder).glob("python3.1[1-9]"), reverse=True):
            test = subprocess.run([candidate, "-c", "import venv, ensurepip"], capture_output=True)
            if test.returncode == 0:
                return str(candidate)
    print("skipped: no Python from 3.11 on that every user may start")
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main())
