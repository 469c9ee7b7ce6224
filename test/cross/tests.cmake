# Other machines, built from the source by the test: in one preset, since it has its own.

if(FALLOW_DEBUG)
    fallow_script(cross.aarch64 SCRIPT cross/aarch64.sh TIMEOUT 600)
endif()
