// Preloaded into Mednafen (LD_PRELOAD), this makes it run in lock-step: it replaces the NES module's `Emulate`, which then
// waits on a socket for a parent that says what to do next.
//
// The console's RAM is put into memory that is shared with the parent, so the parent reads and pokes it at no cost. All
// addresses come from the parent (mario_rl/emulators/mednafen_build.py), which knows them for certain builds only; the
// layout of Mednafen's structures is that of version 1.29.0. docs/mednafen.md has the protocol.

#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

// --- what the parent and we share; mario_rl/emulators/mednafen_memory.py has the same numbers ---------------------------

enum {
    PAGE = 0x1000,
    RAM_SIZE = 0x800,
    PICTURE_AT = 0x2000,  // RGB, 240 lines of 256 pixels; below it are the pages with the console's RAM
    EXCHANGE_AT = 0x40000,
    EXCHANGE_SIZE = 0x40000,  // a state, or bytes of the bus
    SHARED_SIZE = 0x80000,
    WIDTH = 256,
    HEIGHT = 240,
};

struct command {
    uint8_t op;  // see `obey`
    uint8_t pads[2];
    uint8_t draw;
    uint32_t count;  // frames or bytes
    uint32_t address;
    uint32_t number;  // comes back with the reply: a caller that was interrupted can tell a late one
};

struct reply {
    uint32_t number;
    uint32_t failed;
    uint32_t count;
};

enum { LONGEST_LAUNCH = 60 };  // seconds; an orphan that never gets to its first frame ends then

// --- Mednafen's structures, as far as we use them ---------------------------------------------------------------------

struct pixel_format {
    uint8_t unused[10];
    uint8_t red_shift, green_shift, blue_shift;
};

struct surface {
    void *pixels8, *pixels16;
    uint32_t *pixels;
    uint8_t unused[0x0c];
    int32_t width, height, pitch;  // pitch in pixels
    struct pixel_format format;
};

struct frame_request {  // EmulateSpecStruct
    struct surface *surface;
    uint8_t video_format_changed;
    uint8_t unused_1[0x2f];
    int32_t skip;
    uint8_t sound_format_changed;
};

struct module {  // MDFNGI
    uint8_t unused_1[0xa8];
    void (*emulate)(struct frame_request *);
    void *transform_input;
    void (*set_input)(unsigned port, const char *type, uint8_t *data);
};

_Static_assert(offsetof(struct surface, width) == 0x24, "as in Mednafen 1.29");
_Static_assert(offsetof(struct surface, format) == 0x30, "as in Mednafen 1.29");
_Static_assert(offsetof(struct frame_request, skip) == 0x38, "as in Mednafen 1.29");
_Static_assert(offsetof(struct module, set_input) == 0xb8, "as in Mednafen 1.29");

// --- this console -------------------------------------------------------------------------------------------------------

static int parent_socket;
static uint8_t *shared;
static bool has_window;
static pid_t parent;

static void (*real_emulate)(struct frame_request *);
static void (*real_set_input)(unsigned, const char *, uint8_t *);
static void (*save_state)(void *stream, bool data_only, void *, void *, void *);
static void (*load_state)(void *stream, bool data_only, int);
static void (*read_address_space)(const char *name, uint32_t address, uint32_t length, uint8_t *out);

static uint8_t *ports[2];  // where the game's pads are read from
static struct command step;
static uint32_t frames_due;

_Noreturn static void end(const char *reason) {
    if (reason) fprintf(stderr, "mario-rl shim: %s\n", reason);
    _exit(reason ? 1 : 0);
}

static void receive(void *into, size_t size) {
    ssize_t got;
    do got = recv(parent_socket, into, size, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)size) end(NULL);  // the parent is gone
}

