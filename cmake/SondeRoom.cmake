# sonde_room(NAME [DEPENDS ROOM...] [LINKS ROOM...] [FILES FILE:ROOM...]
#            [GENERATES HEADER...] [LIBRARIES TARGET...])
#
# Builds src/NAME/**/*.c (all but a main.c) into the static library sonde_NAME. The call is the one
# place that says which rooms this one may use; the test `layers` (scripts/layers.sh) reads it too,
# and holds every #include against it:
#   DEPENDS    rooms whose headers it may include, with those that these depend on
#   LINKS      rooms that it needs at link time, but whose headers it must not see
#   FILES      a room that one file alone may include from
#   GENERATES  headers that the build writes for it, found in CMAKE_CURRENT_BINARY_DIR
#   LIBRARIES  libraries from outside
# A room of headers only is an interface library. A room that is not in the tree (yet) is left out
# of the link, not an error.
function(sonde_room name)
    cmake_parse_arguments(arg "" "" "DEPENDS;LINKS;FILES;GENERATES;LIBRARIES" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "sonde_room(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
    list(FILTER sources EXCLUDE REGEX "/main\\.c$")
    set(target sonde_${name})
    if(sources)
        add_library(${target} STATIC ${sources})
        sonde_unity_sources("" ${sources})
        sonde_unity(${target})
        sonde_hot_room(${target} ${name})
        set_property(GLOBAL APPEND PROPERTY SONDE_ROOM_ARCHIVES ${target})
        set(scope PUBLIC)
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src"
                               "${PROJECT_SOURCE_DIR}/include")
    if(arg_GENERATES)
        target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    list(TRANSFORM arg_FILES REPLACE "^.*:" "" OUTPUT_VARIABLE rooms_of_files)
    foreach(room IN LISTS arg_DEPENDS arg_LINKS rooms_of_files)
        target_link_libraries(${target} ${scope} $<TARGET_NAME_IF_EXISTS:sonde_${room}>)
    endforeach()
    target_link_libraries(${target} ${scope} ${arg_LIBRARIES})
endfunction()
