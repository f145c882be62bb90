"""Counts for the page about proofs: points of proved claims, and changed formulas.

`python -m tests.kit.tools.proof_counts --shard 1/4` looks at each fourth claim, and prints how many
points of the proofs agree with runs on both engines, how many changed formulas were refused, and
how many of these a run refutes. It stops at a point that differs, or at a changed formula that is
proved. A shard takes some minutes for each width; `test_proved_claims.py` has the same as tests.
"""

import argparse

from tests.kit.runs.proved import CLAIMS, compare, has_width, refused, some_points


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard", default="1/1", help="this part of so many: 1/4")
    parser.add_argument("--widths", default="3,1,2,5", help="the widths, with commas")
    parser.add_argument("--points", type=int, default=40, help="for each claim and width")
    parser.add_argument("--changes", type=int, default=20, help="for each claim and width")
    args = parser.parse_args()
    one, parts = map(int, args.shard.split("/"))
    widths = [int(width) for width in args.widths.split(",")]
    points = tried = refuted = claims = 0
    for claim in CLAIMS[one - 1 :: parts]:
        compared = 0
        for width in widths if has_width(claim) else widths[:1]:
            for case in some_points(claim, width, args.points) or ():
                compare(claim, case)
                compared += 1
            if args.changes:
                found = refused(claim, 1, args.changes, width)
                assert not found.wrong, found.wrong
                tried, refuted = tried + found.tried, refuted + found.refuted
        points, claims = points + compared, claims + bool(compared)
        print(f"{claim.id}: {compared} points", flush=True)
    print(
        f"{points} points of {claims} claims agree; {refuted} of {tried} changes refuted by a run"
    )


if __name__ == "__main__":
    main()
