# How every C file is compiled: the language, the warnings, the sanitizers, the flags per build type.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g1") # lines are what the sanitizers report; more costs a sixth of the build

# A fused multiply-add rounds once where PTX demands two roundings, so contraction is off everywhere.
add_compile_options(-ffp-contract=off -fno-common
                    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla)
add_compile_definitions(_POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)

if(SONDE_WERROR)
    add_compile_options(-Werror)
endif()

if(SONDE_ASAN OR SONDE_FUZZ)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()

if(SONDE_TSAN)
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
endif()

if(SONDE_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "SONDE_FUZZ needs clang: use the preset 'fuzz'")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
