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

namespace nes {
namespace {

constexpr unsigned kC = 0x01, kZ = 0x02, kI = 0x04, kD = 0x08, kB = 0x10, kU = 0x20, kV = 0x40, kN = 0x80;
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

bool Console::poll_would_loop(const IdlePoll &poll, uint8_t value, uint8_t a, uint8_t x, uint8_t y, unsigned c,
                              unsigned v) const {
    unsigned n = value >> 7;
    bool z = value == 0;
    switch (poll.load_op) {
        case 0xAD: a = value; break;
        case 0xAE: x = value; break;
        case 0xAC: y = value; break;
        default:  // BIT
            z = (a & value) == 0;
            v = value >> 6 & 1;
            break;
    }
    auto compare = [&](uint8_t reg, uint8_t with) {
        c = reg >= with;
        z = reg == with;
        n = static_cast<uint8_t>(reg - with) >> 7;
    };
    switch (poll.test_op) {
        case 0x29:
            a &= poll.test_arg;
            z = a == 0;
            n = a >> 7;
            break;
        case 0xC9: compare(a, poll.test_arg); break;
        case 0xC5: compare(a, s.ram[poll.test_arg]); break;
        case 0xE0: compare(x, poll.test_arg); break;
        case 0xC0: compare(y, poll.test_arg); break;
        default: break;
    }
    const bool flag = poll.branch_op < 0x40 ? n : poll.branch_op < 0x80 ? v : poll.branch_op < 0xC0 ? c : z;
    return flag == ((poll.branch_op >> 5 & 1) != 0);
}

// How many whole turns of a waiting loop can be skipped without anything noticing.
uint64_t Console::idle_turns(const IdlePoll &poll, uint64_t cycle, uint8_t a, uint8_t x, uint8_t y, unsigned c,
                             unsigned v) {
    uint64_t until = attention_;
    uint8_t value;
    if (poll.address == 0x2002) {
        ppu_sync(3 * cycle);
        if (s.vblank) return 0;  // the first read clears it
        value = static_cast<uint8_t>(s.overflow << 5 | s.sprite0_hit << 6 | (decayed_latch() & 0x1F));
        // Stay clear of the change itself, where one tick decides what a read sees.
        const uint64_t change = next_status_change() / 3;
        if (change < cycle + 12) return 0;
        if (change - 12 < until) until = change - 12;
    } else {
        value = s.ram[poll.address];
    }
    if (until <= cycle + poll.period || !poll_would_loop(poll, value, a, x, y, c, v)) return 0;
    return (until - 1 - cycle) / poll.period;
}

// Registers live in locals for speed; `ip` walks decoded code, and pc = page_pc + (ip - page_ip).
#define PC() (static_cast<unsigned>(page_pc + (ip - page_ip)) & 0xFFFF)
#define ENTER(address)                                   \
    do {                                                 \
        const unsigned target_ = (address)&0xFFFF;       \
        if (target_ & 0x8000) {                          \
            page_ip = ops_[target_ >> 13 & 3];           \
            page_pc = target_ & 0xE000;                  \
            ip = page_ip + (target_ & 0x1FFF);           \
        } else {                                         \
            page_ip = slow_code_;                        \
            page_pc = target_;                           \
            ip = page_ip;                                \
        }                                                \
    } while (0)
#define DISPATCH()               \
    do {                         \
        op = *ip;                \
        goto *handlers[op.fn];   \
    } while (0)
#define NEXT()                                              \
    do {                                                    \
        if (__builtin_expect(cyc >= stop, 0)) goto event;   \
        DISPATCH();                                         \
    } while (0)

#define PRG(a) prg_[(a) >> 13 & 3][(a)&0x1FFF]
#define IS_IO(a) ((a)-0x2000u < 0x6000u)
#define STACK(offset) ram[0x100 | static_cast<uint8_t>(S + (offset))]
#define PUSH(value) (STACK(0) = static_cast<uint8_t>(value), S = (S - 1) & 0xFF)
#define POP() (S = (S + 1) & 0xFF, ram[0x100 | S])
#define SET_NZ(value) (NZ = (value))
#define FLAG_N (NZ & 0x8080)
#define FLAG_Z ((NZ & 0xFF) == 0)
#define STATUS() (C | (FLAG_Z ? kZ : 0) | (s.p & (kI | kD)) | (V ? kV : 0) | (FLAG_N ? kN : 0) | kU)
#define SET_STATUS(value)                                                            \
    do {                                                                             \
        const unsigned p_ = (value);                                                 \
        C = p_ & kC;                                                                 \
        V = p_ >> 6 & 1;                                                             \
        NZ = (p_ & kZ ? 0 : 1) | (p_ & kN) << 8;                                     \
        s.p = static_cast<uint8_t>((s.p & ~(kI | kD)) | (p_ & (kI | kD)));           \
    } while (0)

// A bus access outside RAM and PRG ROM, `back` cycles before the instruction's last; `bus` is what was fetched before.
#define SLOW_READ(address, back)                                                       \
    (s.cycle = cyc, s.open_bus = static_cast<uint8_t>(bus),                            \
     slow_value = bus_read(static_cast<uint16_t>(address), cyc - 1 - (back)),          \
     cyc = s.cycle, stop = attention_, bus = slow_value, slow_value)
#define READ_BACK(address, back)                            \
    ({                                                      \
        const unsigned a_ = (address);                      \
        unsigned v_;                                        \
        if (a_ < 0x2000) {                                  \
            v_ = ram[a_ & 0x7FF];                           \
        } else if (a_ >= 0x8000) {                          \
            v_ = PRG(a_);                                   \
        } else {                                            \
            v_ = SLOW_READ(a_, back);                       \
        }                                                   \
        v_;                                                 \
    })
#define READ(address) READ_BACK(address, 0)
#define WRITE_BACK(address, value, back)                                                              \
    do {                                                                                              \
        const unsigned a_ = (address);                                                                \
        if (a_ < 0x2000) {                                                                            \
            ram[a_ & 0x7FF] = static_cast<uint8_t>(value);                                            \
        } else {                                                                                      \
            s.cycle = cyc;                                                                            \
            bus_write(static_cast<uint16_t>(a_), static_cast<uint8_t>(value), cyc - 1 - (back));      \
            cyc = s.cycle;                                                                            \
            stop = attention_;                                                                        \
            if (remapped_) {                                                                          \
                remapped_ = false;                                                                    \
                const unsigned pc_ = PC();                                                            \
                if (pc_ & 0x8000) ENTER(pc_);                                                         \
            }                                                                                         \
        }                                                                                             \
    } while (0)
#define WRITE(address, value) WRITE_BACK(address, value, 0)

// Effective addresses. `bus` becomes the last byte fetched, for open bus.
#define ZPX ((op.arg + X) & 0xFF)
#define ZPY ((op.arg + Y) & 0xFF)
#define POINTER(zp) (ram[(zp)&0xFF] | ram[((zp) + 1) & 0xFF] << 8)
// Indexed read: one cycle more, and a dummy read at the unfixed address, when the page is crossed.
#define INDEXED_READ(base, index)                                                     \
    ({                                                                                \
        const unsigned b_ = (base), e_ = (b_ + (index)) & 0xFFFF;                     \
        bus = b_ >> 8;                                                                \
        if ((b_ ^ e_) & 0xFF00) {                                                     \
            ++cyc;                                                                    \
            const unsigned d_ = (b_ & 0xFF00) | (e_ & 0xFF);                          \
            if (IS_IO(d_)) (void)SLOW_READ(d_, 1);                                    \
        }                                                                             \
        e_;                                                                           \
    })
// Indexed write or read-modify-write: the dummy read always happens, `back` cycles before the last.
#define INDEXED_WRITE(base, index, back)                                              \
    ({                                                                                \
        const unsigned b_ = (base), e_ = (b_ + (index)) & 0xFFFF;                     \
        bus = b_ >> 8;                                                                \
        const unsigned d_ = (b_ & 0xFF00) | (e_ & 0xFF);                              \
        if (IS_IO(d_)) (void)SLOW_READ(d_, back);                                     \
        e_;                                                                           \
    })
#define CROSSED(base, index) ((((base)&0xFF) + (index)) >> 8)

void Console::run() {
    static const void *const handlers[] = {
#define X(name) &&do_##name,
        NES_FUNCTIONS(X)
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
event : {
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
do_resync : {
    const unsigned pc = PC();
    if (pc & 0x8000) {
        ENTER(pc);
        DISPATCH();
    }
}
do_edge : {
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
do_idle_poll : {
    const IdlePoll &poll = program_.poll(op.arg);
    s.cycle = cyc;
    cyc += idle_turns(poll, cyc, static_cast<uint8_t>(A), static_cast<uint8_t>(X), static_cast<uint8_t>(Y), C, V) *
           poll.period;
    stop = attention_;
    op = poll.load;
    goto *handlers[op.fn];
}

    // --- reads ---
#define LDA(m) (A = (m), SET_NZ(A))
#define LDX(m) (X = (m), SET_NZ(X))
#define LDY(m) (Y = (m), SET_NZ(Y))
#define LAX(m) (A = X = (m), SET_NZ(A))
#define ORA(m) (A |= (m), SET_NZ(A))
#define AND(m) (A &= (m), SET_NZ(A))
#define EOR(m) (A ^= (m), SET_NZ(A))
#define ADC(m)                                          \
    do {                                                \
        const unsigned m_ = (m), r_ = A + m_ + C;       \
        V = (~(A ^ m_) & (A ^ r_)) >> 7 & 1;            \
        C = r_ >> 8;                                    \
        A = r_ & 0xFF;                                  \
        SET_NZ(A);                                      \
    } while (0)
#define SBC(m) ADC((m) ^ 0xFFu)
#define COMPARE(reg, m)                             \
    do {                                            \
        const unsigned m_ = (m);                    \
        C = (reg) >= m_;                            \
        SET_NZ(((reg)-m_) & 0xFF);                  \
    } while (0)
#define CMP(m) COMPARE(A, m)
#define CPX(m) COMPARE(X, m)
#define CPY(m) COMPARE(Y, m)
#define BIT(m)                                              \
    do {                                                    \
        const unsigned m_ = (m);                            \
        V = m_ >> 6 & 1;                                    \
        NZ = (A & m_) | (m_ & 0x80) << 8;                   \
    } while (0)
#define IGNORE(m) (void)(m)

#define READ_IMM(name, OP)    \
    do_##name##_imm : {       \
        ip += 2, cyc += 2;    \
        OP(op.arg & 0xFFu);   \
        NEXT();               \
    }
#define READ_ZP(name, OP)         \
    do_##name##_zp : {            \
        ip += 2, cyc += 3;        \
        OP(ram[op.arg & 0xFF]);   \
        NEXT();                   \
    }
#define READ_ZPI(name, mode, INDEX, OP)   \
    do_##name##_##mode : {                \
        ip += 2, cyc += 4;                \
        OP(ram[INDEX]);                   \
        NEXT();                           \
    }
#define READ_ABS(name, OP)      \
    do_##name##_abs : {         \
        ip += 3, cyc += 4;      \
        bus = op.arg >> 8;      \
        OP(READ(op.arg));       \
        NEXT();                 \
    }
#define READ_ABI(name, mode, INDEX, OP)                          \
    do_##name##_##mode : {                                       \
        ip += 3, cyc += 4;                                       \
        const unsigned address = INDEXED_READ(op.arg, INDEX);    \
        OP(READ(address));                                       \
        NEXT();                                                  \
    }
#define READ_IZX(name, OP)                        \
    do_##name##_izx : {                           \
        ip += 2, cyc += 6;                        \
        const unsigned address = POINTER(ZPX);    \
        bus = address >> 8;                       \
        OP(READ(address));                        \
        NEXT();                                   \
    }
