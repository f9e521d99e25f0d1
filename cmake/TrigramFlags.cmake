# What every translation unit is compiled with. The installed package hands trigram::flags on, since a downstream
# algorithm runs on the same stacks and must round alike; warnings stay at home.
option(TRIGRAM_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(TRIGRAM_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(trigram_flags INTERFACE)
add_library(trigram::flags ALIAS trigram_flags)
set_target_properties(trigram_flags PROPERTIES EXPORT_NAME flags)
target_compile_features(trigram_flags INTERFACE cxx_std_20)
target_include_directories(trigram_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/trigram>)

# Same bits everywhere: multiply and add fuse only where the code says so, on GPUs too. Of two -fmad nvcc takes the last,
# and a target's own options come first: kernels that shall fuse, for tests to find, set TRIGRAM_FMAD.
target_compile_options(trigram_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
set(fmad $<IF:$<BOOL:$<TARGET_PROPERTY:TRIGRAM_FMAD>>,-fmad=true,-fmad=false>)
target_compile_options(trigram_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;${fmad};--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off>")
# Simulated ranks have small stacks: a large frame must touch the guard page, and Eigen must not put one there.
target_compile_options(trigram_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fstack-clash-protection>)
target_compile_definitions(trigram_flags INTERFACE EIGEN_STACK_ALLOCATION_LIMIT=40960)

# Tests take long to compile, and spend their time in what they test: they set DEFAULT_TRIGRAM_TEST_CODE, are optimised less, and
# go without checks of undefined behaviour.
define_property(TARGET PROPERTY TRIGRAM_TEST_CODE INITIALIZE_FROM_VARIABLE DEFAULT_TRIGRAM_TEST_CODE)
set(of_tests $<BOOL:$<TARGET_PROPERTY:TRIGRAM_TEST_CODE>>)
if(TRIGRAM_SANITIZE)
  target_compile_options(trigram_flags INTERFACE -fsanitize=${TRIGRAM_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer $<${of_tests}:-fno-sanitize=undefined>)
  target_link_options(trigram_flags INTERFACE -fsanitize=${TRIGRAM_SANITIZE})
else()
  target_compile_options(trigram_flags INTERFACE $<$<AND:${of_tests},$<COMPILE_LANGUAGE:CXX>>:-O1>)
endif()

# -Wrestrict misfires on std::string's operator+ in GCC 12.
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(TRIGRAM_WARNINGS_AS_ERRORS)
  list(APPEND warnings -Werror)
endif()
target_compile_options(trigram_flags INTERFACE "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:${warnings}>>")
# nvcc's own code between ours passes no more than these.
set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-unknown-pragmas $<$<BOOL:${TRIGRAM_WARNINGS_AS_ERRORS}>:-Werror=all-warnings>)
target_compile_options(trigram_flags INTERFACE "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>>")
