# Several sources become one for the compiler, which then reads the headers once: that saves more than a third of its time. A dev
# build compiles each file by itself, and so shows what one lacks; unity.awk says which go together.
#
# sonde_unity_sources(PREFIX SOURCE...): makes groups of them, by names that begin with PREFIX, in whatever targets they are.
# sonde_unity(TARGET): the target is built by groups.
#
# Where each file of a room has an object of the same name to itself, SONDE_UNITY_OWN is that name: each file sees
# another one in its place.
option(SONDE_UNITY "Compile several sources as one" OFF)
set(SONDE_UNITY_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/unity.awk")

function(sonde_unity_sources prefix)
    if(NOT SONDE_UNITY OR NOT ARGN)
        return()
    endif()
    execute_process(COMMAND awk -v most=12 -v "own=${SONDE_UNITY_OWN}" -f "${SONDE_UNITY_SCRIPT}" ${ARGN}
                    OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" groups "${groups}")
    foreach(source group IN ZIP_LISTS ARGN groups)
        if(group GREATER 0)
            set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${prefix}${group}")
        endif()
    endforeach()
endfunction()

function(sonde_unity target)
    if(NOT SONDE_UNITY)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    if(SONDE_UNITY_OWN)
        set_target_properties(${target} PROPERTIES UNITY_BUILD_UNIQUE_ID SONDE_UNITY_ID UNITY_BUILD_CODE_BEFORE_INCLUDE
                              "#undef ${SONDE_UNITY_OWN}\n#define ${SONDE_UNITY_OWN} SONDE_UNITY_ID")
    endif()
    target_compile_options(${target} PRIVATE -Wno-shadow) # of another file's functions
endfunction()