#define READ_IZY(name, OP)                                               \
    do_##name##_izy : {                                                  \
        ip += 2, cyc += 5;                                               \
        const unsigned address = INDEXED_READ(POINTER(op.arg), Y);       \
        OP(READ(address));                                               \
        NEXT();                                                          \
    }
#define READ_RAM(name, OP)          \
    do_##name##_ram : {             \
        ip += 3, cyc += 4;          \
        OP(ram[op.arg & 0x7FF]);    \
        NEXT();                     \
    }
#define READ_RMI(name, mode, INDEX, OP)               \
    do_##name##_##mode : {                            \
        ip += 3, cyc += 4 + CROSSED(op.arg, INDEX);   \
        OP(ram[(op.arg + INDEX) & 0x7FF]);            \
        NEXT();                                       \
    }
#define READ_ROI(name, mode, INDEX, OP)               \
    do_##name##_##mode : {                            \
        ip += 3, cyc += 4 + CROSSED(op.arg, INDEX);   \
        const unsigned address = op.arg + INDEX;      \
        OP(PRG(address));                             \
        NEXT();                                       \
    }
#define READ_ALU(name, OP)                                                                                        \
    READ_IMM(name, OP) READ_ZP(name, OP) READ_ZPI(name, zpx, ZPX, OP) READ_ABS(name, OP)                          \
    READ_ABI(name, abx, X, OP) READ_ABI(name, aby, Y, OP) READ_IZX(name, OP) READ_IZY(name, OP)                   \
    READ_RAM(name, OP) READ_RMI(name, rmx, X, OP) READ_RMI(name, rmy, Y, OP)                                      \
    READ_ROI(name, rox, X, OP) READ_ROI(name, roy, Y, OP)

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
#define STORE_ZP(name, VALUE)                               \
    do_##name##_zp : {                                      \
        ip += 2, cyc += 3;                                  \
        ram[op.arg & 0xFF] = static_cast<uint8_t>(VALUE);   \
        NEXT();                                             \
    }
