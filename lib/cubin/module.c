/* Opens a module: detects its format, selects an image, and merges its declarations, .nv.info and
 * metadata. */
#include "lib/cubin/module.h"
#include "lib/base/text/json.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/options/nearest.h"
#include "lib/base/text/demangle.h"
#include "lib/cubin/containers/fatbin.h"
#include "lib/cubin/elf/hostelf.h"
#include "lib/cubin/kernels.h"
#include "lib/cubin/metadata.h"
#include "lib/cubin/ptx/ptxscan.h"
#include "lib/cubin/ptx/ptxtoken.h"

struct cute_module {
    cute_arena *arena;
    const char *label, *arch;
    cute_module_format format, container;
    const void *image;
    size_t image_length;
    const char *ptx;
    size_t ptx_length;
    const char *metadata; /* the lines; NULL: none */
    size_t metadata_length;
    cute_elf elf;
    cute_kernel *kernels;
    size_t kernel_count;
    const void *fatbin; /* that contains the image; NULL: none */
    size_t fatbin_length;
};

/* ---- contents ---- */

static const struct {
    const char *bytes;
    size_t length;
    cute_content content;
} beginnings[] = {
    {"\x7f"
     "ELF",
     4, CUTE_CONTENT_ELF},
    {"\x50\xed\x55\xba", 4, CUTE_CONTENT_FATBIN},
    {"!<arch>\n", 8, CUTE_CONTENT_ARCHIVE},
    {"!<thin>\n", 8, CUTE_CONTENT_ARCHIVE},
    {"ML\xefR", 4, CUTE_CONTENT_MLIR_BYTECODE},
    {"BC\xc0\xde", 4, CUTE_CONTENT_LLVM},
};

/* Words at the beginning or in the first lines of text formats. */
static const struct {
    const char *word;
    cute_content content;
} words[] = {
    {"gpu.binary", CUTE_CONTENT_MLIR},        {"gpu.module", CUTE_CONTENT_MLIR},
    {"module {", CUTE_CONTENT_MLIR},          {"module @", CUTE_CONTENT_MLIR},
    {"module attributes", CUTE_CONTENT_MLIR}, {"func.func", CUTE_CONTENT_MLIR},
    {"builtin.module", CUTE_CONTENT_MLIR},    {"//!include ", CUTE_CONTENT_MLIR},
    {"cuda.kernel", CUTE_CONTENT_MLIR},       {"target triple = ", CUTE_CONTENT_LLVM},
};

/* Whether the text begins like a JSON object or array. */
static bool is_json(const char *text, size_t length)
{
    size_t next = 1;
    while (next < length && isspace((unsigned char)text[next])) next++;
    if (next >= length) return false;
    return text[0] == '{' ? text[next] == '"' || text[next] == '}'
                          : text[0] == '[' && text[next] && strchr("{[]\"-0123456789", text[next]);
}

cute_content cute_content_of(const void *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (length >= beginnings[i].length && memcmp(bytes, beginnings[i].bytes, beginnings[i].length) == 0)
            return beginnings[i].content;
    const char *text = bytes;
    size_t blank = 0;
    while (blank < length && isspace((unsigned char)text[blank])) blank++;
    if (blank == length) return CUTE_CONTENT_EMPTY;
    if (cute_ptx_is(bytes, length)) return CUTE_CONTENT_PTX;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(bytes, length, words[i].word, strlen(words[i].word))) return words[i].content;
    return is_json(text + blank, length - blank) ? CUTE_CONTENT_JSON : CUTE_CONTENT_UNKNOWN;
}

const char *cute_content_name(cute_content content)
{
    static const char *const names[] = {
        [CUTE_CONTENT_UNKNOWN] = "an unknown file format",
        [CUTE_CONTENT_EMPTY] = "an empty file",
        [CUTE_CONTENT_ELF] = "an ELF file",
        [CUTE_CONTENT_PTX] = "PTX",
        [CUTE_CONTENT_FATBIN] = "a fatbin",
        [CUTE_CONTENT_ARCHIVE] = "an archive",
        [CUTE_CONTENT_MLIR] = "MLIR",
        [CUTE_CONTENT_MLIR_BYTECODE] = "MLIR bytecode",
        [CUTE_CONTENT_LLVM] = "LLVM IR",
        [CUTE_CONTENT_JSON] = "JSON",
    };
    return names[content];
}

