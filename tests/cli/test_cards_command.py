"""Cards as the machine of commands."""

import json

import pytest

import mmsim as mm
from mmsim.cli.cuda import machine_of
from mmsim.cli.machine import machine_named
from mmsim.cli.main import main
from mmsim.errors import MachineError
from tests.cli.test_machine_options import KERNEL, PROGRAM
