#!/bin/sh
# The flags of `assay lab check`.
cd "$(dirname "$0")/../.." && exec "${ASSAY:-assay}" lab check "$@"
