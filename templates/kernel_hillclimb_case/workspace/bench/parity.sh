#!/bin/sh
# Is one kernel right on one shape? bench/parity.sh FILE --shape m=4,n=512,k=512 [flags of `assay run`]
# For you alone: what gates an attempt is the proof inside `assay lab eval`, and parity/.
exec "${ASSAY:-assay}" run "$@"