bool cute_content_is_mlir(const void *bytes, size_t length)
{
    cute_content content = cute_content_of(bytes, length);
    return content == CUTE_CONTENT_MLIR || content == CUTE_CONTENT_MLIR_BYTECODE;
}

/* ---- images ---- */

static cute_status keep_metadata(cute_module *m, const char *lines, size_t length, cute_diag *diag)
{
    m->metadata = cute_arena_copy(m->arena, lines, length);
    m->metadata_length = length;
    return m->metadata ? CUTE_OK : cute_fail_memory(diag);
}

/* Without metadata, the PTX in the cubin distinguishes integers, floats and pointers, and shows whether there
 * is dynamic shared memory. Unreadable PTX, or PTX with other parameters, is ignored. */
static void args_from_ptx(cute_module *m)
{
    cute_ptx_scan scan;
    if (cute_ptx_scan_all(m->arena, m->label, m->ptx, m->ptx_length, &scan, NULL) != CUTE_OK) return;
    cute_names names = {.arena = m->arena};
    for (size_t i = 0; i < scan.kernel_count; i++)
        if (!cute_names_put(&names, scan.kernels[i].name, strlen(scan.kernels[i].name), i)) return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        cute_kernel *kernel = &m->kernels[i];
        size_t found = cute_names_find_text(&names, kernel->name);
        if (found == CUTE_NO_NAME) continue;
        const cute_kernel *source = &scan.kernels[found];
        if (source->uses_dynamic_smem) kernel->uses_dynamic_smem = true;
        bool same = kernel->param_count == source->param_count;
        for (size_t p = 0; same && p < source->param_count; p++)
            same = kernel->params[p].size == source->params[p].size &&
                   /* relative, as 64-byte alignment of the first parameter shifts all of them in a cubin */
                   kernel->params[p].offset - kernel->params[0].offset ==
                       source->params[p].offset - source->params[0].offset;
        if (!same) continue;
        kernel->args = source->args;
        kernel->arg_count = source->arg_count;
    }
}

static cute_status open_elf(cute_module *m, cute_diag *diag)
{
    m->format = CUTE_MODULE_CUBIN;
    CUTE_TRY(cute_elf_read(m->arena, m->label, m->image, m->image_length, &m->elf, diag));
    m->arch = cute_elf_arch(m->arena, &m->elf);
    CUTE_TRY(cute_elf_kernels(m->arena, &m->elf, &m->kernels, &m->kernel_count, diag));
    for (size_t i = 0; i < m->kernel_count; i++) {
        m->kernels[i].args = cute_args_of_params(m->arena, m->kernels[i].params, m->kernels[i].param_count);
        m->kernels[i].arg_count = m->kernels[i].param_count;
        if (!m->kernels[i].args) return cute_fail_memory(diag);
    }
    const cute_elf_section *ptx = cute_elf_find(&m->elf, CUTE_SECTION_PTX);
    if (ptx && ptx->data) {
        m->ptx_length = strnlen((const char *)ptx->data, ptx->size);
        m->ptx = cute_arena_copy(m->arena, (const char *)ptx->data, m->ptx_length);
        if (!m->ptx) return cute_fail_memory(diag);
        if (!cute_elf_find(&m->elf, CUTE_SECTION_METADATA)) args_from_ptx(m);
    }
    static const struct {
        const char *section;
        cute_metadata_kind kind;
    } sources[] = {{CUTE_SECTION_METADATA, CUTE_METADATA_KERNELS},
                   {CUTE_SECTION_RESOURCES, CUTE_METADATA_RESOURCES}};
    for (size_t i = 0; i < 2; i++) {
        const cute_elf_section *section = cute_elf_find(&m->elf, sources[i].section);
        if (!section || !section->data) continue;
        CUTE_TRY(cute_metadata_apply(m->arena, m->label, sources[i].kind, (const char *)section->data,
                                     section->size, m->kernels, m->kernel_count, diag));
        if (sources[i].kind == CUTE_METADATA_KERNELS)
            CUTE_TRY(keep_metadata(m, (const char *)section->data, section->size, diag));
    }
    return CUTE_OK;
}

