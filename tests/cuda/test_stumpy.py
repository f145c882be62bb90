"""Matrix profiles by stumpy's own kernels for GPUs, compared with its functions for the CPU."""

import importlib.util
import subprocess
import sys
import textwrap

import pytest

BOTH = {
    "gpu_stump": """
        own, theirs = stumpy.gpu_stump(T, 8), stumpy.stump(T, 8)
        assert np.allclose(own[:, 0].astype(float), theirs[:, 0].astype(float))
        assert (own[:, 1:] == theirs[:, 1:]).all()
    """,
    "gpu_mpdist": """
        other = np.random.RandomState(1).rand(60)
        assert np.isclose(stumpy.gpu_mpdist(T, other, 8), stumpy.mpdist(T, other, 8))
    """,
    "gpu_stimp": """
        own = stumpy.gpu_stimp(T, min_m=3, max_m=6)
        theirs = stumpy.stimp(T, min_m=3, max_m=6, percentage=1.0)
        for _ in range(3):
            own.update()
            theirs.update()
        assert own.PAN_.size and np.allclose(own.PAN_, theirs.PAN_)
    """,
}
START = """
    from mmsim.cuda import history
    from mmsim.cuda.replacing import replace

    replace()
    import numpy as np
    import stumpy

    launched = []
    history.listeners.append(launched.append)
    T = np.random.RandomState(0).rand(60)
"""


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("stumpy") is None, reason="stumpy is not installed")
@pytest.mark.parametrize("function", BOTH)
def test_a_function_for_gpus_gives_what_that_for_the_cpu_does(function):
    program = textwrap.dedent(START) + textwrap.dedent(BOTH[function]) + "print(len(launched))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[-1]) > 0
