# The kernel series: that it applies. test/kernel/run builds and boots it, which takes too long for the gate.

fallow_script(kernel.series SCRIPT kernel/series.sh)
