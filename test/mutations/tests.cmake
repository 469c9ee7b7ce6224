# That the faults of mutations/ can still be put back; the nightly run does it.

fallow_script(mutations.apply SCRIPT mutations/run ARGS --check)
if(FALLOW_NIGHTLY)
    fallow_script(mutations.red SCRIPT mutations/run TIMEOUT 7200 SERIAL)
    if(plain_possible)
        set_tests_properties(mutations.red PROPERTIES LABELS "mutations;nightly")
    endif()
endif()
