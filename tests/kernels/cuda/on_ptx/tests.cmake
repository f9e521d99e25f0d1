# The suites of kernels on what nvcc makes of them for GPUs, interpreted (ptx/).
file(GLOB on_ptx CONFIGURE_DEPENDS kernels/cuda/on_ptx/*.cpp)
# suites_on_ptx(NAME KERNELS ARCHITECTURES...)
function(suites_on_ptx name kernels)
  add_executable(${name} EXCLUDE_FROM_ALL kernels/cuda/tested_cuda.cpp kernels/cuda/launches_test.cpp
                 kernels/cuda/quotient_test.cpp kernels/cuda/beyond_4gib_test.cpp kernels/cuda/on_ptx/quotients.cu ${on_ptx}
                 ${PROJECT_SOURCE_DIR}/ptx/device/no_cublas.cpp $<TARGET_OBJECTS:trigram_kernel_suites>)
  set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY None CUDA_ARCHITECTURES "${ARGN}")
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--no-compress;-lineinfo>")
  target_link_libraries(${name} PRIVATE ${kernels} trigram::ptx trigram::core trigram::kernels_cpu
                                        GTest::gtest GTest::gmock GTest::gtest_main)
endfunction()
suites_on_ptx(test_kernels_on_ptx trigram::kernels_cuda_as_ptx 75-virtual)
suites_on_ptx(test_kernels_on_later_ptx trigram::kernels_cuda_as_later_ptx 80-virtual 90-virtual 100-virtual)
add_custom_target(tested_on_ptx DEPENDS test_kernels_on_ptx)
add_custom_target(tested_on_ptx_in_all DEPENDS tested_on_ptx test_kernels_on_later_ptx)

# In parts, which together launch every kernel, and each of which decides otherwise what PTX leaves open.
set(schedules "shuffled early lower 1" "first_ahead late upper" "last_ahead early upper" "shuffled late upper 2"
              "first_ahead early lower" "last_ahead late lower")
# Blocks of the device: one, whose threads go round in every loop, the double's six, and those of an H100.
set(blocks 1 6 1056 1 6 1056)
list(LENGTH schedules parts)
gtest_filter(all EXCEPT Beyond4GiB.* ManyElements.*)
shards(kernels_on_ptx ${parts} test_kernels_on_ptx ${all})
set(launch_records)
foreach(index RANGE 1 ${parts})
  set(part kernels_on_ptx.${index}_of_${parts})
  set(launch_record ${CMAKE_CURRENT_BINARY_DIR}/${part}.launches)
  list(POP_FRONT schedules schedule)
  set_tests_properties(${part} PROPERTIES FIXTURES_SETUP kernels_on_ptx ENVIRONMENT
                       "KERNELS_ON_PTX_RECORD=${launch_record};KERNELS_ON_PTX_SCHEDULE=${schedule}")
  list(APPEND launch_records ${launch_record})
  # All of them by that schedule, on a device of so many blocks.
  list(POP_FRONT blocks resident)
  string(REPLACE " " "_" name "${schedule}")
  add_test(NAME kernels_on_ptx.all_${name} COMMAND test_kernels_on_ptx --gtest_brief=1 ${all})
  set_tests_properties(kernels_on_ptx.all_${name} PROPERTIES LABELS whole TIMEOUT 1800
                       ENVIRONMENT "KERNELS_ON_PTX_SCHEDULE=${schedule};KERNELS_ON_PTX_BLOCKS=${resident}")
endforeach()
add_test(NAME kernels_on_ptx.every_kernel_is_launched COMMAND ${Python3_EXECUTABLE} -B
         ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cuda/on_ptx/every_kernel_is_launched.py ${launch_records})
set_tests_properties(kernels_on_ptx.every_kernel_is_launched PROPERTIES FIXTURES_REQUIRED kernels_on_ptx)

# What the interpreter meets in them, its own tests try.
set(forms ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cuda/on_ptx/every_form_is_tried.py)
add_test(NAME kernels_on_ptx.every_form_is_tried COMMAND ${Python3_EXECUTABLE} -B ${forms} $<TARGET_FILE:test_kernels_on_ptx>)
add_test(NAME kernels_on_ptx.every_later_form_is_tried COMMAND ${Python3_EXECUTABLE} -B ${forms}
         $<TARGET_FILE:test_kernels_on_later_ptx>)
set_tests_properties(kernels_on_ptx.every_later_form_is_tried PROPERTIES LABELS whole)

# They find kernels that are wrong (mutation.hpp): of each kind the nearest case here, each place by mutations/run.py.
set(found_in_no_barriers "SameBits.SumsByTheTree:All/SameFrames.OfHardVectors/qsgd*")
set(found_in_turned_comparisons "All/SameFrames.OfHardVectors/chunk_top_k*:All/SameFrames.OfHardVectors/fp16*")
set(found_in_swapped_shuffles "All/SameFrames.OfHardVectors/qsgd*:SameBits.SumsWhoseOrderShows")
set(found_in_shifted_lanes ${found_in_swapped_shuffles})
set(found_in_contracted "SameBits.WeightedSum:SameBits.OptimizersOverManyTensors")
foreach(mutation no_barriers turned_comparisons swapped_shuffles shifted_lanes contracted)
  set(test kernels_on_ptx.suites_find_${mutation})
  add_test(NAME ${test} COMMAND test_kernels_on_ptx --gtest_brief=1 --gtest_filter=${found_in_${mutation}})
  set_tests_properties(${test} PROPERTIES LABELS whole ENVIRONMENT KERNELS_ON_PTX_MUTATION=${mutation}
                                          PASS_REGULAR_EXPRESSION "FAILED  \\] (SameBits|All/SameFrames)")
endforeach()

# On memory that is the same again and again but at its ends, since 12 GiB are more than most machines have.
add_test(NAME kernels_on_ptx.beyond_4_gib COMMAND test_kernels_on_ptx --gtest_brief=1 --gtest_filter=Beyond4GiB.*)
set_tests_properties(kernels_on_ptx.beyond_4_gib PROPERTIES LABELS whole TIMEOUT 3600
                     ENVIRONMENT KERNELS_ON_PTX_MEMORY=repeated)

# Vectors of millions of elements.
add_test(NAME kernels_on_ptx.many_elements COMMAND test_kernels_on_ptx --gtest_brief=1 --gtest_filter=ManyElements.*)
set_tests_properties(kernels_on_ptx.many_elements PROPERTIES LABELS whole TIMEOUT 1800)

# What nvcc makes for later GPUs is read whole, and does the same.
gtest_filter(of_later_ptx "SameBits.*" "All/SameFrames.OfTheFusedServer/*" "EveryOperation*" "Gemm*")
foreach(capability 80 90 100)
  set(test kernels_on_ptx.compiled_for_${capability})
  add_test(NAME ${test} COMMAND test_kernels_on_later_ptx --gtest_brief=1 ${of_later_ptx})
  set_tests_properties(${test} PROPERTIES LABELS whole ENVIRONMENT KERNELS_ON_PTX_CAPABILITY=${capability})
endforeach()

# Each barrier left out, and one place of each other instruction of a line made wrong.
add_test(NAME kernels_on_ptx.mutations COMMAND ${Python3_EXECUTABLE} -B
         ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cuda/on_ptx/mutations/run.py --once $<TARGET_FILE:test_kernels_on_ptx>)
set_tests_properties(kernels_on_ptx.mutations PROPERTIES LABELS whole TIMEOUT 7200 PROCESSORS 2)
