/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that a layer and a step are made of, with names as real profiles have them. */
#include "gen_kernels.h"

#define KERNEL(var, ...) static const gen_kernel var = {__VA_ARGS__}
#define USES(var, ...) static const gen_use var[] = {__VA_ARGS__, {NULL, 0, 0}}

/* ---------------------------------------------------------------- computation */

KERNEL(layer_norm_forward,
       "void layer_norm::ln_fwd_kernel<layer_norm::Kernel_traits<__nv_bfloat16, float, 7168u> >("
       "layer_norm::FwdParams)",
       "LayerNormFunction", GEN_COMP, NULL, NULL, 396, 128);
KERNEL(layer_norm_backward,
       "void layer_norm::ln_bwd_kernel<layer_norm::Kernel_traits<__nv_bfloat16, float, 7168u> >("
       "layer_norm::BwdParams)",
       "LayerNormFunctionBackward", GEN_COMP, NULL, NULL, 132, 256);
KERNEL(gemm,
       "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>("
       "dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel::Params)",
       "Fp8Linear", GEN_COMP, NULL, NULL, 112, 384);
KERNEL(grouped_gemm,
       "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::m_grouped_fp8_ptp128c::GemmKernel>("
       "dpsk::grouped_gemm::cuda::m_grouped_fp8_ptp128c::GemmKernel::Params)",
       "GroupedFp8Linear", GEN_COMP, NULL, NULL, 112, 384);
KERNEL(wgrad_gemm,
       "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_dptp128c_acc::GemmKernel>("
       "dpsk::grouped_gemm::cuda::fp8_dptp128c_acc::GemmKernel::Params)",
       "Fp8LinearWeightGrad", GEN_COMP, NULL, NULL, 112, 384);
KERNEL(router_gemm,
       "sm90_xmma_gemm_bf16f32_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
       "segment_k_off_kernel__5x_cublas",
       "aten::mm", GEN_COMP, NULL, NULL, 64, 384);
KERNEL(attention_forward,
       "void flash::compute_attn_ws<Flash_fwd_kernel_traits<192, 128, 128, 12, 2, false, 1, "
       "cutlass::bfloat16_t, 128>, true, flash::SingleTileScheduler>(flash::FwdParams)",
       "FlashAttnFunc", GEN_COMP, NULL, NULL, 4096, 384);
KERNEL(attention_backward,
       "void cutlass::device_kernel<flash::FlashAttnBwd<flash::CollectiveMainloopBwd<2> > >("
       "flash::FlashAttnBwd::Params)",
       "FlashAttnFuncBackward", GEN_COMP, NULL, NULL, 4096, 384);
KERNEL(rotary, "rotary_kernel", "RotaryEmbedding", GEN_COMP, NULL, NULL, 1024, 128);
KERNEL(cast,
       "void cuda::per_token_cast_to_fp8_with_channels<__nv_bfloat16, 128, false, 128, false>("
       "__nv_bfloat16 const*, int, unsigned char*, float*)",
       "PerTokenCastToFp8", GEN_COMP, NULL, NULL, 4096, 128);
KERNEL(swiglu, "void cuda::swiglu_forward_with_weight_impl<__nv_bfloat16>(__nv_bfloat16 const*)",
       "SwigluFunction", GEN_COMP, NULL, NULL, 31104, 128);
KERNEL(permute, "cuda::expand_to_fused_with_scales_impl(int4 const*, int4*, float const*, float*)",
       "ExpandToFused", GEN_COMP, NULL, NULL, 2168, 256);
KERNEL(elementwise,
       "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
       "c10::BFloat16>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<"
       "c10::BFloat16>, at::detail::Array<char*, 3>)",
       "aten::add_", GEN_COMP, NULL, NULL, 57344, 128);
KERNEL(adam,
       "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<4>, "
       "at::native::FusedAdamMathFunctor<float, 4> >(at::native::TensorListMetadata<4>)",
       "aten::_fused_adamw_", GEN_COMP, NULL, NULL, 320, 512);

/* ---------------------------------------------------------------- communication and memory */

KERNEL(layout, "void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*, int*, int*)",
       "GetDispatchLayout", GEN_COMM, "layout", NULL, 16, 256);
KERNEL(notify_dispatch,
       "void dpsk::ep::internode::notify_dispatch<false, 8>(int const*, long*, int, int const*)",
       "NotifyDispatch", GEN_COMM, "notify", NULL, 9, 512);
KERNEL(cached_notify, "void dpsk::ep::internode::cached_notify<false>(int, int, int, int, int*)",
       "CachedNotify", GEN_COMM, "notify", NULL, 20, 320);
KERNEL(dispatch,
       "void dpsk::ep::internode::dispatch<false, 8, false, 8>(int4*, float*, long*, float*)",
       "Dispatch", GEN_COMM, "dispatch", NULL, 20, 512);
KERNEL(cached_dispatch,
       "void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*, long*, float*)",
       "CombineBackward", GEN_COMM, "dispatch", NULL, 20, 512);
KERNEL(combine,
       "void dpsk::ep::internode::combine<false, 8, __nv_bfloat16, 8, 2, 16, 24>(int4*, float*)",
       "Combine", GEN_COMM, "combine", NULL, 20, 800);
KERNEL(send_recv, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "nccl:send_recv",
       GEN_COMM, "send-recv", NULL, 8, 544);
