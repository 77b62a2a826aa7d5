/* Splits inputs into units, whatever containers they are in. */
#include "lib/cubin/unit.h"

#include <string.h>

#include "lib/base/list.h"
#include "lib/base/system/file.h"
#include "lib/cubin/containers/archive.h"
#include "lib/cubin/containers/gpubinary.h"
#include "lib/cubin/elf/hostelf.h"
#include "lib/cubin/kernels.h"
#include "lib/cubin/metadata.h"
#include "lib/cubin/module.h"
#include "lib/cubin/ptx/ptxscan.h"

enum { MAX_DEPTH = 8 }; /* a fatbin in a gpu.binary in ... */

typedef struct opener {
    cute_arena *arena;
    const char *arch;
    cute_unit_list *list;
    cute_diag *diag;
    int depth;
} opener;

static cute_status open_input(opener *o, const cute_link_input *input);

static cute_status add_unit(opener *o, const cute_unit *unit)
{
    cute_unit_list *list = o->list;
    if (!cute_arena_more(o->arena, &list->items, list->count, &list->capacity, sizeof *list->items, 8))
        return cute_fail_memory(o->diag);
    list->items[list->count++] = *unit;
    return CUTE_OK;
}

/* Adds the linked device code of an nvcc object or program; relocatable code is left to nvlink. */
static cute_status add_host(opener *o, const cute_link_input *input)
{
    cute_host_code *codes;
    size_t count;
    CUTE_TRY(cute_host_read(o->arena, input->label, input->bytes, input->length, &codes, &count, o->diag));
    if (codes[0].relocatable)
        return add_unit(o, &(cute_unit){.kind = CUTE_UNIT_HOST,
                                        .label = input->label,
                                        .bytes = input->bytes,
                                        .length = input->length,
                                        .arch_name = ""});
    for (size_t i = 0; i < count; i++)
        CUTE_TRY(open_input(o, &(cute_link_input){input->label, codes[i].bytes, codes[i].length}));
    return CUTE_OK;
}

static cute_status add_elf(opener *o, const cute_link_input *input, bool on_demand)
{
    cute_unit unit = {.kind = CUTE_UNIT_CUBIN,
                      .label = input->label,
                      .bytes = input->bytes,
                      .length = input->length,
                      .arch_name = "",
                      .on_demand = on_demand};
    if (cute_host_is(input->bytes, input->length)) return add_host(o, input);
    CUTE_TRY(cute_elf_read(o->arena, input->label, input->bytes, input->length, &unit.elf, o->diag));
    unit.arch_name = cute_elf_arch(o->arena, &unit.elf);
    unit.arch = cute_arch_find(unit.arch_name);
    return add_unit(o, &unit);
}

/* The offset of the next module in a text of several, as cute-ptx writes to a pipe: at the comments before a
 * .version at the start of a line; `length` after the last. */
static size_t next_module(const char *text, size_t length)
{
    static const char directive[] = ".version";
    size_t comments = 0; /* the start of the comments and blank lines before this line */
    bool first = true, quiet = false;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t next = end ? (size_t)(end - text) + 1 : length;
        bool version =
            next - at > sizeof directive && memcmp(text + at, directive, sizeof directive - 1) == 0;
        if (version && !first) return quiet ? comments : at;
        first = first && !version;
        bool empty = next - at <= 1 || memcmp(text + at, "//", 2) == 0;
        if (empty && !quiet) comments = at;
        quiet = empty;
        at = next;
    }
    return length;
}

static cute_status add_one_ptx(opener *o, const cute_link_input *input)
{
    cute_ptx_scan scan;
    CUTE_TRY(cute_ptx_scan_head(o->arena, input->label, input->bytes, input->length, &scan, o->diag));
    cute_unit unit = {.kind = CUTE_UNIT_PTX,
                      .label = input->label,
                      .bytes = input->bytes,
                      .length = input->length,
                      .arch_name = scan.target ? scan.target : "",
                      .target_offset = scan.target_offset};
    unit.arch = cute_arch_find(unit.arch_name);
    return add_unit(o, &unit);
}

