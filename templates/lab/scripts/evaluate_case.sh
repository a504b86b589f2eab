#!/bin/sh
# One attempt: the flags of `assay lab eval`.
exec "${ASSAY:-assay}" lab eval "$@"
