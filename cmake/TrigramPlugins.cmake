# Where sources are compiled several at a time, a product's is not: who writes one need not know the names in others.
function(trigram_products_alone)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} registration REGEX "::Registration " LIMIT_COUNT 1)
    if(registration)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# trigram_plugins(PART SOURCES...): an archive whose products register themselves, and so must survive linking whole.
# Link trigram::PART everywhere, libraries too; never trigram_PART, which the linker would drop.
function(trigram_plugins part)
  add_library(trigram_${part} STATIC ${ARGN})
  trigram_products_alone(${ARGN})
  add_library(trigram::${part}_archive ALIAS trigram_${part})
  set_target_properties(trigram_${part} PROPERTIES EXPORT_NAME ${part}_archive)
  add_library(trigram_${part}_linked INTERFACE)
  add_library(trigram::${part} ALIAS trigram_${part}_linked)
  set_target_properties(trigram_${part}_linked PROPERTIES EXPORT_NAME ${part})
  # The namespaced name, since this expression is exported as it stands.
  target_link_libraries(trigram_${part}_linked INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,trigram::${part}_archive>")
endfunction()
