# The suites of kernels on what nvcc makes of them for GPUs, interpreted (ptx/).
add_executable(test_kernels_on_ptx EXCLUDE_FROM_ALL kernels/cuda/tested_cuda.cpp kernels/cuda/launches_test.cpp
               kernels/cuda/quotient_test.cpp kernels/cuda/on_ptx/quotients.cu kernels/cuda/on_ptx/launch_record.cpp
               kernels/cuda/on_ptx/mutation.cpp kernels/cuda/on_ptx/mutation_test.cpp kernels/cuda/on_ptx/runtime_test.cpp
               ${PROJECT_SOURCE_DIR}/ptx/device/no_cublas.cpp $<TARGET_OBJECTS:trigram_kernel_suites>)
set_target_properties(test_kernels_on_ptx PROPERTIES CUDA_RUNTIME_LIBRARY None CUDA_ARCHITECTURES 75-virtual)
target_compile_options(test_kernels_on_ptx PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--no-compress;-lineinfo>")
target_link_libraries(test_kernels_on_ptx PRIVATE trigram::kernels_cuda_as_ptx trigram::core trigram::kernels_cpu
                                                  GTest::gtest GTest::gmock GTest::gtest_main)

# In parts, which together launch every kernel.
set(parts 6)
gtest_filter(all)
shards(kernels_on_ptx ${parts} test_kernels_on_ptx ${all})
set(launch_records)
foreach(index RANGE 1 ${parts})
  set(part kernels_on_ptx.${index}_of_${parts})
  set(launch_record ${CMAKE_CURRENT_BINARY_DIR}/${part}.launches)
  set_tests_properties(${part} PROPERTIES ENVIRONMENT KERNELS_ON_PTX_RECORD=${launch_record} FIXTURES_SETUP kernels_on_ptx)
  list(APPEND launch_records ${launch_record})
endforeach()
add_test(NAME kernels_on_ptx.every_kernel_is_launched COMMAND ${Python3_EXECUTABLE} -B
         ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cuda/on_ptx/every_kernel_is_launched.py ${launch_records})
set_tests_properties(kernels_on_ptx.every_kernel_is_launched PROPERTIES FIXTURES_REQUIRED kernels_on_ptx)

# They find kernels that are wrong (mutation.hpp).
set(found_in_no_barriers "SameBits.SumsByTheTree:All/SameFrames.OfHardVectors/qsgd*")
set(found_in_turned_comparisons "All/SameFrames.OfHardVectors/chunk_top_k*:All/SameFrames.OfHardVectors/fp16*")
set(found_in_swapped_shuffles "All/SameFrames.OfHardVectors/qsgd*:SameBits.SumsWhoseOrderShows")
set(found_in_contracted "SameBits.WeightedSum:SameBits.OptimizersOverManyTensors")
foreach(mutation no_barriers turned_comparisons swapped_shuffles contracted)
  set(test kernels_on_ptx.suites_find_${mutation})
  add_test(NAME ${test} COMMAND test_kernels_on_ptx --gtest_brief=1 --gtest_filter=${found_in_${mutation}})
  set_tests_properties(${test} PROPERTIES LABELS whole ENVIRONMENT KERNELS_ON_PTX_MUTATION=${mutation}
                                          PASS_REGULAR_EXPRESSION "FAILED  \\] (SameBits|All/SameFrames)")
endforeach()
