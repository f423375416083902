#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A made-up profile of decoding for the README's picture, to standard output: two micro-batches take turns
on one stream, so that the tokens of one travel to other GPUs (DeepEP's low-latency kernels) while the other
computes. No real profile of this kind may be copied here."""
import json
import random

LAYERS, US = 24, 1
random.seed(7)
events, now, correlation = [], 1000.0, 0


def kernel(name, dur):
    global now, correlation
    correlation += 1
    dur *= random.uniform(0.9, 1.15)
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 100 + 3 * correlation,
                   "dur": 2, "args": {"correlation": correlation}})
    events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": round(now, 3), "dur": round(dur, 3),
                   "args": {"device": 0, "stream": 7, "correlation": correlation, "grid": [108, 1, 1], "block": [1024, 1, 1]}})
    now += dur + 1.2


def attention():
    for name, dur in (("void rmsnorm_kernel<__nv_bfloat16>", 4), ("deep_gemm::sm90_fp8_gemm", 19),
                      ("flash_mla::flash_fwd_splitkv_mla_kernel", 46), ("deep_gemm::sm90_fp8_gemm", 17),
                      ("void moe_gate_topk<256, 8>", 5)):
        kernel(name, dur)


def experts():
    for name, dur in (("deep_gemm::sm90_m_grouped_gemm_masked", 31), ("void silu_and_mul_quant<__nv_fp8_e4m3>", 6),
                      ("deep_gemm::sm90_m_grouped_gemm_masked", 24)):
        kernel(name, dur)


for layer in range(LAYERS):
    for work in (attention, experts):
        kind = "dispatch" if work is attention else "combine"
        transfer = f"void deep_ep::internode_ll::{kind}<false, 3, 10, 7168>"
        work()
        kernel(transfer, 9)  # sends what micro-batch 0 has
        work()               # of micro-batch 1
        kernel(transfer, 7 if layer % 6 else 30)  # receives; sometimes it waits
        kernel(transfer, 9)
        (experts if work is attention else attention)()
        kernel(transfer, 7)

json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H800", "numSms": 132}],
           "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 128}, "traceEvents": events}, fp=__import__("sys").stdout)
