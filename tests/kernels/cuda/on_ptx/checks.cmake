# What is checked of kernels and of the calls around them while their suites run on PTX (ptx/README.md).

# What finds what, by programs and kernels of a few lines, is among the suites themselves. All other suites run once more
# under all checks, and once with stores that are seen late.
gtest_filter(honest EXCEPT ChecksOnPtx.* RuntimeOnPtx.* MutationOfPtx.* ManyElements.*)
gtest_filter(honest_in_short SameBits.* Arithmetic.* Applied.* TopK.* Qsgd.* MinMaxUint8.* Adam.* Images.* CausalAttention.*)
set(all_checks "initcheck racecheck streamcheck leaks")
# kernels_under(NAME NUMBER FILTER LABEL ENVIRONMENT...): so many tests in which kernels run so.
function(kernels_under name number filter label)
  shards(kernels_on_ptx.${name} ${number} test_kernels_on_ptx ${filter} ${label})
  foreach(index RANGE 1 ${number})
    set(test kernels_on_ptx.${name}.${index}_of_${number})
    if(number EQUAL 1)
      set(test kernels_on_ptx.${name})
    endif()
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${ARGN}")
  endforeach()
endfunction()
kernels_under(checks 4 ${honest} whole KERNELS_ON_PTX_CHECKS=${all_checks})
kernels_under(late_stores 2 ${honest} whole KERNELS_ON_PTX_STORES=late)
kernels_under(shuffled_stores 2 ${honest} whole KERNELS_ON_PTX_STORES=shuffled)
kernels_under(checks_in_short 1 ${honest_in_short} "" KERNELS_ON_PTX_CHECKS=${all_checks})

# A kernel of the program without its barriers races, and reads what has not come yet.
set(without_barriers --gtest_brief=1 --gtest_filter=SameBits.SumsByTheTree)
add_test(NAME kernels_on_ptx.racecheck_finds_no_barriers COMMAND test_kernels_on_ptx ${without_barriers})
set_tests_properties(kernels_on_ptx.racecheck_finds_no_barriers PROPERTIES LABELS whole
                     ENVIRONMENT "KERNELS_ON_PTX_MUTATION=no_barriers;KERNELS_ON_PTX_CHECKS=racecheck"
                     PASS_REGULAR_EXPRESSION "racecheck: read after write hazard at address 0x[0-9a-f]+ of shared memory")
