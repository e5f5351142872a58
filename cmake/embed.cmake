# Run by the build (see SondeEmbed.cmake): turns the files named in LIST into the C file OUTPUT.
file(STRINGS "${LIST}" files)
set(arrays "")
set(rows "")
set(number 0)
foreach(path IN LISTS files)
    file(READ "${path}" hex HEX)
    file(SIZE "${path}" size)
    get_filename_component(name "${path}" NAME)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
           "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char data_${number}[] = {\n${bytes}0};\n\n")
    string(APPEND rows "    {\"${name}\", data_${number}, ${size}},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"util/glue/embed.h\"\n\n"
     "extern const struct embedded_file ${SYMBOL}[];\n\n${arrays}"
     "const struct embedded_file ${SYMBOL}[] = {\n${rows}    {0, 0, 0},\n};\n")