#define STORE_ZPI(name, mode, INDEX, VALUE)             \
    do_##name##_##mode : {                              \
        ip += 2, cyc += 4;                              \
        ram[INDEX] = static_cast<uint8_t>(VALUE);       \
        NEXT();                                         \
    }
#define STORE_ABS(name, VALUE)      \
    do_##name##_abs : {             \
        ip += 3, cyc += 4;          \
        WRITE(op.arg, VALUE);       \
        NEXT();                     \
    }
#define STORE_RAM(name, VALUE)                               \
    do_##name##_ram : {                                      \
        ip += 3, cyc += 4;                                   \
        ram[op.arg & 0x7FF] = static_cast<uint8_t>(VALUE);   \
        NEXT();                                              \
    }
#define STORE_IZX(name, VALUE)                    \
    do_##name##_izx : {                           \
        ip += 2, cyc += 6;                        \
        const unsigned address = POINTER(ZPX);    \
        WRITE(address, VALUE);                    \
        NEXT();                                   \
    }
#define STORE_ABI(name, mode, INDEX, VALUE)                             \
    do_##name##_##mode : {                                              \
        ip += 3, cyc += 5;                                              \
        const unsigned address = INDEXED_WRITE(op.arg, INDEX, 1);       \
        WRITE(address, VALUE);                                          \
        NEXT();                                                         \
    }