static cute_status add_ptx(opener *o, const cute_link_input *input)
{
    const char *text = input->bytes;
    size_t length = next_module(text, input->length);
    if (length == input->length) return add_one_ptx(o, input);
    for (size_t at = 0, number = 1; at < input->length; number++) {
        length = next_module(text + at, input->length - at);
        const char *label = cute_arena_printf(o->arena, "%s(module %zu)", input->label, number);
        char *copy = cute_arena_copy(o->arena, text + at, length);
        if (!label || !copy) return cute_fail_memory(o->diag);
        CUTE_TRY(add_one_ptx(o, &(cute_link_input){label, copy, length}));
        at += length;
    }
    return CUTE_OK;
}

static cute_status add_fatbin(opener *o, const cute_link_input *input)
{
    cute_module *module;
    CUTE_TRY(cute_module_open(input->label, input->bytes, input->length, *o->arch ? o->arch : NULL, &module,
                              o->diag));
    cute_link_input inner = {.label = input->label};
    const void *image = cute_module_image(module, &inner.length);
    inner.bytes = cute_arena_copy(o->arena, image, inner.length);
    size_t ptx_length = 0, before = o->list->count;
    const char *ptx = cute_module_ptx(module, &ptx_length);
    if (ptx) ptx = cute_arena_copy(o->arena, ptx, ptx_length);
    cute_module_close(module);
    if (!inner.bytes) return cute_fail_memory(o->diag);
    CUTE_TRY(open_input(o, &inner));
    if (o->list->count == before + 1 && o->list->items[before].kind == CUTE_UNIT_CUBIN) {
        o->list->items[before].ptx = ptx;
        o->list->items[before].ptx_length = ptx_length;
    }
    return CUTE_OK;
}

/* The object of a binary that suits `wanted` best; the first if NULL. */
static size_t choose_object(const cute_object *objects, size_t first, size_t end, const cute_arch *wanted)
{
    size_t best = first;
    int best_score = -1;
    for (size_t i = first; i < end; i++) {
        const cute_arch *made = cute_arch_find(objects[i].chip);
        int score = 0;
        if (wanted && made == wanted)
            score = 4;
        else if (wanted && made && cute_arch_compatible(made, objects[i].kind == CUTE_OBJECT_BIN, wanted))
            score = 2;
        if (objects[i].kind != CUTE_OBJECT_OFFLOAD) score++;
        if (score <= best_score) continue;
        best = i;
        best_score = score;
    }
    return best;
}

static cute_status add_mlir(opener *o, const cute_link_input *input)
{
    cute_object *objects;
    size_t count;
    const cute_place file = {.file = input->label};
    CUTE_TRY(
        cute_gpu_binary_read(o->arena, input->label, input->bytes, input->length, &objects, &count, o->diag));
    if (count == 0) {
        cute_fail(o->diag, CUTE_INVALID, &file, "this MLIR has no gpu.binary operation");
        cute_note(o->diag, NULL, "compile its gpu.module first: 'cute-ptx FILE | cute-link'");
        return CUTE_INVALID;
    }
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && objects[end].index > objects[end - 1].index;) end++;
        const cute_object *object = &objects[choose_object(objects, first, end, cute_arch_find(o->arch))];
        const char *label = cute_arena_printf(o->arena, "%s(@%s)", input->label, object->symbol);
        if (!label) return cute_fail_memory(o->diag);
        cute_link_input inner = {.label = label, .bytes = object->data, .length = object->length};
        /* MLIR terminates the text with a zero. */
        if (object->kind == CUTE_OBJECT_ASSEMBLY) inner.length = strnlen(inner.bytes, inner.length);
        CUTE_TRY(open_input(o, &inner));
    }
    return CUTE_OK;
}