KERNEL(reduce_scatter,
       "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "nccl:_reduce_scatter_base", GEN_COMM, "reduce-scatter", "_reduce_scatter_base", 16, 544);
KERNEL(all_gather, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "nccl:_all_gather_base", GEN_COMM, "all-gather", "_allgather_base", 16, 544);
KERNEL(all_reduce, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "nccl:all_reduce", GEN_COMM, "all-reduce", "allreduce", 4, 544);
KERNEL(memset_device, "Memset (Device)", "aten::zero_", GEN_MEM, NULL, NULL, 1024, 0);
KERNEL(copy_device, "Memcpy DtoD (Device -> Device)", "aten::copy_", GEN_MEM, NULL, NULL, 4194304,
       0);
KERNEL(copy_host, "Memcpy DtoH (Device -> Pageable)", "aten::item", GEN_MEM, NULL, NULL, 4, 0);

/* ---------------------------------------------------------------- a layer */

USES(attn_forward, {&layer_norm_forward, 2, 110}, {&cast, 3, 75}, {&gemm, 4, 290}, {&rotary, 2, 60},
     {&attention_forward, 1, 1240}, {&elementwise, 2, 25});
USES(mlp_forward, {&layer_norm_forward, 1, 110}, {&router_gemm, 1, 50}, {&memset_device, 2, 0},
     {&permute, 1, 180}, {&grouped_gemm, 2, 1430}, {&swiglu, 1, 140}, {&gemm, 2, 290},
     {&elementwise, 3, 30});
USES(attn_backward, {&gemm, 4, 290}, {&attention_backward, 1, 3780}, {&rotary, 3, 60},
     {&layer_norm_backward, 2, 150}, {&cast, 4, 75}, {&elementwise, 4, 30});
USES(mlp_backward, {&cast, 2, 80}, {&grouped_gemm, 2, 1450}, {&swiglu, 1, 330}, {&permute, 1, 180},
     {&gemm, 2, 300});
USES(attn_weights, {&wgrad_gemm, 4, 540}, {&copy_device, 1, 3});
USES(mlp_weights, {&wgrad_gemm, 5, 560});
USES(expert_weights, {&wgrad_gemm, 4, 700});

USES(dispatch_forward, {&layout, 1, 102}, {&notify_dispatch, 1, 1200}, {&dispatch, 1, 2700});
USES(combine_forward, {&cast, 1, 270}, {&cached_notify, 1, 900}, {&combine, 1, 4300});
USES(dispatch_backward, {&cached_notify, 1, 600}, {&combine, 1, 4800});
USES(combine_backward, {&cast, 1, 270}, {&cached_notify, 1, 900}, {&cached_dispatch, 1, 3100});

static const gen_stage attn_f = {"attn(F)", GEN_ROLE_COMPUTE, attn_forward};
static const gen_stage mlp_f = {"mlp(F)", GEN_ROLE_COMPUTE, mlp_forward};
static const gen_stage attn_b = {"attn(B)", GEN_ROLE_COMPUTE, attn_backward};
static const gen_stage mlp_b = {"mlp(B)", GEN_ROLE_COMPUTE, mlp_backward};
static const gen_stage attn_w = {"attn(W)", GEN_ROLE_COMPUTE, attn_weights};
static const gen_stage mlp_w = {"mlp(W)", GEN_ROLE_COMPUTE, mlp_weights};
static const gen_stage experts_w = {"mlp(W)", GEN_ROLE_WGRAD, expert_weights};
static const gen_stage dispatch_f = {"dispatch(F)", GEN_ROLE_COMM, dispatch_forward};
static const gen_stage combine_f = {"combine(F)", GEN_ROLE_COMM, combine_forward};
static const gen_stage dispatch_b = {"dispatch(B)", GEN_ROLE_COMM, dispatch_backward};
static const gen_stage combine_b = {"combine(B)", GEN_ROLE_COMM, combine_backward};

const gen_slot gen_layer_slots[] = {{{&combine_b, &attn_f, &mlp_w}},
                                    {{&dispatch_f, &mlp_b, &experts_w}},
                                    {{&dispatch_b, &mlp_f, &attn_w}},
                                    {{&combine_f, &attn_b}},
                                    {{NULL}}};

/* ---------------------------------------------------------------- the end of a step */

USES(pipeline_uses, {&send_recv, 2, 180});
USES(gradients_uses, {&all_reduce, 1, 40}, {&reduce_scatter, 2, 1200});
USES(optimizer_uses, {&elementwise, 4, 30}, {&adam, 3, 420}, {&copy_host, 1, 2});
USES(parameters_uses, {&all_gather, 2, 900});
USES(embedding_uses, {&gemm, 3, 290}, {&memset_device, 2, 0});

static const gen_stage pipeline = {"send-recv", GEN_ROLE_COMM, pipeline_uses};
static const gen_stage gradients = {"gradients", GEN_ROLE_COMM, gradients_uses};
static const gen_stage optimizer = {"optimizer", GEN_ROLE_COMPUTE, optimizer_uses};
static const gen_stage parameters = {"parameters", GEN_ROLE_COMM, parameters_uses};
static const gen_stage embedding = {"embedding", GEN_ROLE_COMPUTE, embedding_uses};

const gen_slot gen_step_slots[] = {
    {{&pipeline, &embedding}}, {{&gradients, &optimizer}}, {{&parameters}}, {{NULL}}};
