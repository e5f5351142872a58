# sonde_embed(TARGET SYMBOL FILE...)
#
# Puts files into the binary: generates a C file that defines
#     const struct embedded_file SYMBOL[];     (util/glue/embed.h; ends with a row whose name is NULL)
# and adds it to TARGET. A file's name in the table is its base name; a zero byte follows its data,
# so that text may be used as a string. Rows are in the order of the names.
set(SONDE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

function(sonde_embed target symbol)
    set(files ${ARGN})
    list(SORT files)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.embed.c")
    set(list_file "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.embed.txt")
    list(JOIN files "\n" lines)
    file(CONFIGURE OUTPUT "${list_file}" CONTENT "${lines}\n" @ONLY)
    add_custom_command(OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" "-DSYMBOL=${symbol}" "-DLIST=${list_file}" "-DOUTPUT=${output}"
                -P "${SONDE_EMBED_SCRIPT}"
        DEPENDS ${files} "${list_file}" "${SONDE_EMBED_SCRIPT}"
        COMMENT "Embedding ${symbol}" VERBATIM)
    target_sources(${target} PRIVATE "${output}")
endfunction()
