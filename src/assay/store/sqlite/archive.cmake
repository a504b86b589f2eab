assay_static_library(assay_sqlite libsqlite3.a sqlite3.h)
target_link_libraries(assay_sqlite INTERFACE m)
list(APPEND ASSAY_ARCHIVES assay_sqlite)
