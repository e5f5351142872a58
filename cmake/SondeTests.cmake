# Helpers for the test folders. Tests find what they test by where they lie, so that adding a test is
# adding a file.

find_program(SONDE_LLD ld.lld)
mark_as_advanced(SONDE_LLD)

# sonde_room_tests(KIND): every <room>/test_<name>.c of the folder becomes an executable that links
# sonde_<room> (with what that room declares, nothing more) and cmocka; the test is called
# KIND.<room>.<name> and has the label KIND. What tests share lies in tests/support/:
# `#include "support/x.h"`. Unit tests run under the sanitizers (scripts/check.sh); a release has them on demand,
# with the target `unit_tests`.
function(sonde_room_tests kind)
    if(kind STREQUAL "unit" AND CMAKE_BUILD_TYPE STREQUAL "Release")
        add_custom_target(unit_tests)
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/test_*.c")
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        get_filename_component(folder "${source}" DIRECTORY)
        get_filename_component(room "${folder}" NAME)
        if(NOT TARGET sonde_${room})
            message(WARNING "${source}: there is no room '${room}'")
            continue()
        endif()
        string(REGEX REPLACE "^test_" "" name "${name}")
        set(target test_${kind}_${room}_${name})
        if(kind STREQUAL "unit")
            set(target test_${room}_${name})
        endif()
        add_executable(${target} "${source}")
        sonde_hot_room(${target} ${room})
        target_link_libraries(${target} PRIVATE sonde_${room} PkgConfig::cmocka)
        target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
        target_compile_definitions(${target} PRIVATE
                                   SONDE_TEST_DIR="${folder}" SONDE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
        if(kind STREQUAL "unit" AND CMAKE_BUILD_TYPE STREQUAL "Release")
            set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
            add_dependencies(unit_tests ${target})
        endif()
        # With the sanitizers' libraries half a test's build is the link; lld takes half as long for it.
        if(SONDE_ASAN AND SONDE_LLD)
            target_link_options(${target} PRIVATE -fuse-ld=lld)
        endif()
        add_test(NAME ${kind}.${room}.${name} COMMAND ${target})
        set_tests_properties(${kind}.${room}.${name} PROPERTIES LABELS ${kind} TIMEOUT 1200)
    endforeach()
endfunction()

# sonde_fuzz_tests(): every tests/fuzz/fuzz_<room>[_<what>].c becomes a libFuzzer target over
# sonde_<room>, run briefly and repeatably over tests/fuzz/corpus/<room>[_<what>], label `fuzz`.
# The target `fuzzers` builds them all. Only in the preset `fuzz`.
function(sonde_fuzz_tests)
    add_custom_target(fuzzers)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz_*.c")
    foreach(source IN LISTS sources)
        get_filename_component(target "${source}" NAME_WE)
        string(REGEX REPLACE "^fuzz_" "" name "${target}")
        string(REGEX REPLACE "_.*$" "" room "${name}")
        if(NOT TARGET sonde_${room})
            message(WARNING "${source}: there is no room '${room}'")
            continue()
        endif()
        add_executable(${target} "${source}")
        target_link_libraries(${target} PRIVATE sonde_${room})
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers ${target})
        add_test(NAME fuzz.${name}
                 COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run.sh" $<TARGET_FILE:${target}>
                         "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
        set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 1200)
    endforeach()
endfunction()

# sonde_cli_tests(): every <name>.sh of the folder runs with `sonde` on its path, and all that it
# prints is held against <name>.expected, label `cli` (see tests/cli/run.sh).
#
# These tests start `sonde` a thousand times. Under the sanitizers it then has GCC's runtimes in itself: with the shared ones a
# start takes 145 ms of processor time, without 90 (to load them, and to search what they keep for pointers to what leaks).
# Tests of what `sonde` loads, drivers and such, need the shared ones.
function(sonde_cli_tests)
    if(NOT TARGET sonde)
        return()
    endif()
    set(command sonde)
    if(SONDE_ASAN)
        include(CheckCSourceCompiles)
        set(alone -static-libasan -static-libubsan)
        set(CMAKE_REQUIRED_LINK_OPTIONS ${alone})
        check_c_source_compiles("int main(void) { return 0; }" SONDE_SANITIZERS_INSIDE)
        if(SONDE_SANITIZERS_INSIDE)
            set(command sonde_alone)
            add_executable(sonde_alone "${PROJECT_SOURCE_DIR}/src/cli/main.c")
            target_link_libraries(sonde_alone PRIVATE sonde_cli)
            target_link_options(sonde_alone PRIVATE ${alone})
            set_target_properties(sonde_alone PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}") # beside what it looks for
        endif()
    endif()
    file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.sh")
    list(FILTER scripts EXCLUDE REGEX "/run\\.sh$")
    foreach(script IN LISTS scripts)
        get_filename_component(name "${script}" NAME_WE)
        add_test(NAME cli.${name}
                 COMMAND "${PROJECT_SOURCE_DIR}/tests/cli/run.sh" $<TARGET_FILE:${command}> "${script}")
        set_tests_properties(cli.${name} PROPERTIES LABELS cli COST 30 TIMEOUT 1200)
    endforeach()
endfunction()