/* An archive of cubins is opened; one of host objects is left to nvlink. */
static cute_status add_archive(opener *o, const cute_link_input *input)
{
    cute_member *members;
    size_t count;
    CUTE_TRY(
        cute_archive_read(o->arena, input->label, input->bytes, input->length, &members, &count, o->diag));
    o->list->libraries = true;
    for (size_t i = 0; i < count; i++)
        if (cute_host_is(members[i].bytes, members[i].length))
            return add_unit(o, &(cute_unit){.kind = CUTE_UNIT_HOST,
                                            .label = input->label,
                                            .bytes = input->bytes,
                                            .length = input->length,
                                            .arch_name = ""});
    for (size_t i = 0; i < count; i++) {
        const char *label = cute_arena_printf(o->arena, "%s(%s)", input->label, members[i].name);
        cute_link_input member = {.label = label, .bytes = members[i].bytes, .length = members[i].length};
        if (!label) return cute_fail_memory(o->diag);
        cute_content content = cute_content_of(member.bytes, member.length);
        if (content == CUTE_CONTENT_ELF)
            CUTE_TRY(add_elf(o, &member, true));
        else if (content == CUTE_CONTENT_FATBIN || content == CUTE_CONTENT_PTX)
            CUTE_TRY(open_input(o, &member));
    }
    return CUTE_OK;
}

static cute_status open_content(opener *o, const cute_link_input *input)
{
    const cute_place file = {.file = input->label};
    cute_content content = cute_content_of(input->bytes, input->length);
    switch (content) {
    case CUTE_CONTENT_PTX: return add_ptx(o, input);
    case CUTE_CONTENT_ELF: return add_elf(o, input, false);
    case CUTE_CONTENT_FATBIN: return add_fatbin(o, input);
    case CUTE_CONTENT_ARCHIVE: return add_archive(o, input);
    case CUTE_CONTENT_MLIR:
    case CUTE_CONTENT_MLIR_BYTECODE: return add_mlir(o, input);
    case CUTE_CONTENT_EMPTY:
        return cute_fail(o->diag, CUTE_INVALID, &file, "nothing to link: the input is empty");
    case CUTE_CONTENT_LLVM:
        cute_fail(o->diag, CUTE_INVALID, &file, "expected PTX or device code, got LLVM IR");
        cute_note(o->diag, NULL, "compile it to PTX with 'cute-ptx' or 'llc -march=nvptx64'");
        return CUTE_INVALID;
    case CUTE_CONTENT_JSON:
    case CUTE_CONTENT_UNKNOWN: break;
    }
    cute_fail(o->diag, CUTE_INVALID, &file, "cannot link this input: %s",
              content == CUTE_CONTENT_JSON ? "JSON" : "unknown file format");
    cute_note(o->diag, NULL,
              "expected PTX (which begins with .version), a cubin, a fatbin, an .a library, a device object "
              "or MLIR with a gpu.binary");
    return CUTE_INVALID;
}

static cute_status open_input(opener *o, const cute_link_input *input)
{
    const cute_place file = {.file = input->label};
    if (o->depth == MAX_DEPTH)
        return cute_fail(o->diag, CUTE_INVALID, &file, "modules are nested too deeply");
    o->depth++;
    cute_status status = open_content(o, input);
    o->depth--;
    return status;
}

cute_status cute_units_add(cute_arena *arena, const cute_link_input *input, const char *arch,
                           cute_unit_list *list, cute_diag *diag)
{
    opener o = {.arena = arena, .arch = arch, .list = list, .diag = diag};
    return open_input(&o, input);
}

static cute_status add_part(cute_arena *arena, const cute_ptx_part *part, cute_ptx_part_list *list,
                            cute_diag *diag)
{
    if (!cute_arena_more(arena, &list->items, list->count, &list->capacity, sizeof *list->items, 8))
        return cute_fail_memory(diag);
    list->items[list->count] = *part;
    list->items[list->count++].length = strnlen(part->text, part->length);
    return CUTE_OK;
}

static cute_status add_host_parts(cute_arena *arena, const char *label, const void *bytes, size_t length,
                                  const char *arch, bool on_demand, cute_ptx_part_list *list, cute_diag *diag)
{
    cute_host_code *codes;
    size_t count;
    if (cute_host_read(arena, label, bytes, length, &codes, &count, NULL) != CUTE_OK) return CUTE_OK;
    for (size_t i = 0; i < count; i++) {
        cute_module *module;
        cute_ptx_part part = {.label = label, .on_demand = on_demand};
        if (cute_module_open(label, codes[i].bytes, codes[i].length, arch, &module, NULL) != CUTE_OK)
            continue;
        const char *ptx = cute_module_ptx(module, &part.length);
        part.text = ptx ? cute_arena_copy(arena, ptx, part.length) : NULL;
        cute_module_close(module);
        if (ptx && !part.text) return cute_fail_memory(diag);
        if (ptx) CUTE_TRY(add_part(arena, &part, list, diag));
    }
    return CUTE_OK;
}

