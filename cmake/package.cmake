# Installing, find_package(assay), and the Debian packages: `runtime` is the program, `dev` what
# programs that link the library need.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET assay)
  install(TARGETS assay RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT runtime)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime
  FILES_MATCHING PATTERN "*.md")
# The notices of what is linked in, as the packages that it was built with have them.
foreach(package IN ITEMS libboost1.81-dev libboost1.83-dev libcli11-dev libexpected-dev libfmt-dev
    libpcre2-dev libsqlite3-dev libssl-dev libutf8proc-dev libxsmm-dev libxxhash-dev libyaml-cpp-dev libzstd-dev nlohmann-json3-dev)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    install(FILES "/usr/share/doc/${package}/copyright"
      DESTINATION "${CMAKE_INSTALL_DOCDIR}/third_party" RENAME "${package}" COMPONENT runtime)
  endif()
endforeach()
# Manual pages and completions, where the build has made them (assay_documents).
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}"
  COMPONENT runtime OPTIONAL)

install(TARGETS assay_lib_dispatch assay_lib_assay assay_lib_lab assay_lib_providers
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
install(FILES src/assay/dispatch.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/assay" COMPONENT dev)
set(installed_parts "")
foreach(name IN ITEMS dispatch assay lab)
  get_target_property(parts assay_lib_${name} ASSAY_PARTS)
  list(APPEND installed_parts ${parts})
endforeach()
foreach(part IN LISTS installed_parts)
  install(DIRECTORY "src/assay/${part}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/assay"
    COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN "testing" EXCLUDE)
endforeach()
get_property(ASSAY_PROVIDER_NAMES GLOBAL PROPERTY ASSAY_PROVIDERS)
foreach(name IN LISTS ASSAY_PROVIDER_NAMES)
  install(FILES "${PROJECT_BINARY_DIR}/generated/providers/${name}/info.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/assay/providers/${name}" COMPONENT dev)
endforeach()

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/assay")
# What the program links beyond what assay::dispatch needs.
get_property(ASSAY_MORE_LIBRARIES GLOBAL PROPERTY ASSAY_STATIC_LIBRARIES)
set(ASSAY_DISPATCH_LIBRARIES libcrypto.a libxxhash.a)
list(REMOVE_ITEM ASSAY_MORE_LIBRARIES ${ASSAY_DISPATCH_LIBRARIES})
# What headers of ours ask of whoever includes them; how the library itself is compiled is not theirs.
get_target_property(ASSAY_DEFINITIONS assay_external INTERFACE_COMPILE_DEFINITIONS)
if(NOT ASSAY_DEFINITIONS)
  set(ASSAY_DEFINITIONS "")
endif()
configure_package_config_file(cmake/assay-config.cmake.in
  "${PROJECT_BINARY_DIR}/package/assay-config.cmake" INSTALL_DESTINATION "${config_folder}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/assay-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/assay-config.cmake"
  "${PROJECT_BINARY_DIR}/package/assay-config-version.cmake"
  DESTINATION "${config_folder}" COMPONENT dev)

# Everything that is packed.
add_custom_target(assay_package)
foreach(target IN ITEMS assay assay_lib_dispatch assay_lib_assay assay_lib_lab assay_lib_providers
    assay_documents)
  if(TARGET ${target})
    add_dependencies(assay_package ${target})
  endif()
endforeach()

set(architecture amd64)
find_program(DPKG_PROGRAM dpkg)
if(DPKG_PROGRAM)
  execute_process(COMMAND "${DPKG_PROGRAM}" --print-architecture OUTPUT_VARIABLE architecture
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "The assay authors <assay@example.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${architecture}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME assay)
set(CPACK_DEBIAN_RUNTIME_FILE_NAME "assay_${PROJECT_VERSION}_${architecture}.deb")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6 (>= 2.36)")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "libopenblas0-pthread, libdnnl3 | libdnnl2, g++")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME assay-dev)
set(CPACK_DEBIAN_DEV_FILE_NAME "assay-dev_${PROJECT_VERSION}_${architecture}.deb")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "g++, libexpected-dev, libfmt-dev, nlohmann-json3-dev, libssl-dev, libxxhash-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "assay, libyaml-cpp-dev, libzstd-dev, libsqlite3-dev, libpcre2-dev, libutf8proc-dev")
include(CPack)
