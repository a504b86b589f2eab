# Of this part alone: nothing else may depend on what Unicode is to PCRE2.
assay_static_library(assay_pcre2 libpcre2-8.a pcre2.h)
assay_static_library(assay_utf8proc libutf8proc.a utf8proc.h)
list(APPEND ASSAY_ARCHIVES assay_pcre2 assay_utf8proc)
