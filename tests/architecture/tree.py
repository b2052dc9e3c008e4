"""The project's sources as a tree: to read as it is, or to copy and plant a violation in."""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One Python file; `path` is relative to the tree, with slashes."""

    path: str
    module: ast.Module


@dataclass(frozen=True, slots=True)
class Tree:
    root: Path

    def copy_to(self, folder: Path) -> "Tree":
        """A copy of the services and of the import contracts."""
        shutil.copytree(self.root / "services", folder / "services", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(self.root / ".importlinter", folder)
        return Tree(folder)

    def plant(self, path: str, line: str) -> None:
        """Append a line to a module, which is created, packages and all, where it does not exist."""
        file = self.root / path
        for folder in reversed(file.relative_to(self.root).parents[:-1]):
            (self.root / folder).mkdir(exist_ok=True)
            (self.root / folder / "__init__.py").touch()
        with file.open("a") as text:
            text.write(f"\n{line}\n")

    def sources(self) -> Iterator[Source]:
        for file in sorted((self.root / "services").rglob("*.py")):
            yield Source(path=file.relative_to(self.root).as_posix(), module=ast.parse(file.read_text()))

    def versioned(self) -> list[Path]:
        """Every text file that is, or is about to be, under version control."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        )
        return [self.root / name for name in listed.stdout.split("\0") if name and (self.root / name).is_file()]