static void answer(uint32_t number, bool failed, uint32_t count) {
    struct reply reply = {number, failed, count};
    if (send(parent_socket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) end(NULL);
}

// --- a C++ Stream over the exchange area, for Mednafen's own state functions ----------------------------------------------

struct stream {
    void (**functions)(void);
    uint64_t at, size;
};

static uint64_t stream_read(struct stream *stream, void *into, uint64_t count, bool must) {
    (void)must;
    if (count > stream->size - stream->at) end("the state is too short");
    memcpy(into, shared + EXCHANGE_AT + stream->at, count);
    stream->at += count;
    return count;
}

static void stream_write(struct stream *stream, const void *from, uint64_t count) {
    if (count > EXCHANGE_SIZE - stream->at) end("the state is too long");
    memcpy(shared + EXCHANGE_AT + stream->at, from, count);
    stream->at += count;
}

_Noreturn static void stream_other(void) {
    end("Mednafen asks a state for something unexpected");
}

static void (*stream_functions[])(void) = {
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    (void (*)(void))stream_read,   // slot 7
    (void (*)(void))stream_write,  // slot 8
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    stream_other,
    stream_other,
};

// --- frames and commands ------------------------------------------------------------------------------------------------

static void copy_picture(const struct surface *surface) {
    const struct pixel_format *format = &surface->format;
    uint8_t *out = shared + PICTURE_AT;
    for (int y = 0; y < HEIGHT; y++) {
        const uint32_t *row = surface->pixels + (size_t)y * surface->pitch;
        for (int x = 0; x < WIDTH; x++, out += 3) {
            out[0] = row[x] >> format->red_shift;
            out[1] = row[x] >> format->green_shift;
            out[2] = row[x] >> format->blue_shift;
        }
    }
}

// A driver with a window puts its own keyboard there after each frame; states have the pads in them, too.
static void press(void) {
    for (int port = 0; port < 2; port++)
        if (ports[port]) ports[port][0] = step.pads[port];
}

static void run_frame(struct frame_request *request) {
    bool last = --frames_due == 0;
    press();
    request->skip = !has_window && !(step.draw && last);
    real_emulate(request);
    // The driver sets these for the first frame after a change, but we make many of one request.
    request->video_format_changed = request->sound_format_changed = 0;
    if (!last) return;
    if (step.draw) copy_picture(request->surface);
    answer(step.number, false, 0);
}

static void obey(void) {
    struct command command;
    receive(&command, sizeof command);
    struct stream stream = {stream_functions, 0, command.count};
    bool fits = command.count <= EXCHANGE_SIZE;
    switch (command.op) {
        case 'F':  // frames
            step = command;
            frames_due = command.count;
            if (frames_due == 0) answer(command.number, false, 0);
            return;
        case 'S':  // save a state into the exchange area
            press();
            save_state(&stream, true, NULL, NULL, NULL);
            return answer(command.number, false, (uint32_t)stream.at);
        case 'L':  // load it from there
            if (fits) load_state(&stream, true, 0);
            for (int port = 0; port < 2; port++)
                if (ports[port]) step.pads[port] = ports[port][0];
            return answer(command.number, !fits, 0);
        case 'B':  // bytes of the CPU's bus
            if (fits) read_address_space("cpu", command.address, command.count, shared + EXCHANGE_AT);
            return answer(command.number, !fits, 0);
        case 'Q': end(NULL);
        default: answer(command.number, true, 0);
    }
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

// Everything that Mednafen reads from its home has been read. Without one nothing is left behind, whoever is killed.
static void leave_home(void) {
    const char *home = getenv("MEDNAFEN_HOME");
    if (home) nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // not earlier: a home would stay
    if (getppid() != parent) end(NULL);
    alarm(0);
    answer(0, false, 0);
}

static void emulate(struct frame_request *request) {
    static bool left_home;
    if (!left_home) leave_home();
    left_home = true;
    do {
        while (frames_due == 0) obey();
        run_frame(request);
    } while (!has_window);  // a window shows a frame when we return
}

static void set_input(unsigned port, const char *type, uint8_t *data) {
    if (port < 2) ports[port] = data;
    real_set_input(port, type, data);
}

// --- the beginning ------------------------------------------------------------------------------------------------------

static int build_of_the_program(struct dl_phdr_info *info, size_t size, void *out) {
    (void)size;  // the program itself comes first
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE) continue;
        const uint8_t *at = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
            const uint8_t *id = at + sizeof *note + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= 32)
                for (unsigned k = 0; k < note->n_descsz; k++) sprintf((char *)out + 2 * k, "%02x", id[k]);
            at = id + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 1;
}

// The pages that hold the RAM become the first ones of the shared memory.
static void share_ram(uintptr_t ram, int memory) {
    uintptr_t first = ram & ~(uintptr_t)(PAGE - 1);
    size_t size = ((ram + RAM_SIZE + PAGE - 1) & ~(uintptr_t)(PAGE - 1)) - first;
    memcpy(shared, (void *)first, size);
    if (mmap((void *)first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0) == MAP_FAILED)
        end("cannot share the console's RAM");
}

__attribute__((constructor)) static void begin(void) {
    const char *orders = getenv("MARIO_RL_SHIM");
    if (!orders) return;
    unsetenv("LD_PRELOAD");
    alarm(LONGEST_LAUNCH);

    int memory, window;
    unsigned long ram, at, save, load, bus;
    char wanted[65], found[65] = "none";
    if (sscanf(orders, "%d %d %d %d %lx %lx %lx %lx %lx %64s", &parent_socket, &memory, &parent, &window, &ram, &at,
               &save, &load, &bus, wanted) != 10)
        end("no orders in MARIO_RL_SHIM");
    dl_iterate_phdr(build_of_the_program, found);
    if (strcmp(wanted, found) != 0) end("this is another build than the addresses are for");

    shared = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared == MAP_FAILED) end("no shared memory");
    share_ram(ram, memory);
    close(memory);

    has_window = window != 0;
    save_state = (void (*)(void *, bool, void *, void *, void *))save;
    load_state = (void (*)(void *, bool, int))load;
    read_address_space = (void (*)(const char *, uint32_t, uint32_t, uint8_t *))bus;
    struct module *module = (struct module *)at;
    real_emulate = module->emulate;
    real_set_input = module->set_input;
    module->emulate = emulate;
    module->set_input = set_input;
}
