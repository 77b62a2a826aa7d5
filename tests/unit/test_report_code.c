/* Machine code as data: listings written for these tests, in nvdisasm's form. */
#include <string.h>

#include "lib/code/function.h"
#include "lib/report/code/view.h"
#include "tests/unit/test.h"

#define SECTION(name) "\t.section\t.text." name ",\"ax\",@progbits\n"

static cute_arena *arena;

static cute_code_function *parse(const char *text)
{
    static cute_code code;
    CHECK(cute_code_parse(arena, text, strlen(text), &code, NULL) == CUTE_OK);
    CHECK(code.count == 1);
    return code.functions;
}

/* "R4-7 P0 | UR2": what is written, a bar, what is read. */
static void check_uses(const char *text, const char *expected)
{
    cute_code_instruction i = {.text = text};
    char said[256] = "";
    CHECK(cute_code_decode(arena, &i));
    for (int written = 1; written >= 0; written--) {
        for (unsigned k = 0; k < i.use_count; k++) {
            const cute_code_use *u = &i.uses[k];
            char one[32];
            if (u->written != written) continue;
            if (u->count > 1)
                snprintf(one, sizeof one, "%s%u-%u ", cute_register_class_name[u->class], u->first,
                         u->first + u->count - 1u);
            else
                snprintf(one, sizeof one, "%s%u ", cute_register_class_name[u->class], u->first);
            strcat(said, one);
        }
        if (written) strcat(said, "| ");
    }
    size_t length = strlen(said);
    if (length && said[length - 1] == ' ') said[length - 1] = 0;
    if (strcmp(said, expected) != 0) printf("# %s: %s, not %s\n", text, said, expected);
    CHECK(strcmp(said, expected) == 0);
}

static void test_uses(void)
{
    check_uses("IADD3 R6, P0, R9, UR4, RZ ;", "R6 P0 | R9 UR4");
    check_uses("IADD3.X R7, R3, R5, RZ, P0, !PT ;", "R7 | R3 R5 P0");
    check_uses("@!P1 IMAD.WIDE R4, R7, 0x4, R4 ;", "R4-5 | P1 R7 R4-5");
    check_uses("IMAD.HI.U32 R3, R3, R7, R2 ;", "R3 | R3 R7 R2-3");
    check_uses("ISETP.NE.AND P0, PT, R11.reuse, RZ, P2 ;", "P0 | R11 P2");
    check_uses("LOP3.LUT P0, RZ, R1, 0x3, RZ, 0xc0, !PT ;", "P0 | R1");
    check_uses("SEL R0, R1, R2, !P3 ;", "R0 | R1 R2 P3");
    check_uses("LDG.E.128 R8, desc[UR4][R2.64+0x10] ;", "R8-11 | UR4-5 R2-3");
    check_uses("@P0 STG.E.64 desc[UR4][R4.64], R6 ;", "| P0 UR4-5 R4-5 R6-7");
    check_uses("LDS.U8 R3, [R2+UR4+0x10] ;", "R3 | R2 UR4");
    check_uses("ATOMG.E.CAS.64.STRONG.GPU PT, R8, [R6], R8, R10 ;", "R8-9 | R6-7 R8-9 R10-11");
    check_uses("LDC.64 R4, c[0x0][R6+0x240] ;", "R4-5 | R6");
    check_uses("DFMA R10, R8, -R4, 1 ;", "R10-11 | R8-9 R4-5");
    check_uses("F2F.F32.F64 R6, R4 ;", "R6 | R4-5");
    check_uses("F2F.F64.F16 R2, R2 ;", "R2-3 | R2");
    check_uses("I2F.F64.S64 R2, R4 ;", "R2-3 | R4-5");
    check_uses("HMMA.16816.F32.BF16 R4, R8, R12, R4 ;", "R4-7 | R8-11 R12-13 R4-7");
    check_uses("HMMA.16816.F16 R4, R8, R12, RZ ;", "R4-5 | R8-11 R12-13");
    check_uses("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4 ;", "R4-7 | R8-11 R12-13 R4-7");
    check_uses("DMMA.8x8x4 R4, R8, R10, R4 ;", "R4-7 | R8-9 R10-11 R4-7");
    check_uses("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR20], R24, UP1 ;", "R24-151 | UR20-23 R24-151 UP1");
    check_uses("HGMMA.64x64x16.F32 R24, R4, gdesc[UR8].tnspB, R24, gsb0 ;", "R24-55 | R4-7 UR8-9 R24-55");
    check_uses("LDSM.16.M88.4 R16, [R3+0x20] ;", "R16-19 | R3");
    check_uses("STSM.16.M88.2 [R3], R16 ;", "| R3 R16-17");
    check_uses("VOTE.ANY R4, PT, P0 ;", "R4 | P0");
    check_uses("ELECT P0, URZ, PT ;", "P0 |");
    check_uses("PLOP3.LUT P0, PT, P1, P2, UP0, 0x80, 0x0 ;", "P0 | P1 P2 UP0");
    check_uses("R2UR UR10, R2 ;", "UR10 | R2");
    check_uses("SYNCS.EXCH.64 URZ, [UR9+0x38000], UR4 ;", "| UR9 UR4-5");
    check_uses("SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR14+0x38020], R3 ;", "P2 | UR14 R3");
    check_uses("UTMALDG.2D [UR16], [UR6] ;", "| UR16-19 UR6-7");
    check_uses("UTMALDG.3D.MULTICAST [UR12], [UR22], UR28 ;", "| UR12-16 UR22-23 UR28");
    check_uses("UTMASTG.2D [UR12], [UR6] ;", "| UR12-14 UR6-7");
    check_uses("UBLKCP.G.S [UR4], [UR8], UR6 ;", "| UR4-5 UR8 UR6");
    check_uses("UTMACCTL.PF [UR18] ;", "| UR18-19");
    check_uses("UIADD3 UR7, -UR6, UR12, URZ ;", "UR7 | UR6 UR12");
    check_uses("CS2R R2, SRZ ;", "R2-3 |");
    check_uses("P2R R0, PR, RZ, 0x7f ;", "R0 | P0-6");
    check_uses("RET.REL.NODEC R8 `(k) ;", "| R8-9");
    check_uses("FROBNICATE.NEW R3, P1, R5, R300, Rx, P9 ;", "R3 P1 | R5");
    check_uses("", "|");
    check_uses("@", "|");
}

