/* Textures and surfaces: tex, tld4, txq, suld, sust, sured, suq. Objects are found by their handles; texels are read and written in the
 * memory that the object was made of, so that the checks see each access. */
#include "lib/emulator/program/decode.h"

#include "lib/base/list.h"

/* ---- objects ---- */

bool em_texture_add(em_textures *textures, const cute_texture *texture, uint64_t *handle)
{
    if (!cute_heap_more(&textures->list, textures->count, &textures->capacity, sizeof *textures->list, 8))
        return false;
    *handle = EM_TEXTURE_HANDLE + textures->count;
    textures->list[textures->count++] = (em_texture){*texture, true};
    return true;
}

static em_texture *find_texture(const em_textures *textures, uint64_t handle)
{
    uint64_t index = handle - EM_TEXTURE_HANDLE;
    return textures && index < textures->count ? &textures->list[index] : NULL;
}

void em_texture_remove(em_textures *textures, uint64_t handle)
{
    em_texture *found = find_texture(textures, handle);
    if (found) found->live = false;
}

/* ---- decoding ---- */

typedef enum texture_geometry {
    GEOMETRY_1D,
    GEOMETRY_2D,
    GEOMETRY_3D,
    GEOMETRY_A1D,
    GEOMETRY_A2D,
    GEOMETRY_CUBE,
    GEOMETRY_ACUBE,
    GEOMETRY_COUNT
} texture_geometry;

/* Coordinates in PTX, including the layer and, to make them 4, ones that are ignored. */
static const struct {
    uint8_t modifier, least, most; /* coordinates */
    cute_texture_kind kind;
} geometries[GEOMETRY_COUNT] = {
    [GEOMETRY_1D] = {EM_M_d1d, 1, 1, CUTE_TEXTURE_1D},
    [GEOMETRY_2D] = {EM_M_d2d, 2, 2, CUTE_TEXTURE_2D},
    [GEOMETRY_3D] = {EM_M_d3d, 3, 4, CUTE_TEXTURE_3D},
    [GEOMETRY_A1D] = {EM_M_a1d, 2, 2, CUTE_TEXTURE_1D_LAYERED},
    [GEOMETRY_A2D] = {EM_M_a2d, 3, 4, CUTE_TEXTURE_2D_LAYERED},
    [GEOMETRY_CUBE] = {EM_M_cube, 3, 4, CUTE_TEXTURE_CUBE},
    [GEOMETRY_ACUBE] = {EM_M_acube, 4, 4, CUTE_TEXTURE_CUBE_LAYERED},
};

static cute_status decode_geometry(em_parser *p, const em_raw *raw, em_inst *i)
{
    for (int g = 0; g < GEOMETRY_COUNT; g++)
        if (em_has(i, (em_modifier)geometries[g].modifier)) {
            i->texture.geometry = (uint8_t)g;
            i->space = EM_GLOBAL;
            return CUTE_OK;
        }
    return em_wrong(p, raw, "expected a geometry: .1d, .2d, .3d, .a1d, .a2d, .cube or .acube");
}

/* [handle, {coordinates}]: the layer is a .u32, the others of `type`. */
static cute_status decode_coordinates(em_parser *p, const em_raw *raw, em_inst *i, int index, ptx_type type)
{
    em_operand *o = &i->o[index];
    texture_geometry g = (texture_geometry)i->texture.geometry;
    CUTE_TRY(em_memory_operand(p, raw, i, index));
    if (o->list[0].bytes != 8) return em_wrong(p, raw, "expected a handle of 64 bits");
    int given = o->count == 2 ? o->list[1].count : 0;
    if (given < geometries[g].least || given > geometries[g].most)
        return em_wrong(p, raw, "expected %d coordinates, got %d", geometries[g].most, given);
    bool layered = num_texture_kind_get(geometries[g].kind)->layered;
    for (int n = 0; n < given; n++)
        CUTE_TRY(em_source_at(p, raw, &o->list[1].list[n], layered && n == 0 ? PTX_u32 : type));
    i->texture.memory = (uint8_t)index;
    return CUTE_OK;
}

static bool is_texel_type(ptx_type type)
{
    return type == PTX_u32 || type == PTX_s32 || type == PTX_f32;
}