static cute_status open_ptx(cute_module *m, cute_diag *diag)
{
    cute_ptx_scan scan;
    m->format = CUTE_MODULE_PTX;
    m->ptx = m->image;
    m->ptx_length = m->image_length;
    CUTE_TRY(cute_ptx_scan_all(m->arena, m->label, m->ptx, m->ptx_length, &scan, diag));
    m->arch = scan.target ? scan.target : "";
    m->kernels = scan.kernels;
    m->kernel_count = scan.kernel_count;
    cute_buffer lines = {0};
    cute_metadata_extract(m->ptx, m->ptx_length, &lines);
    cute_status status = cute_buffer_ok(&lines) ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK)
        status = cute_metadata_apply(m->arena, m->label, CUTE_METADATA_KERNELS, cute_buffer_text(&lines),
                                     lines.length, m->kernels, m->kernel_count, diag);
    if (status == CUTE_OK) status = keep_metadata(m, cute_buffer_text(&lines), lines.length, diag);
    cute_buffer_release(&lines);
    return status;
}

/* The architecture of a fatbin entry: a cubin is more precise than the container, which lacks "a" and "f". */
static const char *entry_arch(cute_arena *arena, const char *label, const cute_fatbin_entry *entry,
                              const void *bytes, size_t length)
{
    if (entry->kind == CUTE_FATBIN_ELF) {
        cute_elf elf;
        return cute_elf_read(arena, label, bytes, length, &elf, NULL) == CUTE_OK ? cute_elf_arch(arena, &elf)
                                                                                 : "";
    }
    cute_ptx_scan scan;
    cute_status status = cute_ptx_scan_head(arena, label, bytes, length, &scan, NULL);
    return status == CUTE_OK && scan.target ? scan.target : "";
}

/* Ranks an image: exact architecture first, then cubins before PTX, then the newest. 0: unusable. */
static int score_image(const cute_fatbin_entry *entry, const cute_arch *made, const cute_arch *wanted)
{
    bool binary = entry->kind == CUTE_FATBIN_ELF;
    if (!made) return wanted ? 0 : 1;
    if (!wanted) return (binary ? 1 << 20 : 1 << 10) + made->number * 4 + (made->variant != 0);
    if (!cute_arch_compatible(made, binary, wanted)) return 0;
    return (binary ? 1 << 20 : 1 << 10) + made->number * 4 + (made == wanted ? 3 : made->variant != 0);
}

