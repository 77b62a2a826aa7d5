/* Decoding of instructions: helpers with which the families (integer.c, float.c, memory.c, ...) fill an
 * em_inst from a parsed instruction, and their entry points, which instructions.def names. */
#ifndef CUTE_LIB_EMULATOR_PROGRAM_DECODE_H
#define CUTE_LIB_EMULATOR_PROGRAM_DECODE_H

#include "lib/emulator/machine/machine.h"
#include "lib/emulator/program/parser.h"
#include "lib/numeric/number.h"

typedef cute_status (*em_decoder)(em_parser *p, const em_raw *raw, em_inst *i);

/* A row of instructions.def, which explains the columns. */
typedef struct em_row {
    const char *name;
    em_decoder decode;
    const char *meaning, *modifiers, *types, *needs;
    const char *absent, *why;
    em_lane_function lane;
    uint8_t sources;
    bool word_result, word_rest, has_real, carry_in, shape;
    uint8_t real; /* num_op, if has_real */
    uint8_t class, control, results, dataflow;
} em_row;
extern const em_row em_rows[EM_OPCODES];

#define OP(id, decoder, ...) cute_status decoder(em_parser *p, const em_raw *raw, em_inst *i);
#define LANE(id, decoder, ...)                                                                               \
    OP(id, decoder, __VA_ARGS__)                                                                             \
    uint64_t em_lane_##id(const em_inst *i, uint64_t a, uint64_t b, uint64_t c);
#include "lib/emulator/program/instructions.def"

/* Decodes a memory operand, and i->space from the modifiers. memory.c */
cute_status em_space_operand(em_parser *p, const em_raw *raw, em_inst *i, int memory);
/* st.async and red.async, barrier.cluster. */
cute_status em_decode_store_async(em_parser *p, const em_raw *raw, em_inst *i);
cute_status em_decode_red_async(em_parser *p, const em_raw *raw, em_inst *i);
/* Executors of textures and surfaces; the update of sured, whose type and operation are those of red. */
void em_run_texture(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_surface(em_warp *w, const em_inst *i, uint32_t mask);
void em_run_texture_query(em_warp *w, const em_inst *i, uint32_t mask);
void em_reduce_atomically(em_warp *w, const em_inst *i, uint8_t *memory, uint64_t value);
cute_status em_decode_barrier_cluster(em_parser *p, const em_raw *raw, em_inst *i);
/* Translates modifiers to number.h. float.c */
num_round em_rounding(const em_inst *i);
unsigned em_flags(const em_inst *i);
static inline num_format em_format_of(ptx_type type)
{
    return (num_format)ptx_types[type].format;
}
/* Rejects invalid PTX that could still be executed. rules.c */
cute_status em_check_rules(em_parser *p, const em_raw *raw, const em_inst *i);
/* Whether a blank-separated list contains a word. */
bool em_stands_in(const char *list, const char *word, uint32_t length);
/* Checks the number of operands. */
cute_status em_operands(em_parser *p, const em_raw *raw, int least, int most);
/* Turns i->o[index] into a value of `type`: an immediate or address becomes a constant, a register has to
 * have the type's size. */
cute_status em_source(em_parser *p, const em_raw *raw, em_inst *i, int index, ptx_type type);
/* The same for any operand, such as an element of a list. */
cute_status em_source_at(em_parser *p, const em_raw *raw, em_operand *o, ptx_type type);
/* Turns array[index] into an address of `bytes` bytes, for mov and cvta, or into the memory operand of ld or
 * st. Other instructions reject it. */
cute_status em_element(em_parser *p, const em_raw *raw, em_operand *o, uint8_t bytes);
cute_status em_element_memory(em_parser *p, const em_raw *raw, em_operand *o);
/* i->o[index] has to be a register of the type's size ('_' if `optional`). */
cute_status em_target(em_parser *p, const em_raw *raw, em_inst *i, int index, ptx_type type, bool optional);
cute_status em_target_at(em_parser *p, const em_raw *raw, em_operand *o, ptx_type type, bool optional);
/* i->o[index] has to be [address]; its base becomes a value of 32 or 64 bits. */
cute_status em_memory_operand(em_parser *p, const em_raw *raw, em_inst *i, int index);
cute_status em_predicate(em_parser *p, const em_raw *raw, em_inst *i, int index, bool target);
/* An immediate integer, or CUTE_INVALID. */
cute_status em_number(em_parser *p, const em_raw *raw, em_inst *i, int index, int64_t *out);
cute_status em_wrong(em_parser *p, const em_raw *raw, const char *format, ...) CUTE_PRINTF(3, 4);
/* Reports an unknown instruction or an unsupported combination of types. */
cute_status em_unknown(em_parser *p, const em_raw *raw);
/* Records that the parsed function calls another one or takes its address. */
cute_status em_note_callee(em_parser *p, em_function *callee);

#endif
