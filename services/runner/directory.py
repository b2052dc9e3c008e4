"""Where commands run."""

from pathlib import Path

from services.runner.pipeline import ConfigInvalid


def working_directory(repository: Path, relative: str) -> Path:
    """The directory in the checked-out repository, free of links that lead out of it.

    Raises:
        ConfigInvalid: there is none.
    """
    root = repository.resolve()
    found = (root / relative).resolve()
    if not found.is_relative_to(root) or found.is_relative_to(root / ".git"):
        raise ConfigInvalid(f"{relative!r} leads out of the repository", field="run.workingDirectory")
    if not found.is_dir():
        raise ConfigInvalid(f"there is no directory {relative!r} in this commit", field="run.workingDirectory")
    return found
