# An outside project builds against an installed Fallow, by find_package and by pkg-config.

if(plain_possible)
    fallow_script(package.outside SCRIPT package/outside.sh TIMEOUT 300)
endif()
