#!/bin/sh
# What limits one kernel on one shape? bench/profile.sh FILE --shape m=4,n=512,k=512 [flags of
# `assay why`]. For you alone: it gates nothing.
exec "${ASSAY:-assay}" why "$@"
