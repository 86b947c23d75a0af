"""How each engine is kept to an instruction set. SPDX-License-Identifier: Apache-2.0"""
import pathlib

EVERYONE = ("heed", "openvino", "litert", "ctranslate2", "onnxruntime")
# ONNX Runtime and LiteRT take what the processor has; only AMX can be kept from them (amx.py).
LIMITABLE = ("heed", "openvino", "ctranslate2")


def processor_flags() -> set[str]:
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    return set()


def native() -> dict[str, str]:
    """CTranslate2 uses AVX2 on AMD unless told."""
    return {"CT2_FORCE_CPU_ISA": "AVX512"} if "avx512f" in processor_flags() else {}


def variables(isa: str) -> dict[str, str]:
    """Environment variables for every peer."""
    return {
        "native": native(),
        "avx512vnni": {**native(), "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX512_E1"},
        "avxvnni": {"CT2_FORCE_CPU_ISA": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
        "avx2": {"CT2_FORCE_CPU_ISA": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    }[isa]


def engines(isa: str) -> tuple[str, ...]:
    return EVERYONE if isa in ("native", "avx512vnni") else LIMITABLE
