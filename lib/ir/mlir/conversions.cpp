// Dialect conversions to LLVM, which the C API does not expose. See shim.h.
#include "lib/ir/mlir/llvm_compat.h"
#include "lib/ir/mlir/shim.h"

#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

// Lowers scf except scf.if and scf.for to branches; scf.forall becomes scf.for.
static LogicalResult lowerRareLoops(Operation *root)
{
    MLIRContext *context = root->getContext();
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalOp<scf::ForallOp, scf::IndexSwitchOp, scf::ParallelOp, scf::WhileOp,
                        scf::ExecuteRegionOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(root, target, std::move(patterns));
}

// Lowers scf to branches with upstream's patterns. Processes scf.if and scf.for last to first: each split of
// a block then moves the operations up to the next split, not up to the end of the function as dialect
// conversion does (quadratic time).
static LogicalResult lowerLoops(Operation *root)
{
    SmallVector<Operation *> loops;
    bool rare = false;
    root->walk([&](Operation *op) {
        rare |=
            isa<scf::ForallOp, scf::IndexSwitchOp, scf::ParallelOp, scf::WhileOp, scf::ExecuteRegionOp>(op);
    });
    if (rare && failed(lowerRareLoops(root))) return failure();
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<scf::IfOp, scf::ForOp>(op)) loops.push_back(op);
    });
    RewritePatternSet set(root->getContext());
    populateSCFToControlFlowConversionPatterns(set);
    FrozenRewritePatternSet patterns(std::move(set));
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(root->getContext());
    for (Operation *op : llvm::reverse(loops)) {
        rewriter.setInsertionPoint(op);
        if (failed(applicator.matchAndRewrite(op, rewriter)))
            return op->emitOpError("cannot be lowered to branches");
    }
    return success();
}

// Lowers scf to cf, and arith divisions that LLVM lacks to simpler arith.
static LogicalResult expandUnsupportedArith(Operation *root)
{
    if (failed(lowerLoops(root))) return failure();
    MLIRContext *context = root->getContext();
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalOp<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(root, target, std::move(patterns));
}

// Adds the ConvertToLLVM patterns of the dialects for which `wanted` holds.
template <class Wanted>
static void addInterfaces(MLIRContext *context, ConversionTarget &target, LLVMTypeConverter &converter,
                          RewritePatternSet &patterns, Wanted wanted)
{
    for (Dialect *dialect : context->getLoadedDialects())
        if (auto *interface = dyn_cast<ConvertToLLVMPatternInterface>(dialect))
            if (wanted(dialect))
                interface->populateConvertToLLVMConversionPatterns(target, converter, patterns);
}

static LogicalResult convertHost(Operation *module)
{
    MLIRContext *context = module->getContext();
    const DataLayoutAnalysis analysis(module);
    LowerToLLVMOptions options(context, analysis.getAtOrAbove(module));
    LLVMTypeConverter converter(context, options, &analysis);
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    addInterfaces(context, target, converter, patterns, [](Dialect *) { return true; });
    target.addLegalOp<gpu::GPUModuleOp, gpu::BinaryOp>();
    target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
    target.addDynamicallyLegalOp<gpu::LaunchFuncOp>(
        [&](gpu::LaunchFuncOp op) { return converter.isLegal(op); });
    populateGpuToLLVMConversionPatterns(converter, patterns);
    return applyPartialConversion(module, target, std::move(patterns));
}

// Expands gpu.global_id, gpu.all_reduce and similar operations. The greedy driver also removes dead code, so
// it runs only where such an operation exists.
static LogicalResult rewriteGpu(gpu::GPUModuleOp module)
{
    bool needed = module
                      .walk([](Operation *op) {
                          return isa<gpu::GlobalIdOp, gpu::AllReduceOp, gpu::SubgroupReduceOp>(op)
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                      })
                      .wasInterrupted();
    if (!needed) return success();
    RewritePatternSet patterns(module.getContext());
    populateGpuRewritePatterns(patterns);
    return cute::applyPatterns(module, std::move(patterns));
}

// Converts gpu memory spaces to LLVM address spaces, and MMA matrices to structs.
static void addDeviceTypes(LLVMTypeConverter &converter)
{
    enum { inGlobal = 1, inShared = 3 }; // NVPTX address spaces; nvvm renamed its enumerators in LLVM 22
    populateGpuMemorySpaceAttributeConversions(converter, [](gpu::AddressSpace space) -> unsigned {
        switch (space) {
        case gpu::AddressSpace::Global: return inGlobal;
        case gpu::AddressSpace::Workgroup: return inShared;
        case gpu::AddressSpace::Private: return 0;
        }
        return 0;
    });
    converter.addConversion([](gpu::MMAMatrixType type) -> Type { return convertMMAToLLVMType(type); });
}

