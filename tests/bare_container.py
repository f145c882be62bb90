"""Runs the README's first program and its commands as in a bare container.

Root installs mmsim in an environment of its own, where no other user may write. The user has no
name, no HOME and no locale but C. Only root may become such a user: without root this is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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

COMMANDS = """
mmsim --help
mmsim verify --claim SMM-L5.1
mmsim run mmsim_algorithms.transpose:diagonal --machine dmm --width 32 --profile
mmsim run first.py:transpose arange:32x32 zeros:32x32 --threads 1024
mmsim check first.py:transpose arange:8x8 zeros:8x8 --threads 64 --schedule asynchronous
mmsim step mmsim_algorithms.transpose:diagonal --width 4 --html page.html
mmsim sweep mmsim_algorithms.access:stride --width 4 8 16 --size 1024 4096 --out rows.jsonl
mmsim reproduce CFP-T1
mmsim bench scheduled --most 16384 --repeat 1
mmsim gpu
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
    # A copy of the sources: building writes next to them.
    sources.mkdir()
    for part in ("mmsim", "algorithms", "pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, sources / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, sources)
    subprocess.run([_open_to_all(), "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-qq"]
    subprocess.run([*pip, "install", f"{sources}[sweep]"], check=True)
    work.mkdir()
    os.chown(work, USER, USER)
    first = work / "first.py"
    first.write_text(FIRST, encoding="utf-8")
    first.chmod(0o644)
    bare = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(work)}
    failed = []
    for line in ["python first.py", *COMMANDS.strip().splitlines()]:
        command = line.split()
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
        # `mmsim gpu` says with 1 that there is no GPU.
        right = done.returncode == 0 or (line == "mmsim gpu" and done.returncode == 1)
        right = right and "Traceback" not in done.stderr
        print("ok  " if right else "FAIL", line, flush=True)
        if not right:
            failed.append(line)
            print(done.stdout, done.stderr, sep="\n")
    return bool(failed)


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