cute_status em_decode_texture(em_parser *p, const em_raw *raw, em_inst *i)
{
    static const uint8_t components[] = {EM_M_r, EM_M_g, EM_M_b, EM_M_a};
    bool gather = i->opcode == EM_OP_tld4;
    int extra = em_has(i, EM_M_level) ? 1 : em_has(i, EM_M_grad) ? 2 : 0;
    CUTE_TRY(em_operands(p, raw, 2 + extra, 2 + extra));
    CUTE_TRY(decode_geometry(p, raw, i));
    if (gather && i->texture.geometry != GEOMETRY_2D) return em_wrong(p, raw, "tld4 is emulated for .2d");
    if (i->type_count != 2 || !is_texel_type((ptx_type)i->types[0]) ||
        (i->types[1] != PTX_f32 && i->types[1] != PTX_s32) || (gather && i->types[1] != PTX_f32))
        return em_wrong(p, raw, "expected texels of .u32, .s32 or .f32 and coordinates of %s",
                        gather ? ".f32" : ".s32 or .f32");
    if (!em_has(i, EM_M_v4) || i->o[0].kind != EM_O_VECTOR || i->o[0].count != 4)
        return em_wrong(p, raw, "expected .v4 and a list of 4 registers");
    for (int n = 0; n < 4; n++) {
        CUTE_TRY(em_target_at(p, raw, &i->o[0].list[n], (ptx_type)i->types[0], true));
        if (gather && em_has(i, (em_modifier)components[n])) i->texture.component = (uint8_t)n;
    }
    CUTE_TRY(decode_coordinates(p, raw, i, 1, (ptx_type)i->types[1]));
    if (em_has(i, EM_M_level)) CUTE_TRY(em_source(p, raw, i, 2, (ptx_type)i->types[1]));
    for (int n = 2; n < 2 + extra && em_has(i, EM_M_grad); n++) {
        if (i->o[n].kind != EM_O_VECTOR) return em_wrong(p, raw, "expected a list of gradients");
        for (int k = 0; k < i->o[n].count; k++) CUTE_TRY(em_source_at(p, raw, &i->o[n].list[k], PTX_f32));
    }
    i->run = em_run_texture;
    return CUTE_OK;
}

cute_status em_decode_surface(em_parser *p, const em_raw *raw, em_inst *i)
{
    bool load = i->opcode == EM_OP_suld, reduce = i->opcode == EM_OP_sured;
    int data = load ? 0 : 1, memory = load ? 1 : 0;
    uint32_t vector = em_has(i, EM_M_v4) ? 4 : em_has(i, EM_M_v2) ? 2 : 1, bytes = ptx_types[i->type].bytes;
    CUTE_TRY(em_operands(p, raw, 2, 2));
    CUTE_TRY(decode_geometry(p, raw, i));
    if (!i->type_count || bytes * vector > 16 || (!reduce && ptx_types[i->type].kind != PTX_BITS) ||
        (reduce && bytes < 4))
        return em_wrong(p, raw,
                        reduce ? "expected a type of 32 or 64 bits"
                               : "expected .b8, .b16, .b32 or .b64, and at most 16 bytes");
    if (!em_has(i, EM_M_trap) && !em_has(i, EM_M_clamp) && !em_has(i, EM_M_zero))
        return em_wrong(p, raw, "expected .trap, .clamp or .zero");
    em_operand *o = &i->o[data];
    if (o->kind == EM_O_VECTOR ? o->count != vector : vector != 1)
        return em_wrong(p, raw, "expected a list of %u registers", vector);
    em_operand *list = o->kind == EM_O_VECTOR ? o->list : o;
    for (uint32_t n = 0; n < vector; n++)
        CUTE_TRY(load ? em_target_at(p, raw, &list[n], (ptx_type)i->type, true)
                      : em_source_at(p, raw, &list[n], (ptx_type)i->type));
    i->texture.vector = (uint8_t)vector;
    i->run = em_run_surface;
    return decode_coordinates(p, raw, i, memory, PTX_s32);
}

cute_status em_decode_texture_query(em_parser *p, const em_raw *raw, em_inst *i)
{
    CUTE_TRY(em_operands(p, raw, 2, 3)); /* .level takes one more */
    CUTE_TRY(em_target(p, raw, i, 0, PTX_b32, true));
    if (i->count == 3) CUTE_TRY(em_source(p, raw, i, 2, PTX_b32));
    i->run = em_run_texture_query;
    return em_memory_operand(p, raw, i, 1);
}

/* ---- running ---- */

/* The object behind a lane's handle; NULL after a fault. */
static const cute_texture *texture_of(em_warp *w, const em_inst *i, const em_operand *memory, int lane)
{
    bool surface = i->opcode != EM_OP_tex && i->opcode != EM_OP_tld4 && i->opcode != EM_OP_txq;
    const char *wanted = surface ? "surface" : "texture", *name = em_instruction_name(i);
    uint64_t handle = em_address(w, memory, lane);
    const em_texture *found = find_texture(w->machine->launch->textures, handle);
    if (!found)
        em_fault(w, i, lane,
                 "%s uses 0x%llx, which is not the handle of a %s object; fix: bind the argument to one, in "
                 "launch.json {\"%s\": {\"buffer\": ..., \"kind\": ...}}",
                 name, (unsigned long long)handle, wanted, wanted);
    else if (!found->live)
        em_fault(w, i, lane, "%s uses a %s object that was destroyed", name,
                 found->texture.surface ? "surface" : "texture");
    else if (found->texture.surface != surface)
        em_fault(w, i, lane, "%s expects the handle of a %s object, got one of a %s object", name, wanted,
                 surface ? "texture" : "surface");
    else
        return &found->texture;
    return NULL;
}