static LogicalResult convertDevice(gpu::GPUModuleOp module)
{
    MLIRContext *context = module.getContext();
    if (failed(rewriteGpu(module))) return failure();
    const DataLayoutAnalysis analysis(module);
    LowerToLLVMOptions options(context, analysis.getAtOrAbove(module));
    LLVMTypeConverter converter(context, options, &analysis);
    addDeviceTypes(converter);
    // First without the patterns of math, so that libdevice functions are used; then with them for the rest.
    for (bool math : {false, true}) {
        RewritePatternSet patterns(context);
        LLVMConversionTarget target(*context);
        if (!math) {
            populateGpuToNVVMConversionPatterns(converter, patterns);
            populateGpuWMMAToNVVMConversionPatterns(converter, patterns);
            configureGpuToNVVMConversionLegality(target);
        }
        addInterfaces(context, target, converter, patterns,
                      [math](Dialect *d) { return math || !isa<math::MathDialect>(d); });
        if (failed(applyPartialConversion(module, target, std::move(patterns)))) return failure();
    }
    return success();
}

extern "C" void cute_translations_insert(MlirDialectRegistry registry)
{
    registerAllToLLVMIRTranslations(*unwrap(registry));
}

extern "C" bool cute_lower_loops(MlirOperation root)
{
    return succeeded(lowerLoops(unwrap(root)));
}

// Changes the type of argument `index` of a block, inserting casts at its uses and in the branches to the
// block.
static void convertBlockArgument(Block &block, unsigned index, Type type)
{
    BlockArgument argument = block.getArgument(index);
    Type old = argument.getType();
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    argument.setType(type);
    auto back = cute::create<UnrealizedConversionCastOp>(builder, argument.getLoc(), old, argument);
    argument.replaceAllUsesExcept(back.getResult(0), back);
    for (auto edge = block.pred_begin(); edge != block.pred_end(); ++edge) {
        auto branch = dyn_cast<BranchOpInterface>((*edge)->getTerminator());
        if (!branch) continue;
        SuccessorOperands operands = branch.getSuccessorOperands(edge.getSuccessorIndex());
        builder.setInsertionPoint(branch);
        auto cast = cute::create<UnrealizedConversionCastOp>(builder, branch.getLoc(), type, operands[index]);
        operands.slice(index, 1).assign(cast.getResult(0));
    }
}

// Upstream converts block arguments together with a func.func; loops that are lowered in an llvm.func keep
// theirs.
static void convertBlocks(LLVM::LLVMFuncOp function)
{
    std::optional<LLVMTypeConverter> converter;
    for (Block &block : llvm::drop_begin(function.getBody()))
        for (unsigned i = 0; i < block.getNumArguments(); i++) {
            Type type = block.getArgument(i).getType();
            if (LLVM::isCompatibleType(type)) continue;
            if (!converter) {
                LowerToLLVMOptions options(function.getContext());
                converter.emplace(function.getContext(), options);
                addDeviceTypes(*converter);
            }
            if (Type converted = converter->convertType(type)) convertBlockArgument(block, i, converted);
        }
}

extern "C" void cute_lower_block_arguments(MlirOperation root)
{
    unwrap(root)->walk([](LLVM::LLVMFuncOp function) {
        if (!function.getBody().empty()) convertBlocks(function);
    });
}

// How vector.contract is lowered: LLVM 19 takes an options struct, 21 only this value.
struct OuterProduct {
    operator vector::VectorContractLowering() const { return vector::VectorContractLowering::OuterProduct; }
    operator vector::VectorTransformsOptions() const
    {
        return vector::VectorTransformsOptions().setVectorTransformsOptions(*this);
    }
};

extern "C" bool cute_lower_vectors(MlirOperation op)
{
    RewritePatternSet patterns(unwrap(op)->getContext());
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerReduction);
    vector::populateVectorScanLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(patterns, OuterProduct());
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
    return succeeded(cute::applyPatterns(unwrap(op), std::move(patterns)));
}

extern "C" bool cute_convert_to_llvm(MlirOperation root)
{
    Operation *module = unwrap(root);
    if (failed(expandUnsupportedArith(module))) return false;
    WalkResult devices = module->walk([](gpu::GPUModuleOp m) {
        return failed(convertDevice(m)) ? WalkResult::interrupt() : WalkResult::skip();
    });
    return !devices.wasInterrupted() && succeeded(convertHost(module));
}
