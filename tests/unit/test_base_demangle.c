/* Mangled names: what c++filt of binutils prints of each. */
#include "lib/base/buffer.h"
#include "lib/base/text/demangle.h"
#include "tests/unit/test.h"

static cute_arena *arena;

static void test_names(void)
{
    static const struct {
        const char *symbol, *text;
    } cases[] = {
        {"_ZN2ns1gIfLi3EEEvPT_PNS_1SE", "void ns::g<float, 3>(float*, ns::S*)"},
        {"_Z3addii", "add(int, int)"},
        {"_Z6kernelPfPKfi", "kernel(float*, float const*, int)"},
        {"_ZN3foo3barEv", "foo::bar()"},
        {"_Z1fPFiiE", "f(int (*)(int))"},
        {"_Z1fRA10_i", "f(int (&) [10])"},
        {"_Z1fPA3_A4_f", "f(float (*) [3][4])"},
        {"_ZNK3foo3barEi", "foo::bar(int) const"},
        {"_Z1fIiEvT_", "void f<int>(int)"},
        {"_Z1fIJifEEvDpT_", "void f<int, float>(int, float)"},
        {"_Z1gIXadL_Z3addiiEEEvv", "void g<&(add(int, int))>()"},
        {"_ZN12_GLOBAL__N_11kEv", "(anonymous namespace)::k()"},
        {"_ZStplIcSt11char_traitsIcESaIcEESbIT_T0_T1_ERKS6_S8_",
         "std::basic_string<char, std::char_traits<char>, std::allocator<char> > std::operator+<char, "
         "std::char_traits<char>, std::allocator<char> >(std::basic_string<char, std::char_traits<char>, "
         "std::allocator<char> > const&, std::basic_string<char, std::char_traits<char>, "
         "std::allocator<char> > const&)"},
        {"_ZN7cutlass6KernelINS_4gemm6kernel4GemmIfLi4ELb1EEEEEvNT_6ParamsE",
         "void cutlass::Kernel<cutlass::gemm::kernel::Gemm<float, 4, true> "
         ">(cutlass::gemm::kernel::Gemm<float, 4, true>::Params)"},
        {"_Z1kILb0EEvPKcS1_", "void k<false>(char const*, char const*)"},
        {"_Z1kN2ns1TIiEE", "k(ns::T<int>)"},
        {"_Z1fILj3ELm4ELln5ELc65EEvv", "void f<3u, 4ul, -5l, (char)65>()"},
        {"_ZZ1fvENKUlvE_clEv", "f()::{lambda()#1}::operator()() const"},
        {"_ZN1AC2Ev", "A::A()"},
        {"_Z1fM1AFvvE", "f(void (A::*)())"},
        {"_ZN4cuda3std3__43fooEv", "cuda::std::__4::foo()"},
        {"_Z3tab", "tab"},
        {"_ZN2ns3tabE", "ns::tab"},
        {"_Z1fIN2ns1EEEvT_", "void f<ns::E>(ns::E)"},
        {"_Z1hILN2ns1EE1EEvv", "void h<(ns::E)1>()"},
        {"_Z1fDF16_", "f(_Float16)"},
        {"_Z1fP6__halfS0_PKS_", "f(__half*, __half*, __half const*)"},
        {"_Z4kernIL_Z3addiiEEvv", "void kern<add(int, int)>()"},
        {"_Z1fIJifEEvDpOT_", "void f<int, float>(int&&, float&&)"},
        {"_Z1fIJEEvDpT_", "void f<>()"},
        {"_Z1fIJifEEvDpRKT_i", "void f<int, float>(int const&, float const&, int)"},
        {"_Z1fM1Ai", "f(int A::*)"},
        {"_Z1fIiJfdEEvT_DpT0_", "void f<int, float, double>(int, float, double)"},
        {"_Z10gemm_naivePKfS0_Pfiii", "gemm_naive(float const*, float const*, float*, int, int, int)"},
        {"_ZZN2ns1fEiE5table", "ns::f(int)::table"},
        {"_ZN1A1BIiE1CIfEEvT_", "void A::B<int>::C<float>(float)"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {"_Z1fPPvS0_", "f(void**, void**)"},
        {"_Z1fPVKi", "f(int const volatile*)"},
        {"_Z1fRKN2ns1SE", "f(ns::S const&)"},
        {"_Z1fOi", "f(int&&)"},
        {"_Z1fz", "f(...)"},
        {"_Z1fPDv4_f", "f(float __vector(4)*)"},
        {"_Z1kIPFvvEEvT_", "void k<void (*)()>(void (*)())"},
        {"_Z4scanIN3cub9BlockScanIiLi128ELN2ns9AlgorithmE2EEEEvPi",
         "void scan<cub::BlockScan<int, 128, (ns::Algorithm)2> >(int*)"},
        {"_ZNK1AclEv", "A::operator()() const"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cute_demangled names;
        if (CHECK(cute_demangle(arena, cases[i].symbol, &names))) CHECK_TEXT(names.full, cases[i].text);
    }
}

static void test_parts(void)
{
    cute_demangled names;
    CHECK(cute_demangle(arena, "_ZN2ns1gIfLi3EEEvPT_PNS_1SE", &names));
    CHECK_TEXT(names.name, "ns::g<float, 3>");
    CHECK_TEXT(names.base, "ns::g");
    CHECK(cute_demangle(arena, "_Z3addii", &names));
    CHECK_TEXT(names.name, "add");
    CHECK_TEXT(names.base, "add");
    CHECK_TEXT(cute_symbol_name(arena, "_ZN12_GLOBAL__N_11kEv"), "(anonymous namespace)::k");
    CHECK_TEXT(cute_symbol_name(arena, "plain"), "plain");
}

static void test_matches(void)
{
    static const char symbol[] = "_ZN2ns1gIfLi3EEEvPT_PNS_1SE";
    const char *const same[] = {symbol,
                                "ns::g<float, 3>",
                                "ns::g<float,3>",
                                "ns::g",
                                "g",
                                "g<float,3>",
                                "void ns::g<float, 3>(float*, ns::S*)",
                                "void ns::g<float,3>(float *, ns::S *)"};
    const char *const other[] = {"ns", "gg", "ns::g<float, 4>", "ns::g<float", "", "S", "f"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK(cute_symbol_matches(arena, symbol, same[i]));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        CHECK(!cute_symbol_matches(arena, symbol, other[i]));
    CHECK(cute_symbol_matches(arena, "_ZN12_GLOBAL__N_11kEv", "k"));
}

/* Cut and changed at every place: no crash, and no text without an end. */
static void test_damaged(void)
{
    static const char *const symbols[] = {"_ZN7cutlass6KernelINS_4gemm6kernel4GemmIfLi4ELb1EEEEEvNT_6ParamsE",
                                          "_Z1fIJifEEvDpRKT_i", "_ZZ1fvENKUlvE_clEv", "_Z1fPA3_A4_f"};
    cute_demangled names;
    for (size_t n = 0; n < sizeof symbols / sizeof *symbols; n++)
        for (size_t i = 2; symbols[n][i]; i++)
            for (const char *c = "STIENJDpLZ_09FAMKP"; *c; c++) {
                cute_arena *own = cute_arena_create();
                char *text = cute_arena_copy(own, symbols[n], strlen(symbols[n]));
                text[i] = *c;
                cute_demangle(own, text, &names);
                text[i] = 0;
                cute_demangle(own, text, &names);
                cute_arena_destroy(own);
            }
    /* Each substitution twice as long as the one before; nesting without an end. */
    char deep[4000] = "_Z1f";
    memset(deep + 4, 'P', sizeof deep - 5);
    CHECK(!cute_demangle(arena, deep, &names));
    cute_buffer doubling = {0};
    cute_buffer_puts(&doubling, "_Z1f1aIS_S_E");
    for (int i = 0; i < 40; i++) cute_buffer_printf(&doubling, "1aIS%c_S%c_E", '0' + i % 10, '0' + i % 10);
    cute_demangle(arena, cute_buffer_text(&doubling), &names);
    cute_buffer_release(&doubling);
    CHECK(!cute_demangle(arena, "_Z", &names));
    CHECK(!cute_demangle(arena, "_ZTV1A", &names));
    CHECK(!cute_demangle(arena, "_Z1fi.part", &names));
    CHECK(!cute_demangle(arena, "main", &names));
    CHECK(!cute_demangle(arena, "", &names));
}

int main(void)
{
    arena = cute_arena_create();
    TEST("names are printed as c++filt prints them", test_names);
    TEST("a name has a part without parameters and one without template arguments", test_parts);
    TEST("a symbol is found by what people call it", test_matches);
    TEST("damaged names are refused", test_damaged);
    cute_arena_destroy(arena);
    return test_finish();
}
