"""The scope of a check in words: the mistakes that it looked for, and those that it didn't."""

from __future__ import annotations

LOCK_STEP = "in lock step (synchronous schedule): data races within a round"
INDEPENDENTLY = (
    "with warps and lanes that run independently (asynchronous schedule): data races between warps "
    "and between blocks, missing syncs between the lanes of a warp"
)
OF_A_RUN = "lost updates, reads of uninitialized memory, divergent barriers"
OF_A_CHECK = "results that depend on which write wins, deadlocks"
AS_ON_A_GPU = (
    "races between warps and missing syncs between lanes that run independently, as on a GPU: "
    'pass schedule="asynchronous"'
)
OTHERS = "other arguments, other numbers of threads, and paths that were not taken"


def looked_for(schedule: str, *, thorough: bool) -> str:
    """The mistakes that a check under a schedule looked for, and those that it didn't.

    `thorough` stands for `Machine.check`, else for one run with `check=True`.

    >>> looked_for("asynchronous", thorough=True).partition(". ")[2]
    'Not looked for: other arguments, other numbers of threads, and paths that were not taken.'
    """
    lock_step = schedule == "synchronous"
    done = [LOCK_STEP if lock_step else INDEPENDENTLY, OF_A_RUN, *[OF_A_CHECK] * thorough]
    missing = [AS_ON_A_GPU] * lock_step + [f"{OF_A_CHECK} (machine.check and mmsim check do)"] * (
        not thorough
    )
    return f"Looked for {', '.join(done)}. Not looked for: {'; '.join([*missing, OTHERS])}."
