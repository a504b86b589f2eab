#!/usr/bin/env python3
"""Who is told, and where each setting was read: the flags of `assay lab notify`."""

import os
import sys

assay = os.environ.get("ASSAY", "assay")
os.execvp(assay, [assay, "lab", "notify", "--status", *sys.argv[1:]])
