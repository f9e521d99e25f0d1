# What the CMakeLists.txt of a backend says of it; whatever is made of backends asks here which there are.

# trigram_backend(NAME IN WHOLES... [PACKAGES...] [PARTS...]): the part trigram::NAME is linked into each of WHOLES: `program`; `session`, the
# library by which a process of another program becomes a rank; `package`, where it is a component, which is found where PACKAGES and
# PARTS, other parts that it links, are.
function(trigram_backend name)
  cmake_parse_arguments(arg "" "" "IN;PACKAGES;PARTS" ${ARGN})
  foreach(whole IN LISTS arg_IN)
    set_property(GLOBAL APPEND PROPERTY TRIGRAM_BACKENDS_IN_${whole} ${name})
  endforeach()
  if("package" IN_LIST arg_IN)
    set_property(GLOBAL APPEND PROPERTY TRIGRAM_PARTS_IN_package ${arg_PARTS} ${name})
    set_property(GLOBAL APPEND_STRING PROPERTY TRIGRAM_LOADED_IN_package
                 "_trigram_load_where(\"${arg_PACKAGES}\" ${arg_PARTS} ${name})\n")
  endif()
endfunction()

# trigram_backends(OUT WHOLE [PREFIX]): the backends in it, as PREFIXname.
function(trigram_backends out whole)
  get_property(names GLOBAL PROPERTY TRIGRAM_BACKENDS_IN_${whole})
  list(TRANSFORM names PREPEND "${ARGN}")
  set(${out} ${names} PARENT_SCOPE)
endfunction()
