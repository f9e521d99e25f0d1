# Sources that register products, and how they are compiled several at a time and linked.

# trigram_registers(SOURCE OUT): whether it registers a product.
function(trigram_registers source out)
  file(STRINGS ${source} registration REGEX "::Registration " LIMIT_COUNT 1)
  set(${out} "${registration}" PARENT_SCOPE)
endfunction()

# CMake's own unity build leaves products out: who writes one need not know the names in others.
function(trigram_products_alone)
  foreach(source IN LISTS ARGN)
    trigram_registers(${source} registers)
    if(registers)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# trigram_joinable(SOURCE OUT): the #include lines of a product that has all else in one unnamed namespace of trigram.
function(trigram_joinable source out)
  file(READ ${source} text)
  string(REGEX MATCHALL "\n#[^\n]*" directives "${text}")
  string(REGEX MATCHALL "\n#include [^\n]*" includes "${text}")
  string(REGEX MATCHALL "\n}  // namespace\n" closed "${text}")
  list(LENGTH closed unnamed_namespaces)
  set(${out} "" PARENT_SCOPE)
  if(text MATCHES "\nnamespace trigram {\n+namespace {\n.*\n}  // namespace\n+}  // namespace trigram\n$"
     AND NOT text MATCHES "\n[^/#\n][^\n]*\n+namespace trigram {\n" AND unnamed_namespaces EQUAL 1 AND directives STREQUAL includes)
    set(${out} "${includes}" PARENT_SCOPE)
  endif()
endfunction()

# trigram_join_products(PART VARIABLE): in a unity build, replaces products in that list of sources by files that include sixteen of
# them each. What a product names lies in an unnamed namespace; here that lies in one namespace more for each product, so
# that the same name may stand in several of them.
function(trigram_join_products part variable)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set(joined "")
  set(batch 0)
  set(products 0)
  foreach(source IN LISTS ${variable})
    get_filename_component(source ${source} ABSOLUTE)
    trigram_registers(${source} registers)
    get_source_file_property(language ${source} LANGUAGE)  # .cu is C++ for the doubles alone
    set(includes "")
    if(registers AND (source MATCHES "\\.cpp$" OR language STREQUAL "CXX"))
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
      trigram_joinable(${source} includes)
    endif()
    if(NOT includes)
      list(APPEND joined ${source})
      continue()
    endif()
    math(EXPR batch "${products} / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    math(EXPR products "${products} + 1")
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    list(APPEND includes_${batch} ${includes})
    string(APPEND members_${batch} "namespace product_${products} {\nnamespace trigram {\nusing namespace ::trigram;\n}\n"
                                   "#include \"${path}\"\n}  // namespace product_${products}\n")
  endforeach()
  if(products)
    foreach(index RANGE ${batch})
      list(REMOVE_DUPLICATES includes_${index})
      list(JOIN includes_${index} "" includes)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/products_of_${part}_${index}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "// Products that are compiled together.${includes}\nnamespace trigram {}\n${members_${index}}" @ONLY)
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      list(APPEND joined ${file})
    endforeach()
  endif()
  set(${variable} ${joined} PARENT_SCOPE)
endfunction()

# trigram_plugins(PART SOURCES...): an archive whose products register themselves, and so must survive linking whole.
# Link trigram::PART everywhere, libraries too; never trigram_PART, which the linker would drop.
function(trigram_plugins part)
  set(sources ${ARGN})
  trigram_join_products(${part} sources)
  add_library(trigram_${part} STATIC ${sources})
  trigram_products_alone(${sources})
  add_library(trigram::${part}_archive ALIAS trigram_${part})
  set_target_properties(trigram_${part} PROPERTIES EXPORT_NAME ${part}_archive)
  add_library(trigram_${part}_linked INTERFACE)
  add_library(trigram::${part} ALIAS trigram_${part}_linked)
  set_target_properties(trigram_${part}_linked PROPERTIES EXPORT_NAME ${part})
  # The namespaced name, since this expression is exported as it stands.
  target_link_libraries(trigram_${part}_linked INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,trigram::${part}_archive>")
endfunction()

# trigram_cuda_sources(OUT): the kernels of GPUs, and one file that has in it whatever of kernels/ each kind of device
# compiles for itself, each in a namespace of its own.
function(trigram_cuda_sources out)
  set(kernels ${PROJECT_SOURCE_DIR}/kernels)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${kernels}/cuda/*.cpp ${kernels}/cuda/*.cu)
  file(GLOB rules RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${kernels}/rules/*.cpp ${kernels}/operations/*.cpp)
  set(includes "")
  set(members "")
  foreach(rule IN LISTS rules)
    trigram_joinable(${PROJECT_SOURCE_DIR}/${rule} its_includes)
    list(APPEND includes ${its_includes})
    get_filename_component(name ${rule} NAME_WE)
    string(APPEND members "namespace rule_${name} {\nnamespace trigram {\nusing namespace ::trigram;\n}\n"
                          "#include \"${rule}\"\n}  // namespace rule_${name}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "" includes)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/kernels/cuda/rules.cu)
  file(CONFIGURE OUTPUT ${file} CONTENT "// The rules for GPUs.\n#define TRIGRAM_RULES_FOR_CUDA${includes}\n${members}" @ONLY)
  set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${out} ${sources} ${file} PARENT_SCOPE)
endfunction()
