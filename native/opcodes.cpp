#include "opcodes.hpp"

namespace nes {
namespace {

constexpr uint8_t kStore = 0x01;   // last cycle
constexpr uint8_t kModify = 0x03;  // dummy write, then write
constexpr uint8_t kJsr = 0x03;     // the two pushes, where cynes has them
constexpr uint8_t kBreak = 0x1C;   // cycles 3, 4 and 5 of 7

constexpr std::array<Opcode, 256> build() {
    std::array<Opcode, 256> t{};
    auto set = [&](int code, Fn fn, int length, uint8_t writes = 0) {
        t[code] = Opcode{fn, static_cast<uint8_t>(length), writes};
    };
    // The eight-mode column of ORA, AND, EOR, ADC, LDA, CMP, SBC.
    auto alu = [&](int base, Fn imm) {
        const int f = static_cast<int>(imm);
        set(base + 0x09, Fn(f + 0), 2);
        set(base + 0x05, Fn(f + 1), 2);
        set(base + 0x15, Fn(f + 2), 2);
        set(base + 0x0D, Fn(f + 3), 3);
        set(base + 0x1D, Fn(f + 4), 3);
        set(base + 0x19, Fn(f + 5), 3);
        set(base + 0x01, Fn(f + 6), 2);
        set(base + 0x11, Fn(f + 7), 2);
    };
    alu(0x00, Fn::ora_imm);
    alu(0x20, Fn::and_imm);
    alu(0x40, Fn::eor_imm);
    alu(0x60, Fn::adc_imm);
    alu(0xA0, Fn::lda_imm);
    alu(0xC0, Fn::cmp_imm);
    alu(0xE0, Fn::sbc_imm);
    set(0xEB, Fn::sbc_imm, 2);
    auto shift = [&](int base, Fn acc) {
        const int f = static_cast<int>(acc);
        set(base + 0x0A, Fn(f + 0), 1);
        set(base + 0x06, Fn(f + 1), 2, kModify);
        set(base + 0x16, Fn(f + 2), 2, kModify);
        set(base + 0x0E, Fn(f + 3), 3, kModify);
        set(base + 0x1E, Fn(f + 4), 3, kModify);
    };
    shift(0x00, Fn::asl_acc);
    shift(0x20, Fn::rol_acc);
    shift(0x40, Fn::lsr_acc);
    shift(0x60, Fn::ror_acc);
    auto step = [&](int base, Fn zp) {
        const int f = static_cast<int>(zp);
        set(base + 0x06, Fn(f + 0), 2, kModify);
        set(base + 0x16, Fn(f + 1), 2, kModify);
        set(base + 0x0E, Fn(f + 2), 3, kModify);
        set(base + 0x1E, Fn(f + 3), 3, kModify);
    };
    step(0xC0, Fn::dec_zp);
    step(0xE0, Fn::inc_zp);
    auto combined = [&](int base, Fn zp) {
        const int f = static_cast<int>(zp);
        set(base + 0x07, Fn(f + 0), 2, kModify);
        set(base + 0x17, Fn(f + 1), 2, kModify);
        set(base + 0x0F, Fn(f + 2), 3, kModify);
        set(base + 0x1F, Fn(f + 3), 3, kModify);
        set(base + 0x1B, Fn(f + 4), 3, kModify);
        set(base + 0x03, Fn(f + 5), 2, kModify);
        set(base + 0x13, Fn(f + 6), 2, kModify);
    };
    combined(0x00, Fn::slo_zp);
    combined(0x20, Fn::rla_zp);
    combined(0x40, Fn::sre_zp);
    combined(0x60, Fn::rra_zp);
    combined(0xC0, Fn::dcp_zp);
    combined(0xE0, Fn::isc_zp);

    set(0xA2, Fn::ldx_imm, 2), set(0xA6, Fn::ldx_zp, 2), set(0xB6, Fn::ldx_zpy, 2);
    set(0xAE, Fn::ldx_abs, 3), set(0xBE, Fn::ldx_aby, 3);
    set(0xA0, Fn::ldy_imm, 2), set(0xA4, Fn::ldy_zp, 2), set(0xB4, Fn::ldy_zpx, 2);
    set(0xAC, Fn::ldy_abs, 3), set(0xBC, Fn::ldy_abx, 3);
    set(0xA7, Fn::lax_zp, 2), set(0xB7, Fn::lax_zpy, 2), set(0xAF, Fn::lax_abs, 3);
    set(0xBF, Fn::lax_aby, 3), set(0xA3, Fn::lax_izx, 2), set(0xB3, Fn::lax_izy, 2);
    set(0xE0, Fn::cpx_imm, 2), set(0xE4, Fn::cpx_zp, 2), set(0xEC, Fn::cpx_abs, 3);
    set(0xC0, Fn::cpy_imm, 2), set(0xC4, Fn::cpy_zp, 2), set(0xCC, Fn::cpy_abs, 3);
    set(0x24, Fn::bit_zp, 2), set(0x2C, Fn::bit_abs, 3);

    for (int code : {0xEA, 0x1A, 0x3A, 0x5A, 0x7A, 0xDA, 0xFA}) set(code, Fn::nop_imp, 1);
    for (int code : {0x80, 0x82, 0x89, 0xC2, 0xE2}) set(code, Fn::nop_imm, 2);
    for (int code : {0x04, 0x44, 0x64}) set(code, Fn::nop_zp, 2);
    for (int code : {0x14, 0x34, 0x54, 0x74, 0xD4, 0xF4}) set(code, Fn::nop_zpx, 2);
    set(0x0C, Fn::nop_abs, 3);
    for (int code : {0x1C, 0x3C, 0x5C, 0x7C, 0xDC, 0xFC}) set(code, Fn::nop_abx, 3);

    set(0x85, Fn::sta_zp, 2, kStore), set(0x95, Fn::sta_zpx, 2, kStore), set(0x8D, Fn::sta_abs, 3, kStore);
    set(0x9D, Fn::sta_abx, 3, kStore), set(0x99, Fn::sta_aby, 3, kStore);
    set(0x81, Fn::sta_izx, 2, kStore), set(0x91, Fn::sta_izy, 2, kStore);
    set(0x86, Fn::stx_zp, 2, kStore), set(0x96, Fn::stx_zpy, 2, kStore), set(0x8E, Fn::stx_abs, 3, kStore);
    set(0x84, Fn::sty_zp, 2, kStore), set(0x94, Fn::sty_zpx, 2, kStore), set(0x8C, Fn::sty_abs, 3, kStore);
    set(0x87, Fn::sax_zp, 2, kStore), set(0x97, Fn::sax_zpy, 2, kStore);
    set(0x8F, Fn::sax_abs, 3, kStore), set(0x83, Fn::sax_izx, 2, kStore);

    set(0x0B, Fn::anc_imm, 2), set(0x2B, Fn::anc_imm, 2), set(0x4B, Fn::alr_imm, 2), set(0x6B, Fn::arr_imm, 2);
    set(0xCB, Fn::sbx_imm, 2), set(0x8B, Fn::ane_imm, 2), set(0xAB, Fn::lxa_imm, 2);
    set(0x93, Fn::sha_izy, 2, kStore), set(0x9F, Fn::sha_aby, 3, kStore), set(0x9E, Fn::shx_aby, 3, kStore);
    set(0x9C, Fn::shy_abx, 3, kStore), set(0x9B, Fn::tas_aby, 3, kStore), set(0xBB, Fn::las_aby, 3);

    set(0xAA, Fn::tax, 1), set(0xA8, Fn::tay, 1), set(0x8A, Fn::txa, 1), set(0x98, Fn::tya, 1);
    set(0xBA, Fn::tsx, 1), set(0x9A, Fn::txs, 1);
    set(0xE8, Fn::inx, 1), set(0xC8, Fn::iny, 1), set(0xCA, Fn::dex, 1), set(0x88, Fn::dey, 1);
    set(0x18, Fn::clc, 1), set(0x38, Fn::sec, 1), set(0x58, Fn::cli, 1), set(0x78, Fn::sei, 1);
    set(0xB8, Fn::clv, 1), set(0xD8, Fn::cld, 1), set(0xF8, Fn::sed, 1);
    set(0x48, Fn::pha, 1, kStore), set(0x08, Fn::php, 1, kStore), set(0x68, Fn::pla, 1), set(0x28, Fn::plp, 1);
    set(0x10, Fn::bpl, 2), set(0x30, Fn::bmi, 2), set(0x50, Fn::bvc, 2), set(0x70, Fn::bvs, 2);
    set(0x90, Fn::bcc, 2), set(0xB0, Fn::bcs, 2), set(0xD0, Fn::bne, 2), set(0xF0, Fn::beq, 2);
    set(0x4C, Fn::jmp_abs, 3), set(0x6C, Fn::jmp_ind, 3), set(0x20, Fn::jsr, 3, kJsr);
    set(0x60, Fn::rts, 1), set(0x40, Fn::rti, 1), set(0x00, Fn::brk, 1, kBreak);
    return t;  // what is left (02, 12, 22, ...) jams the CPU
}

}  // namespace

constexpr std::array<Opcode, 256> kTable = build();
const std::array<Opcode, 256> kOpcodes = kTable;

}  // namespace nes
