# What Fallow promises the process it is in: few system calls, little memory, no name that is not meant.

if(plain_possible)
    fallow_script(contract.exported_names SCRIPT contract/exported-names.sh)
    fallow_script(contract.malloc_info SCRIPT contract/malloc-info.sh)
    fallow_script(contract.sanitizers SCRIPT contract/sanitizers.sh)
    fallow_script(contract.start_instructions SCRIPT contract/start-instructions.sh
        ARGS $<TARGET_FILE:fallow-empty>)
    fallow_script(contract.start_resident_set SCRIPT contract/start-resident-set.sh)
    fallow_script(contract.start_system_calls SCRIPT contract/start-system-calls.sh
        ARGS $<TARGET_FILE:fallow-empty>)
    fallow_script(contract.steady_madvise SCRIPT contract/steady-madvise.sh
        ARGS $<TARGET_FILE:fallow-ebizzy> SERIAL)
    fallow_script(contract.thp_modes SCRIPT contract/thp-modes.sh SERIAL)
    fallow_script(contract.wakes SCRIPT contract/wakes.sh
        ARGS $<TARGET_FILE:fallow-latency> $<TARGET_FILE:fallow-ebizzy>)
    fallow_script(contract.bench SCRIPT contract/bench.sh
        ARGS $<TARGET_FILE:fallow-purge> $<TARGET_FILE:fallow-idle> $<TARGET_FILE:fallow-churn>
        $<TARGET_FILE:fallow-usemem> $<TARGET_FILE:fallow-latency>)
    fallow_script(contract.suite SCRIPT contract/suite.sh ARGS $<TARGET_FILE:fallow-suite>)
    fallow_script(contract.ebizzy SCRIPT contract/ebizzy.sh ARGS $<TARGET_FILE:fallow-ebizzy>)
    if(FALLOW_UNITY AND NOT FALLOW_DEBUG) # what users get
        string(REGEX REPLACE "\\..*" "" major "${CMAKE_C_COMPILER_VERSION}")
        string(REPLACE "GNU" "gcc" compiler "${CMAKE_C_COMPILER_ID}-${major}")
        string(TOLOWER ${compiler} compiler)
        fallow_script(contract.instructions SCRIPT contract/instructions.sh
            ARGS $<TARGET_FILE:fallow-pairs> ${compiler})
    endif()
endif()
