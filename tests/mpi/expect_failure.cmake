# Runs JOB, which must end by itself, with exit status STATUS, and have said TEXT (a regular expression). The limit is for
# one that hangs, on a machine however busy.
execute_process(COMMAND ${JOB} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 300)
if(NOT status STREQUAL STATUS)
  message(FATAL_ERROR "the job ended with '${status}' instead of ${STATUS}, saying:\n${said}")
endif()
if(NOT said MATCHES "${TEXT}")
  message(FATAL_ERROR "the job did not say '${TEXT}' but:\n${said}")
endif()
