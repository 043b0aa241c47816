// The 6502: a threaded interpreter over pre-decoded code.
//
// An instruction's cycles are added when it starts, so "now" inside a handler is its end; the bus access of the last
// cycle is at cycle `cyc - 1`, a dummy access one before it at `cyc - 2`, and so on. Interrupts are looked at only at
// boundaries where `cyc >= stop`; `stop` is the earliest cycle at which anything can happen (update_attention).
//
// Interrupt rules (sampled in the last cycle but one of an instruction, i.e. a line seen at cycle n is served at a
// boundary `cyc` if n <= cyc - 2): NMI is an edge and beats IRQ even while the IRQ or BRK sequence is under way; CLI, SEI
// and PLP change I after the sampling point; a taken branch that stays in its page samples one cycle earlier.
#include "console.hpp"
#include "cpu_macros.hpp"

namespace nes {
namespace {

constexpr int kCentre = 150;  // of slow_code_: a branch reaches -126 .. +129 from there

}  // namespace

uint64_t Console::irq_since() const {
    uint64_t since = s.frame_irq_since;
    if (s.dmc_irq_since < since) since = s.dmc_irq_since;
    if (s.mapper_irq_since < since) since = s.mapper_irq_since;
    return since;
}

// The earliest boundary at which the interpreter must stop: the PPU's next event, an interrupt, or a DMC fetch.
void Console::update_attention() {
    uint64_t at = (ppu_event_tick() + 2) / 3;
    if (s.nmi_edge + 2 < at) at = s.nmi_edge + 2;
    if (!(s.p & kI)) {
        const uint64_t irq = irq_since() + 2;
        if (irq < at) at = irq;
        if (s.irq_latch && s.irq_latch + 2 >= s.cycle) at = s.cycle;
    }
    if (s.dmc_remaining) {
        // Near a fetch, stop after every instruction: how long it stalls depends on what it interrupts.
        const uint64_t fetch = dmc_fetch_cycle();
        if (s.cycle + 8 > fetch) {
            at = s.cycle;
        } else if (fetch - 8 < at) {
            at = fetch - 8;
        }
    }
    if (s.dma_pending || s.frame_ready) at = s.cycle;
    attention_ = at;
}

void Console::run() {
    static const void *const handlers[] = {
#define X(name) &&do_##name,
        NES_FUNCTIONS(X)
#undef X
#define X(first, second) &&do_##first##_##second,
            NES_FUSED(X)
#undef X
    };
    uint8_t *const ram = s.ram;
    unsigned A = s.a, X = s.x, Y = s.y, S = s.s, C, V, NZ;
    SET_STATUS(s.p);
    uint64_t cyc = s.cycle;
    const Op *ip, *page_ip;
    unsigned page_pc;
    Op op;
    unsigned bus = 0, slow_value = 0;
    // What the boundary under inspection needs to know of the instruction before it.
    int old_i = -1;            // CLI, SEI, PLP: the I flag at the sampling point
    bool late_branch = false;  // a taken branch within its page
    bool no_nmi = false;       // BRK: an NMI that did not hijack it waits one instruction
    bool jammed = false;
    unsigned slow_next = 0x10000;  // address after the last instruction that was fetched through the bus

    ENTER(s.pc);
    if (s.dma_pending) cyc = s.cycle = run_dma(cyc);
    update_attention();
    uint64_t stop = attention_;
    if (s.dmc_remaining) running_opcode_ = peek(s.pc);
    DISPATCH();

event_branch:
    late_branch = true;
event:
    {
        s.cycle = cyc;
        cyc = settle_dmc(cyc - 1) + 1;
        s.cycle = cyc;
        if (3 * cyc >= ppu_event_tick()) ppu_sync(3 * cyc);
        const bool masked = old_i >= 0 ? old_i : (s.p & kI) != 0;
        const uint64_t irq_limit = cyc - (late_branch ? 3 : 2);
        const bool nmi = !no_nmi && s.nmi_edge <= cyc - 2;
        const bool irq = !masked && (irq_since() <= irq_limit || s.irq_latch == cyc - 2);
        old_i = -1;
        late_branch = no_nmi = false;
        if ((nmi || irq) && !jammed) {
            unsigned pc = PC();
            if (s.dma_pending) cyc = s.cycle = run_dma(cyc);
            running_opcode_ = 0x00;
            PUSH(pc >> 8);
            PUSH(pc & 0xFF);
            if (3 * (cyc + 4) >= ppu_event_tick()) ppu_sync(3 * (cyc + 4));
            unsigned vector = 0xFFFE;
            if (s.nmi_edge <= cyc + 3) {
                vector = 0xFFFA;
                s.nmi_edge = kNever;
            }
            PUSH(STATUS());
            s.p |= kI;
            s.cycle = cyc += 7;
            cyc = s.cycle = settle_dmc(cyc - 1) + 1;
            pc = PRG(vector) | PRG(vector + 1) << 8;
            ENTER(pc);
            if (3 * cyc >= ppu_event_tick()) ppu_sync(3 * cyc);
        }
        if (s.frame_ready) goto leave;
        jammed = false;
        if (s.dma_pending) cyc = s.cycle = run_dma(cyc);
        update_attention();
        stop = attention_;
        if (s.dmc_remaining) running_opcode_ = peek(static_cast<uint16_t>(PC()));
        DISPATCH();
    }

leave:
    s.pc = static_cast<uint16_t>(PC());
    s.a = static_cast<uint8_t>(A);
    s.x = static_cast<uint8_t>(X);
    s.y = static_cast<uint8_t>(Y);
    s.s = static_cast<uint8_t>(S);
    s.p = static_cast<uint8_t>(STATUS());
    s.cycle = cyc;
    return;

    // --- code that is not decoded: bank edges, RAM, I/O space ---
do_resync:
    {
        const unsigned pc = PC();
        if (pc & 0x8000) {
            ENTER(pc);
            DISPATCH();
        }
    }
do_edge:
    {
        const unsigned pc = PC();
        // Whatever jumped here left the high byte of the target on the bus.
        if (pc != slow_next) s.open_bus = static_cast<uint8_t>(pc >> 8);
        s.cycle = cyc;
        const uint8_t opcode = read_any(static_cast<uint16_t>(pc), cyc);
        const unsigned length = kOpcodes[opcode].length;
        uint8_t low = 0, high = 0;
        if (length > 1) {
            low = read_any(static_cast<uint16_t>(pc + 1), cyc + 1);
        } else if (IS_IO((pc + 1) & 0xFFFF)) {
            read_any(static_cast<uint16_t>(pc + 1), cyc + 1);  // the dummy fetch of one-byte instructions
        }
        if (length > 2) high = read_any(static_cast<uint16_t>(pc + 2), cyc + 2);
        cyc = s.cycle;
        stop = attention_;
        slow_code_[kCentre] = Program::decode_plain(opcode, low, high);
        if ((opcode & 0x1F) == 0x10) {
            const unsigned next = pc + 2;
            slow_code_[kCentre].arg =
                static_cast<uint16_t>(low | (((next + static_cast<int8_t>(low)) ^ next) & 0xFF00 ? 0x100 : 0));
        }
        page_ip = ip = slow_code_ + kCentre;
        page_pc = pc;
        slow_next = (pc + length) & 0xFFFF;
        DISPATCH();
    }

    // --- waiting loops ---
do_idle_jump:
    cyc += 3;
    if (op.arg == PC()) {
        if (cyc < stop) cyc += (stop - cyc + 2) / 3 * 3;
    } else {
        ENTER(op.arg);
    }
    NEXT();
do_idle_poll:
    {
        const IdlePoll &poll = program_.poll(op.arg);
        s.cycle = cyc;
        cyc += idle_turns(poll, cyc, static_cast<uint8_t>(A), static_cast<uint8_t>(X), static_cast<uint8_t>(Y), C, V) *
               poll.period;
        stop = attention_;
        op = poll.load;
        goto *handlers[op.fn];
    }

    // --- reads ---
    READ_ALU(lda, LDA)
    READ_ALU(ora, ORA)
    READ_ALU(and, AND)
    READ_ALU(eor, EOR)
    READ_ALU(adc, ADC)
    READ_ALU(sbc, SBC)
    READ_ALU(cmp, CMP)
    READ_IMM(ldx, LDX)
    READ_ZP(ldx, LDX)
    READ_ZPI(ldx, zpy, ZPY, LDX)
    READ_ABS(ldx, LDX)
    READ_ABI(ldx, aby, Y, LDX)
    READ_RAM(ldx, LDX)
    READ_RMI(ldx, rmy, Y, LDX)
    READ_ROI(ldx, roy, Y, LDX)
    READ_IMM(ldy, LDY)
    READ_ZP(ldy, LDY)
    READ_ZPI(ldy, zpx, ZPX, LDY)
    READ_ABS(ldy, LDY)
    READ_ABI(ldy, abx, X, LDY)
    READ_RAM(ldy, LDY)
    READ_RMI(ldy, rmx, X, LDY)
    READ_ROI(ldy, rox, X, LDY)
    READ_ZP(lax, LAX)
    READ_ZPI(lax, zpy, ZPY, LAX)
    READ_ABS(lax, LAX)
    READ_ABI(lax, aby, Y, LAX)
    READ_IZX(lax, LAX)
    READ_IZY(lax, LAX)
    READ_IMM(cpx, CPX)
    READ_ZP(cpx, CPX)
    READ_ABS(cpx, CPX)
    READ_RAM(cpx, CPX)
    READ_IMM(cpy, CPY)
    READ_ZP(cpy, CPY)
    READ_ABS(cpy, CPY)
    READ_RAM(cpy, CPY)
    READ_ZP(bit, BIT)
    READ_ABS(bit, BIT)
    READ_RAM(bit, BIT)
    READ_IMM(nop, IGNORE)
    READ_ZP(nop, IGNORE)
    READ_ZPI(nop, zpx, ZPX, IGNORE)
    READ_ABS(nop, IGNORE)
    READ_ABI(nop, abx, X, IGNORE)

    // --- writes ---
    STORE_ZP(sta, A)
    STORE_ZPI(sta, zpx, ZPX, A)
    STORE_ABS(sta, A)
    STORE_ABI(sta, abx, X, A)
    STORE_ABI(sta, aby, Y, A)
    STORE_IZX(sta, A)
do_sta_izy:
    {
        ip += 2, cyc += 6;
        const unsigned address = INDEXED_WRITE(POINTER(op.arg), Y, 1);
        WRITE(address, A);
        NEXT();
    }
    STORE_RAM(sta, A)
    STORE_RMI(sta, rmx, X, A)
    STORE_RMI(sta, rmy, Y, A)
    STORE_ZP(stx, X)
    STORE_ZPI(stx, zpy, ZPY, X)
    STORE_ABS(stx, X)
    STORE_RAM(stx, X)
    STORE_ZP(sty, Y)
    STORE_ZPI(sty, zpx, ZPX, Y)
    STORE_ABS(sty, Y)
    STORE_RAM(sty, Y)
    STORE_ZP(sax, (A & X))
    STORE_ZPI(sax, zpy, ZPY, (A & X))
    STORE_ABS(sax, (A & X))
    STORE_IZX(sax, (A & X))

do_sha_izy:
    ip += 2, cyc += 6;
    STORE_HIGH(POINTER(op.arg), Y, A & X);
    NEXT();
do_sha_aby:
    ip += 3, cyc += 5;
    STORE_HIGH(op.arg, Y, A & X);
    NEXT();
do_shx_aby:
    ip += 3, cyc += 5;
    STORE_HIGH(op.arg, Y, X);
    NEXT();
do_shy_abx:
    ip += 3, cyc += 5;
    STORE_HIGH(op.arg, X, Y);
    NEXT();
do_tas_aby:
    ip += 3, cyc += 5;
    S = A & X;
    STORE_HIGH(op.arg, Y, S);
    NEXT();
do_las_aby:
    {
        ip += 3, cyc += 4;
        const unsigned address = INDEXED_READ(op.arg, Y);
        A = X = S = S & READ(address);
        SET_NZ(A);
        NEXT();
    }

    // --- read, modify, write ---
    SHIFT(asl, ASL)
    SHIFT(lsr, LSR)
    SHIFT(rol, ROL)
    SHIFT(ror, ROR)
    STEP(inc, INC)
    STEP(dec, DEC)
    COMBINED(slo, SLO)
    COMBINED(rla, RLA)
    COMBINED(sre, SRE)
    COMBINED(rra, RRA)
    COMBINED(dcp, DCP)
    COMBINED(isc, ISC)

    // --- unofficial immediates ---
do_anc_imm:
    ip += 2, cyc += 2;
    AND(op.arg & 0xFFu);
    C = A >> 7;
    NEXT();
do_alr_imm:
    ip += 2, cyc += 2;
    A &= op.arg;
    LSR(A);
    NEXT();
do_arr_imm:
    ip += 2, cyc += 2;
    A = (A & op.arg & 0xFF) >> 1 | C << 7;
    SET_NZ(A);
    C = A >> 6 & 1;
    V = (A >> 6 ^ A >> 5) & 1;
    NEXT();
do_sbx_imm:
    {
        ip += 2, cyc += 2;
        const unsigned both = A & X, m = op.arg & 0xFF;
        C = both >= m;
        X = (both - m) & 0xFF;
        SET_NZ(X);
        NEXT();
    }
do_ane_imm:
    ip += 2, cyc += 2;
    A = (A | 0xEE) & X & op.arg & 0xFF;
    SET_NZ(A);
    NEXT();
do_lxa_imm:
    ip += 2, cyc += 2;
    LAX(op.arg & 0xFFu);
    NEXT();

    // --- registers and flags ---
#define IMPLIED(name, BODY) \
    do_##name : {           \
        ip += 1, cyc += 2;  \
        BODY;               \
        NEXT();             \
    }
    IMPLIED(nop_imp, )
    IMPLIED(tax, (X = A, SET_NZ(X)))
    IMPLIED(tay, (Y = A, SET_NZ(Y)))
    IMPLIED(txa, (A = X, SET_NZ(A)))
    IMPLIED(tya, (A = Y, SET_NZ(A)))
    IMPLIED(tsx, (X = S, SET_NZ(X)))
    IMPLIED(txs, S = X)
    IMPLIED(inx, (X = (X + 1) & 0xFF, SET_NZ(X)))
    IMPLIED(iny, (Y = (Y + 1) & 0xFF, SET_NZ(Y)))
    IMPLIED(dex, (X = (X - 1) & 0xFF, SET_NZ(X)))
    IMPLIED(dey, (Y = (Y - 1) & 0xFF, SET_NZ(Y)))
    IMPLIED(clc, C = 0)
    IMPLIED(sec, C = 1)
    IMPLIED(clv, V = 0)
    IMPLIED(cld, s.p &= ~kD)
    IMPLIED(sed, s.p |= kD)
do_cli:
    ip += 1, cyc += 2;
    old_i = (s.p & kI) != 0;
    s.p &= ~kI;
    goto event;
do_sei:
    ip += 1, cyc += 2;
    old_i = (s.p & kI) != 0;
    s.p |= kI;
    goto event;
do_pha:
    ip += 1, cyc += 3;
    PUSH(A);
    NEXT();
do_php:
    ip += 1, cyc += 3;
    PUSH(STATUS() | kB);
    NEXT();
do_pla:
    ip += 1, cyc += 4;
    A = POP();
    SET_NZ(A);
    NEXT();
do_plp:
    {
        ip += 1, cyc += 4;
        old_i = (s.p & kI) != 0;
        const unsigned p = POP();
        SET_STATUS(p);
        goto event;
    }