static cute_status open_fatbin(cute_module *m, const char *arch, cute_diag *diag)
{
    cute_fatbin_entry *entries;
    size_t count;
    int best = 0, best_ptx = -1;
    const cute_arch *wanted = NULL;
    const cute_place file = {.file = m->label};
    cute_buffer seen = {0};
    bool lto = false;
    if (arch) CUTE_TRY(cute_arch_parse(arch, &file, &wanted, diag));
    CUTE_TRY(cute_fatbin_read(m->arena, m->label, m->image, m->image_length, &entries, &count, diag));
    const void *bytes, *image = NULL, *ptx = NULL;
    size_t length, image_length = 0, ptx_length = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].kind != CUTE_FATBIN_ELF && entries[i].kind != CUTE_FATBIN_PTX) {
            lto |= entries[i].kind == CUTE_FATBIN_LTO;
            cute_buffer_printf(&seen, "%s%s sm_%u", seen.length ? ", " : "",
                               cute_fatbin_kind_name(m->arena, &entries[i]), entries[i].sm);
            continue;
        }
        cute_status status = cute_fatbin_extract(m->arena, m->label, &entries[i], &bytes, &length, diag);
        if (status != CUTE_OK) {
            cute_buffer_release(&seen);
            return status;
        }
        const char *made = entry_arch(m->arena, m->label, &entries[i], bytes, length);
        cute_buffer_printf(&seen, "%s%s %s", seen.length ? ", " : "",
                           cute_fatbin_kind_name(m->arena, &entries[i]), made);
        int now = score_image(&entries[i], cute_arch_find(made), wanted);
        if (entries[i].kind == CUTE_FATBIN_PTX && now > best_ptx) {
            best_ptx = now;
            ptx = bytes;
            ptx_length = length;
        }
        if (now <= best) continue;
        best = now;
        image = bytes;
        image_length = length;
    }
    cute_status status = CUTE_OK;
    if (!image) {
        status = cute_fail(diag, CUTE_INVALID, &file, "the fatbin has no image for %s",
                           wanted ? wanted->name : "any GPU");
        cute_note(diag, NULL, "available: %s", seen.length ? cute_buffer_text(&seen) : "none");
        if (lto)
            cute_note(diag, NULL,
                      "lto images are nvcc -dlto link-time code; compile them to a cubin with 'nvcc -dlto "
                      "-dlink -cubin'");
    }
    cute_buffer_release(&seen);
    if (status != CUTE_OK) return status;
    m->fatbin = m->image;
    m->fatbin_length = m->image_length;
    m->image = image;
    m->image_length = image_length;
    status = cute_elf_is(image, image_length) ? open_elf(m, diag) : open_ptx(m, diag);
    if (status == CUTE_OK && !m->ptx && ptx) { /* from another image of the same fatbin */
        m->ptx = ptx;
        m->ptx_length = ptx_length;
    }
    return status;
}

enum { MAX_LISTED_MODULES = 8, MAX_LISTED_LENGTH = 60 }; /* modules in a message */

/* Opens the only fatbin that has kernels, else the first. */
static cute_status open_host(cute_module *m, const char *arch, cute_diag *diag)
{
    const cute_place file = {.file = m->label};
    cute_host_code *codes;
    size_t count, chosen = SIZE_MAX, with_kernels = 0;
    cute_buffer names = {0};
    CUTE_TRY(cute_host_read(m->arena, m->label, m->image, m->image_length, &codes, &count, diag));
    for (size_t i = 0; i < count && count > 1; i++) {
        cute_module part = {.arena = m->arena,
                            .label = m->label,
                            .arch = "",
                            .image = codes[i].bytes,
                            .image_length = codes[i].length};
        if (open_fatbin(&part, arch, NULL) != CUTE_OK || !part.kernel_count) continue;
        const char *name = cute_symbol_name(m->arena, part.kernels[0].name);
        if (with_kernels < MAX_LISTED_MODULES)
            cute_buffer_printf(&names, "%s%.*s%s%s", with_kernels ? "; " : "", (int)MAX_LISTED_LENGTH, name,
                               strlen(name) > MAX_LISTED_LENGTH ? "..." : "",
                               part.kernel_count > 1 ? ", ..." : "");
        else if (with_kernels == MAX_LISTED_MODULES)
            cute_buffer_puts(&names, "; ...");
        if (++with_kernels == 1) chosen = i;
    }
    cute_status status = CUTE_OK;
    if (with_kernels > 1) {
        status =
            cute_fail(diag, CUTE_INVALID, &file, "expected one module with kernels, got %zu", with_kernels);
        cute_note(diag, NULL, "their kernels: %s", cute_buffer_text(&names));
        cute_note(diag, NULL, "'cute-dump images' lists them; select one with --image=N or --kernel=NAME");
    }
    cute_buffer_release(&names);
    if (status != CUTE_OK) return status;
    if (chosen == SIZE_MAX) chosen = 0;
    m->image = codes[chosen].bytes;
    m->image_length = codes[chosen].length;
    return open_fatbin(m, arch, diag);
}

