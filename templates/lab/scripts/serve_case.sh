#!/bin/sh
# Serves a case until SIGTERM: the flags of `assay lab serve`.
exec "${ASSAY:-assay}" lab serve "$@"