static bool check_geometry(em_warp *w, const em_inst *i, int lane, const cute_texture *t)
{
    const num_texture_kind *wanted = num_texture_kind_get(geometries[i->texture.geometry].kind),
                           *got = num_texture_kind_get(t->kind);
    /* a cube is also a stack of 6 layers, for surfaces */
    if (wanted == got || (t->surface && i->texture.geometry == GEOMETRY_A2D && got->cube)) return true;
    em_fault(w, i, lane, "%s.%s of a %s %s: expected kind %s", em_instruction_name(i), wanted->ptx, got->name,
             t->surface ? "surface" : "texture", wanted->name);
    return false;
}

/* The rules of a fetch, which hardware does not report. */
static bool check_fetch(em_warp *w, const em_inst *i, int lane, const cute_texture *t)
{
    bool integers = i->types[1] == PTX_s32, gives_floats = num_texture_is_float(t);
    const char *name = em_instruction_name(i);
    if (!check_geometry(w, i, lane, t)) return false;
    if (gives_floats != (i->types[0] == PTX_f32))
        em_fault(w, i, lane, "%s reads .%s, but texels of %s%s are %s: expected %s", name,
                 ptx_types[i->types[0]].name, num_texture_format_get(t->format)->name,
                 gives_floats && t->normalized_float ? " as normalized numbers" : "",
                 gives_floats ? "floating-point numbers" : "integers",
                 gives_floats ? ".v4.f32" : ".v4.s32 or .v4.u32");
    else if (integers && t->normalized)
        em_fault(
            w, i, lane,
            "%s has integer coordinates, but the texture has normalized ones: expected .f32 from 0 to 1, or "
            "an object with unnormalized coordinates",
            name);
    else if (!integers && t->memory == CUTE_TEXTURE_LINEAR)
        em_fault(
            w, i, lane,
            "%s has floating-point coordinates, but linear memory is read by texel numbers: expected .s32, "
            "or a texture in an array",
            name);
    else if (i->opcode == EM_OP_tld4 && !t->gather)
        em_fault(w, i, lane, "tld4 expects a texture that was made for it: expected \"gather\": true");
    else
        return true;
    return false;
}

/* False after a fault. */
static bool read_texels(em_warp *w, const em_inst *i, int lane, const cute_texture *t, const num_fetch *fetch,
                        uint32_t (*texels)[4])
{
    uint32_t bytes = (uint32_t)num_texel_bytes(t);
    for (int n = 0; n < fetch->count; n++) {
        const num_texel *texel = &fetch->texels[n];
        const uint8_t *from =
            texel->border ? NULL : em_locate(w, i, lane, EM_GLOBAL, t->address + texel->at, bytes, EM_READ);
        if (!from && !texel->border) return false;
        if (from) em_count_bytes(w->machine, i, EM_GLOBAL, false, bytes);
        num_texel_read(t, from, texels[n]);
    }
    return true;
}

static bool fetch_lane(em_warp *w, const em_inst *i, int lane)
{
    const cute_texture *t = texture_of(w, i, &i->o[1], lane);
    if (!t || !check_fetch(w, i, lane, t)) return false;
    const em_operand *given = i->o[1].list[1].list;
    const num_texture_kind *kind = num_texture_kind_get(t->kind);
    uint32_t layer = kind->layered ? (uint32_t)em_get(w, given, lane) : 0, bits[3] = {0};
    uint32_t texels[NUM_TEXELS][4], out[4] = {0};
    float real[3];
    int32_t numbers[3];
    num_fetch fetch;
    for (int n = 0; n < kind->coordinates; n++)
        bits[n] = (uint32_t)em_get(w, &given[n + kind->layered], lane);
    memcpy(real, bits, sizeof real);
    memcpy(numbers, bits, sizeof numbers);
    if (i->opcode == EM_OP_tld4)
        num_texture_gather(t, real, &fetch);
    else if (i->types[1] == PTX_s32)
        num_texture_fetch_texel(t, numbers, layer, &fetch);
    else
        num_texture_fetch(t, real, layer, &fetch);
    if (!read_texels(w, i, lane, t, &fetch, texels)) return false;
    if (i->opcode == EM_OP_tld4)
        for (int n = 0; n < 4; n++) out[n] = texels[n][i->texture.component];
    else
        num_texture_blend(&fetch, (const uint32_t(*)[4])texels, out);
    for (int n = 0; n < 4; n++) em_set(w, &i->o[0].list[n], lane, out[n]);
    return true;
}

