"""`python -m skillcell`: the command `skillcell`."""

import sys

from ._cli import main

sys.exit(main())
