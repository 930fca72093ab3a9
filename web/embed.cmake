# Makes a C file of the files of the report page: cmake -DOUTPUT=x.c "-DFILES=a;b" -P embed.cmake
# Each becomes an array of bytes, in a table that report/web.h describes.
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const unsigned char file_${number}[] = {\n${bytes}\n};\n")
    string(APPEND rows "    {\"${name}\", file_${number}, sizeof file_${number}},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made by web/embed.cmake. */\n#include \"report/web.h\"\n\n${arrays}\n"
                     "const web_file web_files[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
