#!/bin/sh
# Who is told, and where each setting was read: the flags of `assay lab notify`, such as --probe.
exec "${ASSAY:-assay}" lab notify --status "$@"
