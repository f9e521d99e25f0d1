# `cmake --install`: the program, its data, core's headers, and a package with one component a part.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trigram)

# The config file includes those that are installed.
get_property(parts GLOBAL PROPERTY TRIGRAM_PARTS_IN_package)
get_property(load_backends GLOBAL PROPERTY TRIGRAM_LOADED_IN_package)
list(PREPEND parts core processes kernels_cpu process meeting gpu_host algorithms workloads)
list(REMOVE_DUPLICATES parts)
foreach(part IN LISTS parts)
  if(TARGET trigram_${part})
    set(targets trigram_${part} trigram_${part}_linked)
    if(part STREQUAL core)
      list(APPEND targets trigram_flags)
    endif()
    install(TARGETS ${targets} EXPORT trigram_${part} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT trigram_${part} NAMESPACE trigram:: FILE trigram-${part}.cmake DESTINATION ${package_dir})
  endif()
endforeach()

# The program with its files is a component of its own, of which a Python package is made.
install(TARGETS trigram_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
# Of kernels, what a codec of one's own is made of.
install(DIRECTORY core kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trigram FILES_MATCHING PATTERN *.hpp PATTERN cuda EXCLUDE)
# share/trigram mirrors experiments/ of the source tree, so that a file is looked for in both by one name.
install(DIRECTORY experiments/clusters experiments/data experiments/doctor experiments/executors experiments/export experiments/import experiments/new experiments/plot experiments/report experiments/schemas
                  experiments/skeletons experiments/studies experiments/systems experiments/tune
        DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram COMPONENT program PATTERN __pycache__ EXCLUDE)
install(DIRECTORY experiments/workloads/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram/workloads COMPONENT program
        FILES_MATCHING PATTERN "*.csv" PATTERN shapes EXCLUDE)
# Pages that the program's help names, as text.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/trigram COMPONENT program FILES_MATCHING PATTERN "*.md")

configure_package_config_file(cmake/trigram-config.cmake.in trigram-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(trigram-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/trigram-config.cmake ${PROJECT_BINARY_DIR}/trigram-config-version.cmake
              cmake/FindSimGrid.cmake cmake/FindNettle.cmake
        DESTINATION ${package_dir})
