"""`make trace`: prints which requirements are proven, and fails when one that was proven is not any more."""

import argparse
import sys

from tests.trace.marks import CollectionFailed, collect
from tests.trace.report import compare, render
from tests.trace.requirements import PROVEN, STATED, parse, parse_proven, render_proven


def main() -> int:
    parser = argparse.ArgumentParser(prog="make trace", description=__doc__)
    parser.add_argument("--record", action="store_true", help="add newly proven requirements to proven.txt")
    arguments = parser.parse_args()
    try:
        marks = collect()
    except CollectionFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    proven = parse_proven(PROVEN.read_text())
    trace = compare(requirements=parse(STATED.read_text()), marks=marks, proven=proven)
    print("\n".join(render(trace)))
    if arguments.record:
        PROVEN.write_text(render_proven(proven | trace.proven))
    return 0 if trace.holds else 1


if __name__ == "__main__":
    sys.exit(main())
