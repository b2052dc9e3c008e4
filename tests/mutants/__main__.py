"""`make mutants`: plant each bug of the catalogue, and see its test fail; or those that are named."""

import argparse
import sys

from tests.mutants.campaign import FailsUnplanted, campaign, caught, table
from tests.mutants.catalogue import read


def main() -> int:
    """0, if each bug was caught."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="mutants of tests/mutants/catalogue.toml; all of them, unless given")
    names: list[str] = parser.parse_args().names
    mutants = read()
    if unknown := set(names) - {mutant.name for mutant in mutants}:
        parser.error(f"no such mutant: {', '.join(sorted(unknown))}")
    try:
        trials = campaign([mutant for mutant in mutants if not names or mutant.name in names])
    except FailsUnplanted as error:
        sys.stderr.write(f"Nothing is planted, and yet:\n{error}\n")
        return 1
    sys.stdout.write(table(trials) + "\n")
    return 0 if all(caught(trial) for trial in trials) else 1


if __name__ == "__main__":
    sys.exit(main())
