#!/bin/sh
# Asks the case its parity prompts: the flags of `assay lab parity`, such as --check.
cd "$(dirname "$0")/../.." && exec "${ASSAY:-assay}" lab parity "$@"