#define STORE_RMI(name, mode, INDEX, VALUE)                              \
    do_##name##_##mode : {                                               \
        ip += 3, cyc += 5;                                               \
        ram[(op.arg + INDEX) & 0x7FF] = static_cast<uint8_t>(VALUE);     \
        NEXT();                                                          \
    }
    STORE_ZP(sta, A)
    STORE_ZPI(sta, zpx, ZPX, A)
    STORE_ABS(sta, A)
    STORE_ABI(sta, abx, X, A)
    STORE_ABI(sta, aby, Y, A)
    STORE_IZX(sta, A)
do_sta_izy : {
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
    STORE_ZPI(sax, zpy, ZPY, (A &X))
    STORE_ABS(sax, (A & X))
    STORE_IZX(sax, (A & X))

    // SHA, SHX, SHY, TAS store `value & (high byte of the base + 1)`; when the page is crossed, that is also the high
    // byte of where it goes.
#define STORE_HIGH(base_, index_, value_)                                                              \
    do {                                                                                               \
        const unsigned base = (base_);                                                                 \
        unsigned address = INDEXED_WRITE(base, index_, 1);                                             \
        const unsigned value = (value_) & ((base >> 8) + 1) & 0xFF;                                    \
        if ((base ^ address) & 0xFF00) address = (address & 0xFF) | value << 8;                        \
        WRITE(address, value);                                                                         \
    } while (0)
do_sha_izy:
    ip += 2, cyc += 6;
    STORE_HIGH(POINTER(op.arg), Y, A &X);
    NEXT();
do_sha_aby:
    ip += 3, cyc += 5;
    STORE_HIGH(op.arg, Y, A &X);
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
do_las_aby : {
    ip += 3, cyc += 4;
    const unsigned address = INDEXED_READ(op.arg, Y);
    A = X = S = S & READ(address);
    SET_NZ(A);
    NEXT();
}

    // --- read, modify, write: the old value is written back one cycle before the new one ---
#define ASL(m) (C = (m) >> 7, (m) = (m) << 1 & 0xFF, SET_NZ(m))
#define LSR(m) (C = (m)&1, (m) >>= 1, SET_NZ(m))
#define ROL(m)                                  \
    do {                                        \
        const unsigned r_ = (m) << 1 | C;       \
        C = r_ >> 8;                            \
        (m) = r_ & 0xFF;                        \
        SET_NZ(m);                              \
    } while (0)
#define ROR(m)                                  \
    do {                                        \
        const unsigned r_ = (m) >> 1 | C << 7;  \
        C = (m)&1;                              \
        (m) = r_;                               \
        SET_NZ(m);                              \
    } while (0)
#define INC(m) ((m) = ((m) + 1) & 0xFF, SET_NZ(m))
#define DEC(m) ((m) = ((m)-1) & 0xFF, SET_NZ(m))
#define SLO(m)      \
    do {            \
        ASL(m);     \
        ORA(m);     \
    } while (0)
#define RLA(m)      \
    do {            \
        ROL(m);     \
        AND(m);     \
    } while (0)
#define SRE(m)      \
    do {            \
        LSR(m);     \
        EOR(m);     \
    } while (0)
#define RRA(m)      \
    do {            \
        ROR(m);     \
        ADC(m);     \
    } while (0)
#define DCP(m)                      \
    do {                            \
        (m) = ((m)-1) & 0xFF;       \
        COMPARE(A, m);              \
    } while (0)
#define ISC(m)                      \
    do {                            \
        (m) = ((m) + 1) & 0xFF;     \
        SBC(m);                     \
    } while (0)

#define MODIFY_RAM(cell, OP)                    \
    do {                                        \
        uint8_t &cell_ = ram[cell];             \
        unsigned m = cell_;                     \
        OP(m);                                  \
        cell_ = static_cast<uint8_t>(m);        \
    } while (0)
#define MODIFY(address_, OP)                    \
    do {                                        \
        const unsigned at = (address_);         \
        unsigned m = READ_BACK(at, 2);          \
        if (at >= 0x2000) WRITE_BACK(at, m, 1); \
        OP(m);                                  \
        WRITE(at, m);                           \
    } while (0)
#define MODIFY_ZP(name, OP)                 \
    do_##name##_zp : {                      \
        ip += 2, cyc += 5;                  \
        MODIFY_RAM(op.arg & 0xFF, OP);      \
        NEXT();                             \
    }                                       \
    do_##name##_zpx : {                     \
        ip += 2, cyc += 6;                  \
        MODIFY_RAM(ZPX, OP);                \
        NEXT();                             \
    }
