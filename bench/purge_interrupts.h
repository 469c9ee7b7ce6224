#ifndef PURGE_INTERRUPTS_H
#define PURGE_INTERRUPTS_H

// How often the CPUs of the whole machine have been interrupted for each other, by
// /proc/interrupts. On x86 a TLB flush on another CPU is counted in both rows.

#include <stdbool.h>
#include <stdint.h>

struct purge_interrupts {
    bool has_tlb, has_call; // whether this machine has the row
    uint64_t tlb;           // row TLB: flushes of other CPUs' TLBs
    uint64_t call;          // row CAL: functions called on other CPUs
};

struct purge_interrupts purge_interrupts_now(void);

#endif
