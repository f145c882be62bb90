"""`python -m mmsim` is `mmsim`."""

import sys

from mmsim.cli import main

sys.exit(main())