#define MODIFY_ABS(name, OP)                                            \
    do_##name##_abs : {                                                 \
        ip += 3, cyc += 6;                                              \
        bus = op.arg >> 8;                                              \
        MODIFY(op.arg, OP);                                             \
        NEXT();                                                         \
    }                                                                   \
    do_##name##_abx : {                                                 \
        ip += 3, cyc += 7;                                              \
        const unsigned address = INDEXED_WRITE(op.arg, X, 3);           \
        MODIFY(address, OP);                                            \
        NEXT();                                                         \
    }
#define MODIFY_SHORT(name, OP)                      \
    do_##name##_ram : {                             \
        ip += 3, cyc += 6;                          \
        MODIFY_RAM(op.arg & 0x7FF, OP);             \
        NEXT();                                     \
    }                                               \
    do_##name##_rmx : {                             \
        ip += 3, cyc += 7;                          \
        MODIFY_RAM((op.arg + X) & 0x7FF, OP);       \
        NEXT();                                     \
    }
#define MODIFY_ACC(name, OP)    \
    do_##name##_acc : {         \
        ip += 1, cyc += 2;      \
        OP(A);                  \
        NEXT();                 \
    }
#define MODIFY_MORE(name, OP)                                               \
    do_##name##_aby : {                                                     \
        ip += 3, cyc += 7;                                                  \
        const unsigned address = INDEXED_WRITE(op.arg, Y, 3);               \
        MODIFY(address, OP);                                                \
        NEXT();                                                             \
    }                                                                       \
    do_##name##_izx : {                                                     \
        ip += 2, cyc += 8;                                                  \
        const unsigned address = POINTER(ZPX);                              \
        bus = address >> 8;                                                 \
        MODIFY(address, OP);                                                \
        NEXT();                                                             \
    }                                                                       \
    do_##name##_izy : {                                                     \
        ip += 2, cyc += 8;                                                  \
        const unsigned address = INDEXED_WRITE(POINTER(op.arg), Y, 3);      \
        MODIFY(address, OP);                                                \
        NEXT();                                                             \
    }
