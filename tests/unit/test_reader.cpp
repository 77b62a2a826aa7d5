// What the reader of operations leans on in MLIR: an error that names the type of a value as an argument, and where the
// value is defined in a note. With another MLIR these fail first.
#include "lib/ir/text/reading.h"
#include "tests/unit/test.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace
{
// What `probe.use %x` found.
struct Found {
    bool ok = false;
    std::string type;
    std::pair<unsigned, unsigned> place;
};
std::vector<Found> found;
std::string said;

ParseResult readUse(OpAsmParser &parser, OperationState &)
{
    OpAsmParser::UnresolvedOperand operand;
    if (parser.parseOperand(operand)) return failure();
    Found one;
    FailureOr<Type> type = cute::typeOf(parser, operand);
    if ((one.ok = succeeded(type))) {
        llvm::raw_string_ostream(one.type) << *type;
        one.place = cute::definitionOf(parser, operand);
    }
    found.push_back(one);
    return success(one.ok);
}

// A dialect that reads `probe.use` and nothing else.
class Probe : public Dialect
{
  public:
    explicit Probe(MLIRContext *context) : Dialect("probe", context, TypeID::get<Probe>())
    {
        allowUnknownOperations();
    }
    static StringRef getDialectNamespace() { return "probe"; }
    std::optional<ParseOpHook> getParseOperationHook(StringRef) const override { return readUse; }
};

// The diagnostics of reading `text`, an error and its notes a line.
const char *read(const char *text)
{
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<Probe, cute::CuteDialect>();
    context.allowUnregisteredDialects();
    said.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
        said += d.str() + "\n";
        return success();
    });
    found.clear();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));
    return said.c_str();
}
} // namespace

static void test_type_of_results(void)
{
    CHECK_TEXT(read("%0 = \"a.b\"() : () -> f32\n"
                    "  %x:2 = \"a.b\"() : () -> (i1, tuple<i32, !cute.shape<\"(4,?)\">>) loc(\"elsewhere\")\n"
                    "probe.use %0\nprobe.use %x#1\nprobe.use %x\n"),
               "");
    if (!CHECK(found.size() == 3)) return;
    CHECK_TEXT(found[0].type.c_str(), "f32");
    CHECK_TEXT(found[1].type.c_str(), "tuple<i32, !cute.shape<\"(4,?)\">>");
    CHECK_TEXT(found[2].type.c_str(), "i1");
    CHECK_INT(found[0].place.first, 1);
    CHECK_INT(found[1].place.first, 2);
    CHECK_INT(found[1].place.second, 3);
}

static void test_type_of_arguments(void)
{
    CHECK_TEXT(read("\"a.b\"() ({\n^b(%a: () -> (),\n   %b: index):\n  probe.use %a\n  probe.use %b\n}) : () "
                    "-> ()\n"),
               "");
    if (!CHECK(found.size() == 2)) return;
    CHECK_TEXT(found[0].type.c_str(), "() -> ()");
    CHECK_TEXT(found[1].type.c_str(), "index");
    CHECK_INT(found[1].place.first, 3);
    CHECK_INT(found[1].place.second, 4);
}

static void test_type_of_another_function(void)
{
    CHECK_TEXT(read("\"a.b\"() ({\n  %a = \"a.b\"() : () -> i1\n  probe.use %a\n}) : () -> ()\n"
                    "\"a.b\"() ({\n  %a = \"a.b\"() : () -> i2\n  probe.use %a\n}) : () -> ()\n"),
               "");
    if (!CHECK(found.size() == 2)) return;
    CHECK_TEXT(found[0].type.c_str(), "i1");
    CHECK_TEXT(found[1].type.c_str(), "i2");
}

static void test_undefined(void)
{
    CHECK_TEXT(
        read("probe.use %a\n"),
        "custom op 'probe.use' '%a' is not defined above: write the types of this operation explicitly\n");
    CHECK(found.size() == 1 && !found[0].ok);
}

static void test_defined_below(void)
{
    CHECK_TEXT(
        read("\"a.b\"() ({\n  probe.use %a\n  %a = \"a.b\"() : () -> i1\n}) : () -> ()\n"),
        "custom op 'probe.use' '%a' is not defined above: write the types of this operation explicitly\n");
}

static void test_wrong_number(void)
{
    CHECK_TEXT(read("%a = \"a.b\"() : () -> i1\nprobe.use %a#1\n"), "reference to invalid result number\n");
    CHECK(found.size() == 1 && !found[0].ok);
}

int main(void)
{
    TEST("the type of an operation's result is that of its definition", test_type_of_results);
    TEST("the type of a block's argument is that of its definition", test_type_of_arguments);
    TEST("a name in another region is another value", test_type_of_another_function);
    TEST("a name without a definition is an error", test_undefined);
    TEST("a name that is defined further down is an error", test_defined_below);
    TEST("a result that an operation does not have is an error", test_wrong_number);
    return test_finish();
}
