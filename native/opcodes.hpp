// The 6502 instruction set: one handler name per operation and addressing mode, and the table from opcodes to them.
#pragma once

#include <array>
#include <cstdint>

namespace nes {

// Modes: imm #, zp, zpx, zpy, abs, abx, aby, izx (zp,X), izy (zp),Y.  Shortcuts that the decoder picks when the operand
// shows where the access goes: ram = abs in RAM, rmx/rmy = abs,X / abs,Y within RAM, rox/roy = the same within PRG ROM.
// clang-format off
#define NES_READ_ALU(X, N) \
    X(N##_imm) X(N##_zp) X(N##_zpx) X(N##_abs) X(N##_abx) X(N##_aby) X(N##_izx) X(N##_izy) \
    X(N##_ram) X(N##_rmx) X(N##_rmy) X(N##_rox) X(N##_roy)
#define NES_SHIFT(X, N) X(N##_acc) X(N##_zp) X(N##_zpx) X(N##_abs) X(N##_abx) X(N##_ram) X(N##_rmx)
#define NES_STEP(X, N) X(N##_zp) X(N##_zpx) X(N##_abs) X(N##_abx) X(N##_ram) X(N##_rmx)
#define NES_COMBINED(X, N) X(N##_zp) X(N##_zpx) X(N##_abs) X(N##_abx) X(N##_aby) X(N##_izx) X(N##_izy)

// Pairs that follow each other so often that one handler runs both: a test and a branch, a load and a store, and others.
#define NES_FUSE_OTHER(X) \
    X(iny, iny) X(inx, inx) X(inx, iny) X(dex, dey) X(sta_rmy, iny) X(sta_rmx, inx) X(lsr_acc, lsr_acc) X(asl_acc, asl_acc) \
    X(clc, adc_imm) X(clc, adc_zp) X(clc, adc_roy) X(clc, adc_rmy) X(sec, sbc_imm) X(sec, sbc_zp) X(sec, sbc_zpx) \
    X(lda_ram, and_imm) X(lda_zp, and_imm) X(and_imm, sta_zp) X(and_imm, sta_ram) X(sbc_zpx, sta_zp) X(lda_zp, clc) \
    X(lda_ram, clc) X(sta_zp, lda_zp) X(sta_zp, lda_imm) X(pla, tay) X(tay, lda_roy)
#define NES_FUSE_BRANCH(X, N) X(N, bne) X(N, beq) X(N, bpl) X(N, bmi) X(N, bcc) X(N, bcs)
#define NES_FUSE_STORE(X, N) X(N, sta_zp) X(N, sta_zpx) X(N, sta_ram) X(N, sta_rmx) X(N, sta_rmy)
#define NES_FUSED(X) \
    NES_FUSE_BRANCH(X, lda_zp) NES_FUSE_BRANCH(X, lda_zpx) NES_FUSE_BRANCH(X, lda_ram) NES_FUSE_BRANCH(X, lda_rmx) \
    NES_FUSE_BRANCH(X, ldy_zp) NES_FUSE_BRANCH(X, ldy_ram) NES_FUSE_BRANCH(X, cmp_imm) NES_FUSE_BRANCH(X, cmp_zp) \
    NES_FUSE_BRANCH(X, cpx_imm) NES_FUSE_BRANCH(X, cpy_imm) NES_FUSE_BRANCH(X, and_imm) NES_FUSE_BRANCH(X, dex) \
    NES_FUSE_BRANCH(X, dey) NES_FUSE_BRANCH(X, inx) NES_FUSE_BRANCH(X, iny) NES_FUSE_BRANCH(X, lsr_acc) \
    NES_FUSE_STORE(X, lda_imm) NES_FUSE_STORE(X, lda_zp) NES_FUSE_STORE(X, lda_ram) NES_FUSE_STORE(X, lda_rox) \
    NES_FUSE_STORE(X, lda_roy) NES_FUSE_STORE(X, lda_rmx) NES_FUSE_STORE(X, adc_imm) NES_FUSE_STORE(X, sbc_imm) \
    NES_FUSE_OTHER(X)

#define NES_FUNCTIONS(X) \
    NES_READ_ALU(X, lda) NES_READ_ALU(X, ora) NES_READ_ALU(X, and) NES_READ_ALU(X, eor) NES_READ_ALU(X, adc) \
    NES_READ_ALU(X, sbc) NES_READ_ALU(X, cmp) \
    X(ldx_imm) X(ldx_zp) X(ldx_zpy) X(ldx_abs) X(ldx_aby) X(ldx_ram) X(ldx_rmy) X(ldx_roy) \
    X(ldy_imm) X(ldy_zp) X(ldy_zpx) X(ldy_abs) X(ldy_abx) X(ldy_ram) X(ldy_rmx) X(ldy_rox) \
    X(lax_zp) X(lax_zpy) X(lax_abs) X(lax_aby) X(lax_izx) X(lax_izy) \
    X(cpx_imm) X(cpx_zp) X(cpx_abs) X(cpx_ram) X(cpy_imm) X(cpy_zp) X(cpy_abs) X(cpy_ram) \
    X(bit_zp) X(bit_abs) X(bit_ram) \
    X(nop_imp) X(nop_imm) X(nop_zp) X(nop_zpx) X(nop_abs) X(nop_abx) \
    X(sta_zp) X(sta_zpx) X(sta_abs) X(sta_abx) X(sta_aby) X(sta_izx) X(sta_izy) X(sta_ram) X(sta_rmx) X(sta_rmy) \
    X(stx_zp) X(stx_zpy) X(stx_abs) X(stx_ram) X(sty_zp) X(sty_zpx) X(sty_abs) X(sty_ram) \
    X(sax_zp) X(sax_zpy) X(sax_abs) X(sax_izx) \
    NES_SHIFT(X, asl) NES_SHIFT(X, lsr) NES_SHIFT(X, rol) NES_SHIFT(X, ror) NES_STEP(X, inc) NES_STEP(X, dec) \
    NES_COMBINED(X, slo) NES_COMBINED(X, rla) NES_COMBINED(X, sre) NES_COMBINED(X, rra) NES_COMBINED(X, dcp) \
    NES_COMBINED(X, isc) \
    X(anc_imm) X(alr_imm) X(arr_imm) X(sbx_imm) X(ane_imm) X(lxa_imm) \
    X(sha_izy) X(sha_aby) X(shx_aby) X(shy_abx) X(tas_aby) X(las_aby) \
    X(tax) X(tay) X(txa) X(tya) X(tsx) X(txs) X(inx) X(iny) X(dex) X(dey) \
    X(clc) X(sec) X(cli) X(sei) X(clv) X(cld) X(sed) X(pha) X(php) X(pla) X(plp) \
    X(bpl) X(bmi) X(bvc) X(bvs) X(bcc) X(bcs) X(bne) X(beq) \
    X(jmp_abs) X(jmp_ind) X(jsr) X(rts) X(rti) X(brk) X(jam) \
    X(edge) X(resync) X(idle_jump) X(idle_poll)
// clang-format on

enum class Fn : uint16_t {
#define X(name) name,
    NES_FUNCTIONS(X)
#undef X
#define X(first, second) first##_##second,
        NES_FUSED(X)
#undef X
};

struct Opcode {
    Fn fn = Fn::jam;
    uint8_t length = 1;
    // Bit k set: the k-th cycle counted from the instruction's end (0 = last) writes the bus.
    // A DMC fetch that falls on a write cycle waits for it (one stall cycle fewer).
    uint8_t writes = 0;
};

extern const std::array<Opcode, 256> kOpcodes;

}  // namespace nes
