"""Numbers in the types of launch.json that NumPy lacks: bytes as they are stored, and the values that they have."""
import numpy as np

NUMPY = {"f16": np.float16, "f32": np.float32, "tf32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i8": np.int8}


def table(exponent, mantissa, bias, finite):
    """The value of each pattern of 1 + exponent + mantissa bits. finite: the greatest exponent has numbers (e4m3, e2m1)."""
    bits = exponent + mantissa
    out = np.empty(2 << bits)
    for pattern in range(1 << bits):
        e, m = pattern >> mantissa, pattern & ((1 << mantissa) - 1)
        value = m * 2.0 ** (1 - bias - mantissa) if e == 0 else (1 + m / 2.0 ** mantissa) * 2.0 ** (e - bias)
        if e == (1 << exponent) - 1 and not finite:
            value = np.inf if m == 0 else np.nan
        out[pattern], out[pattern | 1 << bits] = value, -value
    return out


TABLES = {"e4m3": table(4, 3, 7, True), "e5m2": table(5, 2, 15, False), "e2m1": table(2, 1, 1, True),
          "i4": np.concatenate([np.arange(8), np.arange(-8, 0)]).astype(float)}
TABLES["e4m3"][[0x7F, 0xFF]] = np.nan
PACKED = ("i4", "e2m1")


def encode(dtype, values):
    """As an array of a type that cute-run reads for the dtype: bf16 as u2, 8 bits as u1, packed elements two in a byte."""
    values = np.asarray(values, dtype=np.float64)
    if dtype in NUMPY:
        return values.astype(NUMPY[dtype])
    if dtype == "bf16":
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    known = np.where(np.isfinite(TABLES[dtype]), TABLES[dtype], 1e300)
    codes = np.abs(values[..., None] - known).argmin(-1).astype(np.uint8)
    return codes[..., ::2] | codes[..., 1::2] << 4 if dtype in PACKED else codes


def decode(dtype, stored):
    """The values of what encode returned, as f64."""
    if dtype in NUMPY:
        return stored.astype(np.float64)
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype in PACKED:
        both = np.stack([stored & 15, stored >> 4], -1)
        stored = both.reshape(*stored.shape[:-1], -1)
    return TABLES[dtype][stored]
