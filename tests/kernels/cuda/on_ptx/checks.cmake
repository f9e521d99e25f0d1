# What is checked of kernels and of the calls around them while their suites run on PTX (ptx/README.md).
target_sources(test_kernels_on_ptx PRIVATE kernels/cuda/on_ptx/registered.cpp kernels/cuda/on_ptx/checks.cpp
                                           kernels/cuda/on_ptx/checks_test.cpp)