cute_status cute_unit_ptx(cute_arena *arena, const cute_unit *unit, const char *arch,
                          cute_ptx_part_list *list, cute_diag *diag)
{
    cute_ptx_part part = {unit->label, unit->bytes, unit->length, false};
    cute_member *members;
    size_t count;
    if (unit->kind == CUTE_UNIT_PTX) return add_part(arena, &part, list, diag);
    if (unit->kind == CUTE_UNIT_CUBIN) {
        const cute_elf_section *kept = cute_elf_find(&unit->elf, CUTE_SECTION_PTX);
        part.text = kept && kept->data ? (const char *)kept->data : unit->ptx;
        part.length = kept && kept->data ? kept->size : unit->ptx_length;
        return part.text ? add_part(arena, &part, list, diag) : CUTE_OK;
    }
    if (cute_host_is(unit->bytes, unit->length))
        return add_host_parts(arena, unit->label, unit->bytes, unit->length, arch, false, list, diag);
    CUTE_TRY(cute_archive_read(arena, unit->label, unit->bytes, unit->length, &members, &count, diag));
    for (size_t i = 0; i < count; i++) {
        const char *label = cute_arena_printf(arena, "%s(%s)", unit->label, members[i].name);
        if (!label) return cute_fail_memory(diag);
        if (cute_host_is(members[i].bytes, members[i].length))
            CUTE_TRY(
                add_host_parts(arena, label, members[i].bytes, members[i].length, arch, true, list, diag));
    }
    return CUTE_OK;
}

/* Finds "libNAME.a" in the folders; "-l:FILE" as in ld. */
static cute_status add_library(cute_arena *arena, const cute_link_options *options, const char *name,
                               const char *arch, cute_unit_list *list, cute_diag *diag)
{
    for (size_t i = 0; i < options->folders.count; i++) {
        bool exact = *name == ':';
        const char *path = cute_arena_printf(arena, "%s/%s%s%s", options->folders.items[i],
                                             exact ? "" : "lib", exact ? name + 1 : name, exact ? "" : ".a");
        if (!path) return cute_fail_memory(diag);
        if (!cute_file_exists(path)) continue;
        cute_buffer bytes = {0};
        cute_status status = cute_file_read(path, &bytes, diag);
        cute_link_input input = {.label = path, .length = bytes.length};
        input.bytes =
            status == CUTE_OK ? cute_arena_copy(arena, cute_buffer_text(&bytes), bytes.length) : NULL;
        cute_buffer_release(&bytes);
        if (status != CUTE_OK) return status;
        list->libraries = true;
        return input.bytes ? cute_units_add(arena, &input, arch, list, diag) : cute_fail_memory(diag);
    }
    cute_fail(diag, CUTE_INVALID, NULL, "cannot find the library '%s'", name);
    cute_buffer looked = {0};
    for (size_t i = 0; i < options->folders.count; i++)
        cute_buffer_printf(&looked, "%s%s", i ? ", " : "", options->folders.items[i]);
    if (looked.length)
        cute_note(diag, NULL, "searched for lib%s.a in %s", name, cute_buffer_text(&looked));
    else
        cute_note(diag, NULL, "no folder was given with -L");
    cute_buffer_release(&looked);
    return CUTE_INVALID;
}

cute_status cute_units_add_libraries(cute_arena *arena, const cute_link_options *options, const char *arch,
                                     cute_unit_list *list, cute_diag *diag)
{
    for (size_t i = 0; i < options->libraries.count; i++)
        CUTE_TRY(add_library(arena, options, options->libraries.items[i], arch, list, diag));
    return CUTE_OK;
}
