#!/bin/sh
# One attempt of this case: run_hillclimb.sh "description" [flags of `assay lab eval`]
description=${1:?what was changed, in a line}
shift
cd "$(dirname "$0")/.." && exec "${ASSAY:-assay}" lab eval --description "$description" "$@"