    // --- control flow ---
#define BRANCH(name, CONDITION) \
    do_##name : {               \
        RUN_BRANCH(CONDITION);  \
    }
    BRANCH(bpl, IF_bpl)
    BRANCH(bmi, IF_bmi)
    BRANCH(bvc, IF_bvc)
    BRANCH(bvs, IF_bvs)
    BRANCH(bcc, IF_bcc)
    BRANCH(bcs, IF_bcs)
    BRANCH(bne, IF_bne)
    BRANCH(beq, IF_beq)
do_jmp_abs:
    cyc += 3;
    ENTER(op.arg);
    NEXT();
do_jmp_ind:
    {
        cyc += 5;
        const unsigned pointer = op.arg;
        bus = pointer >> 8;
        const unsigned low = READ_BACK(pointer, 1);
        const unsigned high = READ((pointer & 0xFF00) | ((pointer + 1) & 0xFF));
        ENTER(low | high << 8);
        NEXT();
    }
do_jsr:
    {
        cyc += 6;
        const unsigned back = PC() + 2;
        PUSH(back >> 8 & 0xFF);
        PUSH(back & 0xFF);
        unsigned target = op.arg;
        // Code in the stack page: the high byte is fetched after the pushes, and may have been overwritten by them.
        if (__builtin_expect(page_ip == slow_code_ + kCentre && (back & 0xFF00) == 0x0100, 0)) {
            target = (target & 0xFF) | ram[back & 0x7FF] << 8;
        }
        ENTER(target);
        NEXT();
    }
