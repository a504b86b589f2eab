#!/bin/sh
# Asks the case's server its parity prompts: the flags of `assay lab parity`.
cd "$(dirname "$0")/../.." && exec "${ASSAY:-assay}" lab parity "$@"
