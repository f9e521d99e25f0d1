# The backend whole with its kernels as nvcc compiles them, interpreted (ptx/), and NCCL's double between ranks.
add_library(nccl_on_ptx SHARED EXCLUDE_FROM_ALL ${nccl_on_host_sources})
set(nccl_on_ptx_dir ${CMAKE_CURRENT_BINARY_DIR}/nccl_on_ptx)
set_target_properties(nccl_on_ptx PROPERTIES OUTPUT_NAME nccl SOVERSION 2 LIBRARY_OUTPUT_DIRECTORY ${nccl_on_ptx_dir})
target_include_directories(nccl_on_ptx BEFORE PUBLIC ${PROJECT_SOURCE_DIR}/tests/support/nccl_on_host)
target_link_libraries(nccl_on_ptx PRIVATE trigram::cuda_on_ptx)

trigram_plugins(gpu_on_ptx ${gpu_sources})
set_target_properties(trigram_gpu_on_ptx PROPERTIES EXCLUDE_FROM_ALL ON)
target_include_directories(trigram_gpu_on_ptx BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/nccl_on_host)
target_link_libraries(trigram_gpu_on_ptx PUBLIC trigram::core trigram::gpu_host trigram::kernels_cuda_as_ptx
                                         PRIVATE ${CMAKE_DL_LIBS})

gpu_executable(test_gpu_on_ptx gpu_on_ptx main.cpp tested_backends.cpp training_test.cpp streams_run_later.cpp
               ../kernels/cuda/on_ptx/schedule.cpp ${PROJECT_SOURCE_DIR}/ptx/device/no_cublas.cpp)
set_target_properties(test_gpu_on_ptx PROPERTIES EXCLUDE_FROM_ALL ON CUDA_RUNTIME_LIBRARY None)
target_link_libraries(test_gpu_on_ptx PRIVATE trigram::test_support)
add_dependencies(test_gpu_on_ptx nccl_on_ptx)
add_dependencies(tested_on_ptx test_gpu_on_ptx)

# The session's library, for PyTorch.
trigram_part_of_library(gpu_on_ptx kernels_cuda_as_ptx)
trigram_session_library(trigram_session_on_ptx trigram::gpu_on_ptx)
target_sources(trigram_session_on_ptx PRIVATE streams_run_later.cpp ${PROJECT_SOURCE_DIR}/ptx/device/no_cublas.cpp
                                              ../support/cuda_on_host/host_memory.cpp)
set_target_properties(trigram_session_on_ptx PROPERTIES EXCLUDE_FROM_ALL ON CUDA_RUNTIME_LIBRARY None)
add_dependencies(trigram_session_on_ptx nccl_on_ptx)
add_dependencies(tested_on_ptx_in_all trigram_session_on_ptx)

# Bits of threads, which are those of MPI: the probes in the basis, each algorithm and losses of networks in `all`.
list(TRANSFORM probes PREPEND "EveryAlgorithm/SameTraining.BitsWithOverlap/" OUTPUT_VARIABLE of_probes)
foreach(ranks 2 4)
  gtest_filter(basis ${of_probes} "TrainingOnGpus*")
  gpu_job(gpu_on_ptx.training ${ranks} test_gpu_on_ptx ${basis})
  gtest_filter(rest "EveryAlgorithm/SameTraining.*" EXCEPT ${of_probes})
  gpu_job(gpu_on_ptx.training_whole ${ranks} test_gpu_on_ptx ${rest} whole)
endforeach()
get_directory_property(on_ptx_tests TESTS)
list(FILTER on_ptx_tests INCLUDE REGEX "^gpu_on_ptx\\.")
set_property(TEST ${on_ptx_tests} PROPERTY ENVIRONMENT LD_LIBRARY_PATH=${nccl_on_ptx_dir})