static cute_status open_any(cute_module *m, const char *arch, cute_diag *diag)
{
    const cute_place file = {.file = m->label};
    cute_content content = cute_content_of(m->image, m->image_length);
    switch (content) {
    case CUTE_CONTENT_ELF:
        m->container = cute_host_is(m->image, m->image_length) ? CUTE_MODULE_FATBIN : CUTE_MODULE_CUBIN;
        return m->container == CUTE_MODULE_FATBIN ? open_host(m, arch, diag) : open_elf(m, diag);
    case CUTE_CONTENT_PTX: m->container = CUTE_MODULE_PTX; return open_ptx(m, diag);
    case CUTE_CONTENT_FATBIN: m->container = CUTE_MODULE_FATBIN; return open_fatbin(m, arch, diag);
    default: break;
    }
    cute_fail(diag, CUTE_INVALID, &file, "expected a compiled module, got %s", cute_content_name(content));
    if (content == CUTE_CONTENT_MLIR || content == CUTE_CONTENT_MLIR_BYTECODE)
        cute_note(diag, NULL,
                  "compile it with 'cute-ptx FILE | cute-link > FILE.cubin', or extract a gpu.binary with "
                  "'cute-link --extract=all'");
    else if (content == CUTE_CONTENT_JSON)
        cute_note(diag, NULL, "pass the launch.json with --config, after the module");
    else
        cute_note(diag, NULL, "compiled modules are cubins, PTX, fatbins and objects built by nvcc");
    return CUTE_INVALID;
}

cute_status cute_module_open(const char *label, const void *bytes, size_t length, const char *arch,
                             cute_module **out, cute_diag *diag)
{
    *out = NULL;
    cute_arena *arena = cute_arena_create();
    cute_module *m = arena ? cute_arena_alloc(arena, sizeof *m) : NULL;
    if (m)
        *m = (cute_module){.arena = arena,
                           .label = cute_arena_copy(arena, label, strlen(label)),
                           .arch = "",
                           .image = cute_arena_copy(arena, length ? bytes : "", length),
                           .image_length = length};
    cute_status status = m && m->label && m->image ? open_any(m, arch, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK)
        *out = m;
    else
        cute_arena_destroy(arena);
    return status;
}

void cute_module_close(cute_module *module)
{
    if (module) cute_arena_destroy(module->arena);
}

/* ---- accessors ---- */

cute_module_format cute_module_get_format(const cute_module *module)
{
    return module->format;
}
cute_module_format cute_module_get_container(const cute_module *module)
{
    return module->container;
}
const char *cute_module_arch(const cute_module *module)
{
    return module->arch;
}
size_t cute_module_kernel_count(const cute_module *module)
{
    return module->kernel_count;
}
const cute_elf *cute_module_elf(const cute_module *module)
{
    return module->format == CUTE_MODULE_CUBIN ? &module->elf : NULL;
}

const void *cute_module_image(const cute_module *module, size_t *length)
{
    if (length) *length = module->image_length;
    return module->image;
}

const void *cute_module_fatbin(const cute_module *module, size_t *length)
{
    *length = module->fatbin_length;
    return module->fatbin;
}

int cute_module_ptx_version(const cute_module *module)
{
    cute_ptx_scan scan = {0};
    cute_arena *arena = module->ptx ? cute_arena_create() : NULL;
    if (!arena) return 0;
    cute_ptx_scan_head(arena, module->label, module->ptx, module->ptx_length, &scan, NULL);
    cute_arena_destroy(arena);
    return scan.version;
}

const char *cute_module_ptx(const cute_module *module, size_t *length)
{
    if (length) *length = module->ptx_length;
    return module->ptx;
}

const cute_kernel *cute_module_kernel(const cute_module *module, size_t index)
{
    return index < module->kernel_count ? &module->kernels[index] : NULL;
}

static const char *kernel_name_at(const void *list, size_t index)
{
    const cute_kernel *kernel = cute_module_kernel(list, index);
    return kernel ? kernel->name : NULL;
}

