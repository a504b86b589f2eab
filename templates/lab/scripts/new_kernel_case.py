#!/usr/bin/env python3
"""Stamps a case: the flags of `assay lab new`."""

import os
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
assay = os.environ.get("ASSAY", "assay")
os.execvp(assay, [assay, "lab", "new", *sys.argv[1:]])