do_rts:
    {
        cyc += 6;
        const unsigned low = POP();
        const unsigned high = POP();
        ENTER((low | high << 8) + 1);
        NEXT();
    }
do_rti:
    {
        cyc += 6;
        const unsigned p = POP();
        SET_STATUS(p);
        const unsigned low = POP();
        const unsigned high = POP();
        ENTER(low | high << 8);
        goto event;  // the I flag may have changed
    }
do_brk:
    {
        cyc += 7;
        const unsigned back = PC() + 2;
        PUSH(back >> 8 & 0xFF);
        PUSH(back & 0xFF);
        s.cycle = cyc;
        if (3 * (cyc - 3) >= ppu_event_tick()) ppu_sync(3 * (cyc - 3));
        unsigned vector = 0xFFFE;
        if (s.nmi_edge <= cyc - 4) {
            vector = 0xFFFA;
            s.nmi_edge = kNever;
        }
        PUSH(STATUS() | kB);
        s.p |= kI;
        ENTER(PRG(vector) | PRG(vector + 1) << 8);
        no_nmi = true;
        goto event;
    }
    // --- frequent pairs: the first, a look at the clock, and the second without another dispatch ---
#define FUSE_BRANCH(first, branch) \
    do_##first##_##branch : {      \
        RUN_##first;               \
        BETWEEN();                 \
        RUN_BRANCH(IF_##branch);   \
    }
