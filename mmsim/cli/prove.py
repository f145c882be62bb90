"""`mmsim prove`: prove claims for all sizes, print a table or a proof, save the outcomes."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mmsim.cli.loading import CommandError
from mmsim.cli.output import add_targets, complain, save_text, show
from mmsim.cli.values import at_least, jobs
from mmsim.errors import MMSimError
from mmsim.host.cores import cores
from mmsim.host.progress import bar
from mmsim.printable import counted

if TYPE_CHECKING:
    from mmsim.claims import Claim
    from mmsim.proof.prove import ClaimProof

ABOUT = {
    "description": "Prove the exact claims of all installed algorithms for all sizes of their "
    "domains, at each width. Exit status 1 if a claim is refuted, a proof to be shown isn't found, "
    "a checked proof is wrong, or claims can't be loaded.",
}
MOST = 1024
"""The largest width of a proof."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("claims", nargs="*", metavar="ID", help="only these, as SMM-L5.1 or SMM (default: all)")
    said = "as 4,8,16-20 (default: 1-64; 4 with --show or --data)"
    add("--widths", type=widths, help=said)
    add("--show", action="store_true", help="print the proofs, case by case")
    add_targets(
        parser, json="save the outcomes as JSON; not with --show", data="save the proofs as data"
    )
    add(
        "--check", type=Path, metavar="FILE", help="verify the proofs of a file, without the prover"
    )
    add("--jobs", type=jobs, metavar="N", help="processes (default: one a core)")
    add("--seconds", type=at_least(1), default=60, help="for each claim (default: %(default)s)")


def widths(text: str) -> list[int]:
    """Widths from a text.

    >>> widths("1-3,8")
    [1, 2, 3, 8]
    """
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        high = high if dash else low
        if not low.isdecimal() or not high.isdecimal() or not 1 <= int(low) <= int(high):
            raise argparse.ArgumentTypeError(f"{text!r} has no widths; write 1-64, 32 or 4,8,16-20")
        if int(high) > MOST:
            raise argparse.ArgumentTypeError(f"{text!r}: a width is at most {MOST}")
        found += range(int(low), int(high) + 1)
    return sorted(set(found))


def command(arguments: argparse.Namespace) -> int:
    from mmsim.claims import choose, registered
    from mmsim.claims.verify import provenance
    from mmsim.proof.kept import to_json
    from mmsim.reports.proofs import proofs_table, summary
    from mmsim.verifier.lemmas import require

    require()
    if arguments.show and arguments.json is not None:
        raise CommandError("--show prints proofs, and --json saves outcomes; write one of them")
    broken: list[MMSimError] = []
    claims = registered(broken)
    for error in broken:
        complain(str(error))
    if arguments.claims:
        claims = choose(claims, arguments.claims)
    if arguments.check is not None:
        return _check(claims, arguments.check)
    if arguments.data is not None:
        return _write(claims, arguments)
    if arguments.show:
        return _show(claims, arguments.widths or [4], arguments.seconds)
    made = provenance(claims)
    done: list[ClaimProof] = []
    try:
        proofs = _prove(claims, arguments, done)
    except KeyboardInterrupt:
        order = {claim.id: number for number, claim in enumerate(claims)}
        done.sort(key=lambda one: order[one.claim])
        if done:
            show(proofs_table(done))
            save_text(arguments.json, lambda: to_json(done, made))
        text = f"interrupted; {len(done)} of {len(claims)} claims are done"
        raise KeyboardInterrupt(text) from None
    show(proofs_table(proofs), summary(proofs))
    save_text(arguments.json, lambda: to_json(proofs, made))
    return 1 if broken or any(one.against is not None for one in proofs) else 0


def _prove(
    claims: list[Claim], arguments: argparse.Namespace, done: list[ClaimProof]
) -> list[ClaimProof]:
    """Prove in other processes, with a progress bar. Each outcome is added to `done`."""
    from rich.progress import TimeElapsedColumn

    from mmsim.proof.kept import prove_registered

    processes = min(arguments.jobs or cores(), len(claims))
    with bar(TimeElapsedColumn()) as progress:
        whole = progress.add_task("claims", total=len(claims))

        def add(proof: ClaimProof) -> None:
            done.append(proof)
            progress.advance(whole)

        ids = [claim.id for claim in claims]
        asked = arguments.widths or widths("1-64")
        return prove_registered(ids, asked, arguments.seconds, processes, add)


def _write(claims: list[Claim], arguments: argparse.Namespace) -> int:
    """Save proofs as data. Return 1 if one can't be written."""
    from mmsim.proof.certificate import certificate, to_json
    from mmsim.proof.prove import has_width

    found, status = [], 0
    exact = [claim for claim in claims if claim.kind == "exact" and not claim.printed]
    for claim in exact or claims:
        for width in (arguments.widths or [4]) if has_width(claim) else (None,):
            try:
                found.append(certificate(claim, width, arguments.seconds))
            except Exception as error:  # claims' own functions may fail on terms in any way
                complain(f"{_about(claim.id, width)}: no proof as data: {error}")
                status = 1
    save_text(arguments.data, lambda: to_json(found))
    show(f"{counted(len(found), 'proof')} in {arguments.data}")
    return status


def _check(claims: list[Claim], file: Path) -> int:
    """Verify the proofs of a file. Return 1 if one is wrong."""
    from mmsim.verifier.polynomials import Refused
    from mmsim.verifier.proof import read_proofs, verify

    status = 0
    try:
        proofs = read_proofs(file.read_text("utf-8"))
    except Refused as error:
        complain(f"{file}: {error}")
        return 1
    for proof in proofs:
        try:
            done = verify(claims, proof)
        except Refused as error:
            complain(f"refused: {error}")
            status = 1
        else:
            counts = ", ".join(f"{number} {name}" for name, number in done.items())
            show(f"{_about(proof['claim'], proof['width'])}: verified: {counts}", soft_wrap=True)
    return status


def _about(claim: str, width: int | None) -> str:
    return claim if width is None else f"{claim}, w = {width}"


def _show(claims: list[Claim], widths: list[int], seconds: int) -> int:
    """Print proofs. Return 1 if one can't be found."""
    from mmsim.proof.prove import NOT_EXACT
    from mmsim.proof.shown import proof_text
    from mmsim.proof.terms import Undecided

    status = 0
    exact = [claim for claim in claims if claim.kind == "exact" and not claim.printed]
    for claim in exact or claims:
        for width in widths:
            try:
                if claim not in exact:
                    raise Undecided(f"{claim.id}: {NOT_EXACT[not claim.printed]}")
                for line in proof_text(claim, width, time.monotonic() + seconds):
                    show(line, soft_wrap=True)
            except Exception as error:  # claims' own functions may fail on terms in any way
                kind = "" if isinstance(error, Undecided) else f"{type(error).__name__}: "
                show(f"not proved: {kind}{error}", soft_wrap=True)
                status = 1
            show("")
    return status