#define SHIFT(name, OP) MODIFY_ACC(name, OP) MODIFY_ZP(name, OP) MODIFY_ABS(name, OP) MODIFY_SHORT(name, OP)
#define STEP(name, OP) MODIFY_ZP(name, OP) MODIFY_ABS(name, OP) MODIFY_SHORT(name, OP)
#define COMBINED(name, OP) MODIFY_ZP(name, OP) MODIFY_ABS(name, OP) MODIFY_MORE(name, OP)
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
do_sbx_imm : {
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
#define IMPLIED(name, BODY)     \
    do_##name : {               \
        ip += 1, cyc += 2;      \
        BODY;                   \
        NEXT();                 \
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
do_plp : {
    ip += 1, cyc += 4;
    old_i = (s.p & kI) != 0;
    const unsigned p = POP();
    SET_STATUS(p);
    goto event;
}

    // --- control flow ---
    // The decoder left "crosses a page" in bit 8 of the operand.
#define BRANCH(name, CONDITION)                                                 \
    do_##name : {                                                               \
        ip += 2, cyc += 2;                                                      \
        if (CONDITION) {                                                        \
            ip += static_cast<int8_t>(op.arg);                                  \
            cyc += 1 + (op.arg >> 8);                                           \
            if (__builtin_expect(cyc >= stop, 0)) {                             \
                if (op.arg >> 8) goto event;                                    \
                goto event_branch;                                              \
            }                                                                   \
            DISPATCH();                                                         \
        }                                                                       \
        NEXT();                                                                 \
    }
    BRANCH(bpl, !FLAG_N)
    BRANCH(bmi, FLAG_N)
    BRANCH(bvc, !V)
    BRANCH(bvs, V)
    BRANCH(bcc, !C)
    BRANCH(bcs, C)
    BRANCH(bne, !FLAG_Z)
    BRANCH(beq, FLAG_Z)
