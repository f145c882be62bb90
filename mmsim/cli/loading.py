"""The objects MODULE:NAME and FILE.py:NAME: programs and functions of the user's own code."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from mmsim.errors import MMSimError
from mmsim.frontend.given import as_program
from mmsim.frontend.program import Program
from mmsim.tracebacks import said


class CommandError(MMSimError):
    """A mistake in a call of the command line."""


class _AsItStands(SourceFileLoader):
    """Compiles a file's text, as a compiled file may be outdated after a quick change."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def load_program(target: str) -> Program:
    """Return the program MODULE:NAME or FILE.py:NAME, or FILE.py if it has only one."""
    if target.endswith(".py") and len(own := _own_programs(target)) == 1:
        return own[0]
    module, found = _find(target)
    found = as_program(found)
    if not isinstance(found, Program):
        module_name, _, name = target.rpartition(":")
        taken = {key: as_program(value) for key, value in vars(module).items()}
        programs = sorted(key for key, one in taken.items() if isinstance(one, Program))
        listed = f"it has {', '.join(programs)}" if programs else "it has none"
        raise CommandError(f"{module_name} has no program {name!r}; {listed}")
    return found


def programs_of(module_name: str) -> list[Program]:
    """Return the programs of a module or a file in order of name, each once."""
    programs = _own_programs(module_name)
    if not programs:
        raise CommandError(f"{module_name} has no program; `mmsim list` names those installed")
    return sorted(programs, key=lambda one: one.name)


def _own_programs(module_name: str) -> list[Program]:
    _, names = _named(module_name, "__dict__")
    found = {id(one): one for one in names.values() if isinstance(one, Program)}
    return [one for one in found.values() if not one.is_helper]


def load(target: str) -> Any:
    """Return the object MODULE:NAME or FILE.py:NAME; None if the module has no such name."""
    return _find(target)[1]


def _find(target: str) -> tuple[ModuleType, Any]:
    """Return a module and its object MODULE:NAME, or None."""
    module_name, colon, name = target.rpartition(":")
    if not colon or not module_name or not name:
        raise CommandError(f"{target!r} lacks ':NAME'; write MODULE:NAME or FILE.py:NAME")
    return _named(module_name, name)


def _named(module_name: str, name: str) -> tuple[ModuleType, Any]:
    """Return a module and its object of a name, or None. Its code's exceptions become messages."""
    try:
        module = _load(module_name)
        return module, getattr(module, name, None)
    except MMSimError:
        raise
    except (Exception, SystemExit) as error:
        raise CommandError(f"{module_name}: {said(error)}") from None


def _load(name: str) -> ModuleType:
    """Load a module by its name, from here, or by its file, from the file's folder."""
    if not name.endswith(".py"):
        sys.path.insert(0, "")
        return importlib.import_module(name)
    path = Path(name).resolve()
    if not path.is_file():
        raise CommandError(f"no file {name!r}")
    sys.path.insert(0, str(path.parent))
    own_name = f"mmsim_run_{path.stem}"  # a name that hides no other module
    loader = _AsItStands(own_name, str(path))
    spec = importlib.util.spec_from_file_location(own_name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[own_name] = module
    loader.exec_module(module)
    return module