void em_run_texture(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!fetch_lane(w, i, __builtin_ctz(rest))) return;
}

/* The byte of a surface that a lane accesses: x is in bytes, y and z are numbers. False: outside, and .zero or a fault. */
static bool surface_offset(em_warp *w, const em_inst *i, int lane, const cute_texture *t, uint32_t bytes,
                           uint64_t *at)
{
    const em_operand *given = i->o[i->texture.memory].list[1].list;
    const num_texture_kind *kind = num_texture_kind_get(geometries[i->texture.geometry].kind);
    int64_t c[3] = {0};
    int64_t most[3] = {(int64_t)(num_texture_row(t) - bytes), (int64_t)t->height - 1, (int64_t)t->depth - 1};
    static const char *const names[] = {"byte", "row", "slice"};
    for (int n = 0; n < kind->dimensions; n++) c[n] = (int32_t)em_get(w, &given[n + kind->layered], lane);
    if (kind->layered) c[2] = (int64_t)(uint32_t)em_get(w, given, lane);
    if (c[0] % bytes) {
        em_fault(w, i, lane, "misaligned %s of %u bytes: byte %lld of the row, alignment %u",
                 em_instruction_name(i), bytes, (long long)c[0], bytes);
        return false;
    }
    for (int n = 0; n < 3; n++) {
        if (c[n] >= 0 && c[n] <= most[n]) continue;
        if (em_has(i, EM_M_zero)) return false;
        if (em_has(i, EM_M_trap)) {
            em_fault(w, i, lane, "%s.trap accesses %s %lld of a %s surface: expected 0 to %lld",
                     em_instruction_name(i), n == 2 && kind->layered ? "layer" : names[n], (long long)c[n],
                     num_texture_kind_get(t->kind)->name, (long long)most[n]);
            return false;
        }
        c[n] = c[n] < 0 ? 0 : most[n];
    }
    *at = (uint64_t)c[0] + (uint64_t)c[1] * t->pitch + (uint64_t)c[2] * t->slice;
    return true;
}

static bool surface_lane(em_warp *w, const em_inst *i, int lane)
{
    bool load = i->opcode == EM_OP_suld, reduce = i->opcode == EM_OP_sured;
    const em_operand *o = &i->o[load ? 0 : 1], *list = o->kind == EM_O_VECTOR ? o->list : o;
    const cute_texture *t = texture_of(w, i, &i->o[i->texture.memory], lane);
    uint32_t element = ptx_types[i->type].bytes, bytes = element * i->texture.vector;
    uint64_t at;
    uint8_t *memory = NULL;
    if (!t || !check_geometry(w, i, lane, t)) return false;
    if (bytes > num_texture_row(t)) {
        em_fault(w, i, lane, "%s of %u bytes in a surface with rows of %llu", em_instruction_name(i), bytes,
                 (unsigned long long)num_texture_row(t));
        return false;
    }
    if (surface_offset(w, i, lane, t, bytes, &at)) {
        em_access access = load ? EM_READ : reduce ? EM_ATOMIC : EM_WRITE;
        memory = em_locate(w, i, lane, EM_GLOBAL, t->address + at, bytes, access);
        if (!memory) return false;
        em_count_bytes(w->machine, i, EM_GLOBAL, !load, bytes);
    } else if (w->stop == EM_FAULT) {
        return false;
    }
    for (uint32_t n = 0; n < i->texture.vector; n++) {
        uint64_t value = load ? 0 : em_get(w, &list[n], lane);
        if (load && memory) memcpy(&value, memory + n * element, element);
        if (load)
            em_set(w, &list[n], lane, value);
        else if (reduce && memory)
            em_reduce_atomically(w, i, memory, value);
        else if (memory)
            memcpy(memory + n * element, &value, element);
    }
    return true;
}

void em_run_surface(em_warp *w, const em_inst *i, uint32_t mask)
{
    if (i->opcode != EM_OP_suld) w->machine->changes++;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!surface_lane(w, i, __builtin_ctz(rest))) return;
}

void em_run_texture_query(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        const cute_texture *t = texture_of(w, i, &i->o[1], l);
        if (!t) return;
        const num_texture_kind *kind = num_texture_kind_get(t->kind);
        uint64_t layers = kind->cube ? t->depth / 6 : t->depth;
        uint64_t value = em_has(i, EM_M_width)        ? t->width
                         : em_has(i, EM_M_height)     ? (kind->dimensions > 1 ? t->height : 0)
                         : em_has(i, EM_M_depth)      ? (kind->dimensions > 2 ? t->depth : 0)
                         : em_has(i, EM_M_array_size) ? (kind->layered ? layers : 0)
                                                      : 1; /* mipmap level */
        em_set(w, &i->o[0], l, value);
    }
}