do_jmp_abs:
    cyc += 3;
    ENTER(op.arg);
    NEXT();
do_jmp_ind : {
    cyc += 5;
    const unsigned pointer = op.arg;
    bus = pointer >> 8;
    const unsigned low = READ_BACK(pointer, 1);
    const unsigned high = READ((pointer & 0xFF00) | ((pointer + 1) & 0xFF));
    ENTER(low | high << 8);
    NEXT();
}
do_jsr : {
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
do_rts : {
    cyc += 6;
    const unsigned low = POP();
    const unsigned high = POP();
    ENTER((low | high << 8) + 1);
    NEXT();
}
do_rti : {
    cyc += 6;
    const unsigned p = POP();
    SET_STATUS(p);
    const unsigned low = POP();
    const unsigned high = POP();
    ENTER(low | high << 8);
    goto event;  // the I flag may have changed
}
do_brk : {
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
do_jam:
    // The CPU is stuck until power or reset; time goes on.
    cyc = cyc + 1 > stop ? cyc + 1 : stop;
    jammed = true;
    goto event;
}

// OAM DMA of a page: one or two idle cycles, then 256 reads and writes to $2004. Returns the cycle after it.
uint64_t Console::run_dma(uint64_t cycle) {
    s.dma_pending = 0;
    const uint64_t start = cycle + ((cycle + s.parity) & 1 ? 1 : 2);
    uint64_t n = start;
    const uint16_t page = static_cast<uint16_t>(s.dma_page << 8);
    const uint64_t end = start + 512;
    const uint64_t fetch = s.dmc_remaining ? dmc_fetch_cycle() : kNever;
    const bool plain_source = page < 0x2000 || page >= 0x8000;
    ppu_sync(3 * cycle);
    // The common case: in vblank or with rendering off nothing sees the bytes go by.
    const bool quiet = !s.rendering || (s.dot > kLastVisibleDot &&
                                        s.frame_tick0 + kPreRenderDot > 3 * end);
    if (plain_source && quiet && fetch >= end) {
        line_counts_valid_ = false;
        const uint8_t *source = page < 0x2000 ? s.ram + (page & 0x700) : &prg_[page >> 13 & 3][page & 0x1FFF];
        for (int i = 0; i < 256; ++i) {
            const uint8_t to = static_cast<uint8_t>(s.oam_address + i);
            s.oam[to] = (to & 3) == 2 ? source[i] & 0xE3 : source[i];
        }
        s.cycle = end;
        refresh_latch(source[255], 7);
        s.open_bus = source[255];
        return end;
    }
    // Exact: byte by byte, with a DMC fetch in between where it falls (it takes 2 cycles, near the end 1 or 3).
    uint64_t due = fetch;
    auto stall_before = [&](uint64_t cycle_of_access, int cost) {
        if (due <= cycle_of_access) {
            s.cycle = n;
            dmc_take_byte(due, cost);
            n += static_cast<uint64_t>(cost);
            due = s.dmc_remaining ? dmc_fetch_cycle() : kNever;
        }
    };
    n = cycle;
    for (uint64_t idle = start - cycle; idle > 0; --idle) {
        stall_before(n, 2);
        ++n;
    }
    for (int i = 0; i < 256; ++i) {
        stall_before(n, 2);
        s.cycle = n;
        const uint8_t value = read_any(static_cast<uint16_t>(page + i), n);
        ++n;
        stall_before(n, i == 254 ? 1 : i == 255 ? 3 : 2);
        ppu_write(0x2004, value, n);
        s.open_bus = value;
        ++n;
    }
    return n;
}

}  // namespace nes
