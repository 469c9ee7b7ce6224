# An outside project builds against an installed Fallow, by find_package and by pkg-config; what else is installed.

if(plain_possible)
    fallow_script(package.outside SCRIPT package/outside.sh TIMEOUT 300)
    fallow_script(package.man SCRIPT package/man.sh)
endif()
