#!/bin/sh
# One attempt, with a profile of where its time goes: profile.sh "description" [flags of `assay lab eval`]
description=${1:?what was changed, in a line}
shift
cd "$(dirname "$0")/../.." && exec "${ASSAY:-assay}" lab eval --profile --description "$description" "$@"
