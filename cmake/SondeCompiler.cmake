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
# Lines are what the sanitizers report; more than -g1 costs a sixth of the build. Optimisation doubles the compiler's time, clang's
# more than that, so only the rooms that the tests there live in have it (sonde_hot_room).
set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
if(SONDE_FUZZ)
    set(SONDE_HOT_ROOMS isa model ptx util)
else()
    set(SONDE_HOT_ROOMS core device exec gpu infer isa mem model noc probe ptx rt trace util)
endif()

# sonde_hot_room(TARGET ROOM): what belongs to a room where tests spend their time is optimised in every build.
function(sonde_hot_room target room)
    if(room IN_LIST SONDE_HOT_ROOMS)
        target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O1>)
    endif()
endfunction()

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
    # A failed check of undefined behaviour traps: the address sanitizer tells file and line (scripts/check.sh asks it to).
    # With words, each check has a record of its own: 14 MB in `sonde`, read at each end of a program for leaks. Without,
    # the build takes 6 % less processor time and the tests 9 %.
    include(CheckCCompilerFlag)
    check_c_compiler_flag(-fsanitize-trap=undefined SONDE_SANITIZE_TRAP)
    if(NOT SONDE_UB_WORDS AND SONDE_SANITIZE_TRAP)
        add_compile_options(-fsanitize-trap=undefined)
    elseif(NOT SONDE_UB_WORDS)
        add_compile_options(-fsanitize-undefined-trap-on-error)
    endif()
    # In a program that may lie anywhere the loader writes each address in its data when it starts, and the command
    # line's tests start `sonde` over a thousand times.
    string(APPEND CMAKE_EXE_LINKER_FLAGS " -no-pie")
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
