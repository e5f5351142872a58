# sonde_room(NAME [DEPENDS ROOM...] [LIBRARIES TARGET...])
#
# Builds src/NAME/**/*.c (all but a main.c) into the static library sonde_NAME. DEPENDS is the one
# place that says which rooms this one may include from; the test `layers` reads it too, and holds
# every #include against it. LIBRARIES are libraries from outside. A room of headers only is an
# interface library. A dependency that is not in the tree (yet) is left out, not an error.
function(sonde_room name)
    cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "sonde_room(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
    list(FILTER sources EXCLUDE REGEX "/main\\.c$")
    set(target sonde_${name})
    if(sources)
        add_library(${target} STATIC ${sources})
        set(scope PUBLIC)
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src"
                               "${PROJECT_SOURCE_DIR}/include")
    foreach(dependency IN LISTS arg_DEPENDS)
        target_link_libraries(${target} ${scope} $<TARGET_NAME_IF_EXISTS:sonde_${dependency}>)
    endforeach()
    target_link_libraries(${target} ${scope} ${arg_LIBRARIES})
endfunction()
