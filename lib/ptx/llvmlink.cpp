// Links the needed functions of a bitcode library into a module.
#include "lib/ptx/llvmlink.h"

#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <cstring>

using namespace llvm;

bool cute_llvm_link_needed(LLVMModuleRef m, const char *path, char **error)
{
    Module &module = *unwrap(m);
    SMDiagnostic diagnostic;
    std::unique_ptr<Module> library = getLazyIRFileModule(path, diagnostic, module.getContext());
    if (!library) {
        *error = strdup(diagnostic.getMessage().str().c_str());
        return false;
    }
    // LLVM accepts an empty file as an empty module.
    if (library->empty() && library->global_empty() && library->alias_empty() && library->ifunc_empty()) {
        *error = strdup("expected LLVM bitcode with functions, got none");
        return false;
    }
    // Ignore the library's target triple.
    library->setTargetTriple(module.getTargetTriple());
    library->setDataLayout(module.getDataLayout());
    bool failed = Linker::linkModules(module, std::move(library), Linker::Flags::LinkOnlyNeeded,
                                      [](Module &linked, const StringSet<> &names) {
                                          internalizeModule(linked, [&names](const GlobalValue &v) {
                                              return !v.hasName() || !names.count(v.getName());
                                          });
                                      });
    if (failed) *error = strdup("it is incompatible with the module");
    return !failed;
}