cute_status cute_module_find_kernel(const cute_module *module, const char *name, const cute_kernel **out,
                                    cute_diag *diag)
{
    const cute_place file = {.file = module->label};
    *out = NULL;
    if (!name && module->kernel_count == 1) {
        *out = &module->kernels[0];
        return CUTE_OK;
    }
    for (size_t i = 0; name && i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0) {
            *out = &module->kernels[i];
            return CUTE_OK;
        }
    cute_arena *arena = cute_arena_create();
    cute_buffer names = {0};
    size_t matches = 0;
    for (size_t i = 0; arena && name && i < module->kernel_count; i++) {
        if (!cute_symbol_matches(arena, module->kernels[i].name, name)) continue;
        if (matches < 32) cute_buffer_printf(&names, "%s%s", matches ? ", " : "", module->kernels[i].name);
        matches++;
        *out = &module->kernels[i];
    }
    if (matches != 1) *out = NULL;
    if (matches > 1) {
        cute_fail(diag, CUTE_INVALID, &file, "ambiguous name '%s': %zu kernels match", name, matches);
        cute_note(diag, NULL, "matching kernels: %s%s", cute_buffer_text(&names),
                  matches > 32 ? ", ..." : "");
    }
    cute_buffer_release(&names);
    names = (cute_buffer){0};
    if (matches) {
        cute_arena_destroy(arena);
        return matches == 1 ? CUTE_OK : CUTE_INVALID;
    }
    const char *near = name ? cute_nearest(name, kernel_name_at, module) : NULL;
    if (near)
        cute_fail(diag, CUTE_INVALID, &file, "no kernel '%s'; did you mean '%s'?", name, near);
    else if (name)
        cute_fail(diag, CUTE_INVALID, &file, "no kernel '%s'", name);
    else if (module->kernel_count)
        cute_fail(diag, CUTE_INVALID, &file, "expected the name of one of %zu kernels", module->kernel_count);
    else
        cute_fail(diag, CUTE_INVALID, &file, "this module has no kernels");
    for (size_t i = 0; arena && i < module->kernel_count && i < 32; i++)
        cute_buffer_printf(&names, "%s%s", i ? ", " : "", cute_symbol_name(arena, module->kernels[i].name));
    cute_arena_destroy(arena);
    if (names.length)
        cute_note(diag, NULL, "kernels: %s%s", cute_buffer_text(&names),
                  module->kernel_count > 32 ? ", ..." : "");
    cute_buffer_release(&names);
    return CUTE_INVALID;
}

/* The next line of metadata, from *at on, that is a plan; the caller owns the object; NULL after the last. */
static json_t *next_plan(const cute_module *module, const char **at, const char **text, size_t *length)
{
    const char *stop = module->metadata ? module->metadata + module->metadata_length : NULL;
    while (*at && *at < stop) {
        const char *end = memchr(*at, '\n', (size_t)(stop - *at));
        json_t *object = NULL;
        *text = *at;
        *length = (size_t)((end ? end : stop) - *at);
        *at = end ? end + 1 : stop;
        if (!memmem(*text, *length, "\"plan\"", 6) ||
            cute_json_parse(module->label, *text, *length, &object, NULL) != CUTE_OK)
            continue;
        if (json_is_string(json_object_get(object, "plan"))) return object;
        json_decref(object);
    }
    return NULL;
}

bool cute_module_plan_at(const cute_module *module, size_t index, const char **text, size_t *length)
{
    const char *at = module->metadata;
    for (json_t *object; (object = next_plan(module, &at, text, length)); index--) {
        json_decref(object);
        if (index == 0) return true;
    }
    return false;
}

