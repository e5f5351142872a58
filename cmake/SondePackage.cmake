# What others build on, and what is installed: libsonde as a shared and a static library with nothing
# visible but the functions of include/sonde/sonde.h, a pkg-config file, completions, and packages by CPack.

# The names of the public functions, from the header, so that there is no second list of them.
set(public_header "${PROJECT_SOURCE_DIR}/include/sonde/sonde.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${public_header}")
file(READ "${public_header}" header)
string(REGEX MATCHALL "[ *]sonde_[a-z0-9_]+\\(" public_names "${header}")
list(TRANSFORM public_names REPLACE "^.(sonde_[a-z0-9_]+)\\($" "\\1")
list(REMOVE_DUPLICATES public_names)
list(JOIN public_names ";\n    " map_names)
list(JOIN public_names "\n" plain_names)
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/libsonde.map"
     CONTENT "SONDE_0 { global:\n    ${map_names};\nlocal: *; };\n" @ONLY)
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/libsonde.names" CONTENT "${plain_names}\n" @ONLY)

# Compiled from what the command links: the rooms stay the only place that says what is built how.
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/empty.c" CONTENT "typedef int sonde_needs_no_source;\n")
add_library(sonde_shared SHARED "${CMAKE_CURRENT_BINARY_DIR}/empty.c")
target_link_libraries(sonde_shared PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,sonde_api>)
target_link_options(sonde_shared PRIVATE
    "LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/libsonde.map" LINKER:-z,defs)
set_target_properties(sonde_shared PROPERTIES OUTPUT_NAME sonde VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/libsonde.map")

# The static one is a single object file in which all other names are local: rooms' names such as
# `error_set` must not meet a program's own.
set(static_library "${CMAKE_CURRENT_BINARY_DIR}/libsonde.a")
get_property(rooms GLOBAL PROPERTY SONDE_ROOM_ARCHIVES)
list(REMOVE_ITEM rooms sonde_cli)
set(room_files "")
foreach(room IN LISTS rooms)
    list(APPEND room_files "$<TARGET_FILE:${room}>")
endforeach()
add_custom_command(OUTPUT "${static_library}"
    COMMAND "${CMAKE_LINKER}" -r -o libsonde.o --whole-archive "$<TARGET_FILE:sonde_api>"
            --no-whole-archive --start-group ${room_files} --end-group
    COMMAND "${CMAKE_OBJCOPY}" --keep-global-symbols=libsonde.names libsonde.o
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${static_library}"
    COMMAND "${CMAKE_AR}" rcs "${static_library}" libsonde.o
    DEPENDS ${rooms} libsonde.names
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" COMMENT "Linking libsonde.a" VERBATIM)
add_custom_target(sonde_static ALL DEPENDS "${static_library}")

# All that is installed, but for MPI's module where there is none.
add_custom_target(sonde_installed)
add_dependencies(sonde_installed sonde sonde_shared sonde_static)
if(TARGET sonde_mpi)
    add_dependencies(sonde_installed sonde_mpi)
endif()

install(TARGETS sonde_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${static_library}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${public_header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sonde")
# Not Requires.private, for which pkg-config wants their development files of programs on the shared library, too.
set(private_libraries ${yaml_LDFLAGS} ${jansson_LDFLAGS} ${zstd_LDFLAGS})
list(JOIN private_libraries " " private_libraries)
configure_file(cmake/sonde.pc.in "${CMAKE_CURRENT_BINARY_DIR}/sonde.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/sonde.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(GLOB examples CONFIGURE_DEPENDS examples/*)
install(FILES ${examples} DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
install(FILES LICENSE CHANGELOG.md CONTRIBUTING.md README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file(GLOB documents CONFIGURE_DEPENDS docs/*.md)
install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")

# Made by the command itself when it is there.
set(completions "${CMAKE_CURRENT_BINARY_DIR}/completions")
add_custom_command(TARGET sonde POST_BUILD
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${completions}"
    COMMAND "$<TARGET_FILE:sonde>" completion bash > "${completions}/sonde"
    COMMAND "$<TARGET_FILE:sonde>" completion zsh > "${completions}/_sonde" VERBATIM)
install(FILES "${completions}/sonde" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${completions}/_sonde" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sonde)
set(CPACK_PACKAGE_CONTACT "The Sonde developers <sonde@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The module of MPI is a package of its own: who sweeps on one host needs no MPI.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified)
if(TARGET sonde_mpi)
    list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME sonde)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME sonde-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "sonde (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_MPI_DESCRIPTION "Spreads sweeps of sonde over the ranks of an MPI job")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/shim" "${CMAKE_BINARY_DIR}")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS
    "gnuplot-nox, sonde-mpi, libjansson-dev, libyaml-dev, libzstd-dev") # the last three: to link libsonde.a
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
