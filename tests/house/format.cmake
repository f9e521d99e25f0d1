# Fails when clang-format would change a source file of the project. Needs CLANG_FORMAT and TREE.
execute_process(COMMAND git -C ${TREE} ls-files -- *.cpp *.hpp WORKING_DIRECTORY ${TREE}
                OUTPUT_VARIABLE listing RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(STATUS "no git checkout: nothing to compare")
  return()
endif()
string(REPLACE "\n" ";" files "${listing}")
execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror ${files} WORKING_DIRECTORY ${TREE}
                RESULT_VARIABLE failed ERROR_VARIABLE complaints)
if(failed)
  string(REGEX MATCHALL "[^\n]*: error: [^\n]*" places "${complaints}")
  list(JOIN places "\n" places)
  message(FATAL_ERROR "run clang-format -i on these:\n${places}")
endif()