/* Finds a plan by its name or an unambiguous prefix. Kernels of several modules carry the same plans. */
cute_status cute_module_find_plan(const cute_module *module, const char *name, const char **text,
                                  size_t *length, cute_diag *diag)
{
    const cute_place file = {.file = module->label};
    const char *at = module->metadata, *line;
    cute_buffer names = {0}, match = {0};
    size_t n, count = 0;
    bool exact = false;
    for (json_t *object; !exact && (object = next_plan(module, &at, &line, &n));) {
        const char *found = json_string_value(json_object_get(object, "plan"));
        exact = strcmp(found, name) == 0;
        if (exact || strncmp(found, name, strlen(name)) == 0) {
            bool again = strcmp(cute_buffer_text(&match), found) == 0;
            if (!again || exact) {
                count += !again;
                *text = line;
                *length = n;
            }
            cute_buffer_release(&match);
            cute_buffer_puts(&match, found);
        }
        cute_buffer_printf(&names, "%s%s", names.length ? ", " : "", found);
        json_decref(object);
    }
    cute_buffer_release(&match);
    cute_status status = exact || (count == 1 && *name) ? CUTE_OK : CUTE_INVALID;
    if (status != CUTE_OK) {
        cute_fail(diag, CUTE_INVALID, &file,
                  count > 1 ? "'%s' is a prefix of several host functions"
                            : "no host function '%s' that launches a kernel",
                  name);
        if (names.length) cute_note(diag, NULL, "available: %s", cute_buffer_text(&names));
    }
    cute_buffer_release(&names);
    return status;
}

/* ---- variables ---- */

typedef struct name_list {
    const char **items;
    size_t count, capacity;
} name_list;

static bool add_name(cute_arena *arena, name_list *list, const char *name)
{
    if (!name || !cute_arena_more(arena, &list->items, list->count, &list->capacity, sizeof *list->items, 16))
        return false;
    list->items[list->count++] = name;
    return true;
}

static const char *variable_name_at(const void *context, size_t index)
{
    const name_list *list = context;
    return index < list->count ? list->items[index] : NULL;
}

/* Lists the data symbols of a cubin, or the module-scope declarations of PTX with a state space. */
static bool list_variables(cute_arena *arena, const cute_module *module, name_list *list)
{
    const cute_elf *elf = cute_module_elf(module);
    for (size_t i = 0; elf && i < elf->symbol_count; i++)
        if (elf->symbols[i].type == STT_OBJECT && *elf->symbols[i].name &&
            !add_name(arena, list, elf->symbols[i].name))
            return false;
    if (elf) return true;
    const char *at = module->ptx, *stop = at ? at + module->ptx_length : at;
    bool variable = false;
    for (size_t depth = 0; at && at < stop;) {
        cute_ptx_token t = cute_ptx_next(&at, stop);
        if (!t.length) break;
        if (cute_ptx_token_is(t, "{")) depth++;
        if (cute_ptx_token_is(t, "}") && depth) depth--;
        if (depth) continue;
        if (cute_ptx_token_is(t, ".global") || cute_ptx_token_is(t, ".const")) variable = true;
        if (!variable || !cute_ptx_token_is_name(t)) continue;
        variable = false;
        if (!add_name(arena, list, cute_arena_copy(arena, t.at, t.length))) return false;
    }
    return true;
}

cute_status cute_module_find_variable(cute_arena *arena, const cute_module *module, const char *name,
                                      const char **symbol, cute_diag *diag)
{
    const cute_place file = {.file = module->label};
    name_list list = {0};
    size_t matches = 0;
    *symbol = NULL;
    if (!list_variables(arena, module, &list)) return cute_fail_memory(diag);
    for (size_t i = 0; i < list.count && !*symbol; i++)
        if (strcmp(list.items[i], name) == 0) *symbol = list.items[i];
    if (*symbol) return CUTE_OK;
    for (size_t i = 0; i < list.count; i++)
        if (cute_symbol_matches(arena, list.items[i], name)) {
            matches++;
            *symbol = list.items[i];
        }
    if (matches == 1) return CUTE_OK;
    if (matches)
        return cute_fail(diag, CUTE_INVALID, &file, "ambiguous name '%s': %zu variables match", name,
                         matches);
    const char *near = cute_nearest(name, variable_name_at, &list);
    return cute_fail(diag, CUTE_INVALID, &file,
                     near ? "no variable '%s'; did you mean '%s'?" : "no variable '%s'", name, near);
}

bool cute_module_defines(const cute_module *module, const char *name)
{
    for (size_t i = 0; module && i < module->kernel_count; i++)
        for (size_t d = 0; d < module->kernels[i].define_count; d++)
            if (strcmp(module->kernels[i].define_names[d], name) == 0) return true;
    return false;
}