#define FUSE_PLAIN(first, second) \
    do_##first##_##second : {     \
        RUN_##first;              \
        BETWEEN();                \
        RUN_##second;             \
        NEXT();                   \
    }
#define FUSE_BRANCHES(first) NES_FUSE_BRANCH(FUSE_BRANCH, first)
#define FUSE_STORES(first) NES_FUSE_STORE(FUSE_PLAIN, first)
    FUSE_BRANCHES(lda_zp)
    FUSE_BRANCHES(lda_zpx)
    FUSE_BRANCHES(lda_ram)
    FUSE_BRANCHES(lda_rmx)
    FUSE_BRANCHES(ldy_zp)
    FUSE_BRANCHES(ldy_ram)
    FUSE_BRANCHES(cmp_imm)
    FUSE_BRANCHES(cmp_zp)
    FUSE_BRANCHES(cpx_imm)
    FUSE_BRANCHES(cpy_imm)
    FUSE_BRANCHES(and_imm)
    FUSE_BRANCHES(dex)
    FUSE_BRANCHES(dey)
    FUSE_BRANCHES(inx)
    FUSE_BRANCHES(iny)
    FUSE_BRANCHES(lsr_acc)
    FUSE_STORES(lda_imm)
    FUSE_STORES(lda_zp)
    FUSE_STORES(lda_ram)
    FUSE_STORES(lda_rox)
    FUSE_STORES(lda_roy)
    FUSE_STORES(lda_rmx)
    FUSE_STORES(adc_imm)
    FUSE_STORES(sbc_imm)
    NES_FUSE_OTHER(FUSE_PLAIN)

do_jam:
    // The CPU is stuck until power or reset; time goes on.
    cyc = cyc + 1 > stop ? cyc + 1 : stop;
    jammed = true;
    goto event;
}

}  // namespace nes