static void test_decode(void)
{
    static const struct {
        const char *text, *class, *space;
        unsigned width;
    } rows[] = {
        {"LDG.E.U16.CONSTANT R7, desc[UR4][R2.64] ;", "load.global", "global", 2},
        {"STL.128 [R1+0x10], R4 ;", "store.local", "local", 16},
        {"LDS.64 R4, [UR4] ;", "load.shared", "shared", 8},
        {"LDGSTS.E.BYPASS.128 [R5], desc[UR6][R2.64] ;", "async copy", "global", 16},
        {"UTMALDG.3D [UR16], [UR6] ;", "async copy", "global", 0},
        {"ULOP3.LUT UR6, UR4, 0xff, URZ, 0xc0, !UPT ;", "logic", "none", 0},
        {"FROBNICATE R1, R2 ;", "other", "none", 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        cute_code_instruction i = {.text = rows[k].text};
        CHECK(cute_code_decode(arena, &i));
        CHECK(strcmp(cute_code_class_table[i.class].name, rows[k].class) == 0);
        CHECK(strcmp(cute_code_space_name[i.space], rows[k].space) == 0);
        CHECK(i.width == rows[k].width);
    }
}

/* Two loops, one in the other, and padding that nothing reaches. */
static const char nested[] = SECTION("k") "k:\n.text.k:\n"
                                          "        /*0000*/  MOV R0, RZ ;\n"
                                          ".L_x_1:\n"
                                          "        /*0010*/  MOV R2, RZ ;\n"
                                          ".L_x_2:\n"
                                          "        /*0020*/  IADD3 R2, R2, 0x1, RZ ;\n"
                                          "        /*0030*/  ISETP.LT.AND P0, PT, R2, R4, PT ;\n"
                                          "        /*0040*/  @P0 BRA `(.L_x_2) ;\n"
                                          "        /*0050*/  IADD3 R0, R0, R2, RZ ;\n"
                                          "        /*0060*/  ISETP.LT.AND P0, PT, R0, R5, PT ;\n"
                                          "        /*0070*/  @P0 BRA `(.L_x_1) ;\n"
                                          "        /*0080*/  EXIT ;\n"
                                          ".L_x_3:\n"
                                          "        /*0090*/  BRA `(.L_x_3);\n"
                                          "        /*00a0*/  NOP;\n";

static void test_flow(void)
{
    const cute_code_function *f = parse(nested);
    CHECK(f->count == 11 && f->block_count == 7);
    CHECK(f->loop_count == 2);
    CHECK(f->loops[0].header == 1 && f->loops[0].depth == 1 && f->loops[0].parent == CUTE_NO_LOOP);
    CHECK(f->loops[1].header == 2 && f->loops[1].depth == 2 && f->loops[1].parent == 0);
    CHECK(f->loops[0].block_count == 3 && f->loops[0].instructions == 7 && !f->loops[0].innermost);
    CHECK(f->loops[1].block_count == 1 && f->loops[1].innermost);
    CHECK(f->blocks[2].dominator == 1 && f->blocks[3].dominator == 2 && f->blocks[4].dominator == 3);
    CHECK(f->blocks[4].leaves && !f->blocks[5].reached && !f->blocks[6].reached);
    CHECK(f->irreducible == 0);
    /* R0, R2, R4 and R5 in the inner loop; P0 where it is set and read. */
    CHECK(f->instructions[2].live[CUTE_REGISTER_R] == 4 && f->instructions[2].live[CUTE_REGISTER_P] == 0);
    CHECK(f->instructions[3].live[CUTE_REGISTER_P] == 1);
    CHECK(f->instructions[0].live[CUTE_REGISTER_R] == 3); /* R2 is written before it is read */
    CHECK(f->peak[CUTE_REGISTER_R] == 4);
}

static void test_irreducible(void)
{
    const cute_code_function *f = parse(SECTION("k") "/*0000*/ @P0 BRA `(.L_b) ;\n"
                                                     ".L_a:\n/*0010*/ NOP ;\n"
                                                     ".L_b:\n/*0020*/ @P1 BRA `(.L_a) ;\n"
                                                     "/*0030*/ EXIT ;\n");
    CHECK(f->loop_count == 0 && f->irreducible == 1);
}

static void test_calls(void)
{
    const cute_code_function *f = parse(SECTION("k") "/*0000*/ MOV R4, 0x20 ;\n"
                                                     "/*0010*/ CALL.REL.NOINC `($half) ;\n"
                                                     "/*0020*/ STG.E [R6.64], R10 ;\n"
                                                     "/*0030*/ EXIT ;\n"
                                                     "$half:\n"
                                                     "/*0040*/ FADD R10, R8, R9 ;\n"
                                                     "/*0050*/ RET.REL.NODEC R4 `(k) ;\n");
    CHECK(f->block_count == 3 && f->blocks[2].reached);
    CHECK(f->blocks[2].edge_count == 1 && f->blocks[2].edges[0].to == 1 &&
          f->blocks[2].edges[0].kind == CUTE_EDGE_RETURN);
    CHECK(f->blocks[0].edge_count == 2);
    /* The address of the store lives through the call. */
    CHECK(f->instructions[4].live[CUTE_REGISTER_R] == 7); /* R4-5, R6-7, R8, R9, R10 */
}

static void test_tables(void)
{
    const cute_code_function *f =
        parse(SECTION("k") "/*0000*/ BRX R2 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2,.L_x_9\"*) ;\n"
                           ".L_x_1:\n/*0010*/ EXIT ;\n.L_x_2:\n/*0020*/ EXIT ;\n");
    CHECK(f->blocks[0].edge_count == 2 && f->blocks[0].leaves);
    CHECK(f->blocks[1].reached && f->blocks[2].reached);
}

static void test_places(void)
{
    const cute_code_function *f =
        parse(SECTION("k") "\t//## File \"/a.cu\", line 5 inlined at \"/b.cu\", line 12\n"
                           "\t//## File \"/b.cu\", line 12\n"
                           "/*0000*/ MOV R0, R1 ;    /* 0x0000000402037981 */\n"
                           "                         /* 0x001ea2000c1e1900 */\n"
                           "\t//## File \"/b.cu\", line 13\n"
                           "/*0010*/ EXIT ;\n");
    const cute_code_instruction *i = f->instructions;
    CHECK(f->count == 2 && i[0].place && strcmp(i[0].place->file, "/a.cu") == 0 && i[0].place->line == 5);
    CHECK(i[0].place->caller && i[0].place->caller->line == 12 && !i[0].place->caller->caller);
    CHECK(i[1].place && i[1].place->line == 13 && !i[1].place->caller);
    CHECK(i[0].encoded && i[0].encoding[0] == 0x0000000402037981 && i[0].encoding[1] == 0x001ea2000c1e1900);
    CHECK(strcmp(i[0].text, "MOV R0, R1 ;") == 0 && !i[1].encoded);
}

static void test_figures(void)
{
    cute_code_figures c;
    const cute_code_function *f = parse(nested);
    CHECK(cute_code_count(arena, f, &c));
    CHECK(c.instructions == 9 && c.unreached == 2 && c.in_loops == 7);
    CHECK(c.classes[CUTE_CODE_INTEGER] == 2 && c.classes[CUTE_CODE_COMPARE] == 2);
    CHECK(c.opcode_count == 5 && c.access_count == 0);
    /* IADD3 feeds ISETP, which the branch reads: three in a row, and IADD3 is carried. */
    CHECK(c.blocks[2].instructions == 3 && c.blocks[2].length == 3 && c.blocks[2].ilp == 1);
    CHECK(c.loops[1].carried == cute_code_class_table[CUTE_CODE_INTEGER].latency);
    CHECK(c.loops[1].cycles == cute_code_class_table[CUTE_CODE_INTEGER].latency +
                                   cute_code_class_table[CUTE_CODE_COMPARE].latency +
                                   cute_code_class_table[CUTE_CODE_CONTROL].latency);
}

static void test_views(void)
{
    cute_code code;
    cute_buffer out = {0};
    CHECK(cute_code_parse(arena, nested, strlen(nested), &code, NULL) == CUTE_OK);
    cute_code_print_sass(&code, NULL, &(cute_sass_options){.hot = true}, &out);
    const char *inner = strstr(cute_buffer_text(&out), "depth 2"),
               *outer = strstr(cute_buffer_text(&out), "depth 1");
    CHECK(inner && outer && inner < outer && !strstr(cute_buffer_text(&out), "EXIT"));
    cute_buffer_release(&out);
    out = (cute_buffer){0};
    cute_code_dot_cfg(&code, NULL, &out);
    CHECK(strstr(cute_buffer_text(&out), "f0b2 -> f0b2 [color=blue];"));
    cute_buffer_release(&out);
    out = (cute_buffer){0};
    cute_code_svg_cfg(&code, "no such function", &out);
    CHECK(strstr(cute_buffer_text(&out), "</svg>") && !strstr(cute_buffer_text(&out), "B0"));
    cute_buffer_release(&out);
}

/* Up to sm_90 there are UR0 to UR62, from sm_100 on UR0 to UR254; no text names more than there is room for. */
static void test_uniform(void)
{
    cute_code_function *f = parse(
        SECTION("k") "        /*0000*/                   LDCU UR254, c[0x0][0x380] ;\n"
                     "        /*0010*/                   UISETP.NE.U32.AND UP6, UPT, UR254, UR161, UPT ;\n"
                     "        /*0020*/                   UIADD3 UR999, UPT, UPT, UR255, UR256, UP9 ;\n"
                     "        /*0030*/                   EXIT ;\n");
    ssa_function x = {.arch = 100};
    CHECK_INT(f->peak[CUTE_REGISTER_UR], 2);
    CHECK_INT(f->peak[CUTE_REGISTER_UP], 1);
    CHECK(ssa_from_sass(arena, f, &x) && ssa_analyse(&x));
    bool used = false;
    for (uint32_t u = 0; u < x.insts[1].use_count; u++)
        used |= x.insts[1].uses[u].kind == SSA_VAR && x.insts[1].uses[u].value == x.insts[0].first_value;
    CHECK(x.insts[0].def_count == 1 && used);
}

int main(void)
{
    arena = cute_arena_create();
    TEST("an instruction's registers read and written, with their widths", test_uses);
    TEST("classes, spaces and widths; what is unknown is other", test_decode);
    TEST("blocks, dominators, nested loops and live registers", test_flow);
    TEST("uniform registers of Blackwell, up to UR254", test_uniform);
    TEST("a cycle with two entries is no loop", test_irreducible);
    TEST("calls go to functions inside, which return behind them", test_calls);
    TEST("a branch table's targets are edges", test_tables);
    TEST("places with what they were inlined into, and encodings", test_places);
    TEST("chains of dependences in blocks and loops", test_figures);
    TEST("hot loops, dot and svg", test_views);
    cute_arena_destroy(arena);
    return test_finish();
}
