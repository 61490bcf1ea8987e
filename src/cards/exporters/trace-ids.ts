const FNV_OFFSET_BASIS = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const textEncoder = new TextEncoder();

/**
 * Computes a trace ID from strings. Equal strings always produce the same ID, so repeated exports of a run
 * use the same IDs.
 */
export function computeTraceId(...parts: readonly string[]): string {
  return hashFnv1a(["trace", ...parts]) + hashFnv1a(["more", ...parts]);
}

/** Computes a span ID from strings. Equal strings always produce the same ID. */
export function computeSpanId(...parts: readonly string[]): string {
  return hashFnv1a(["span", ...parts]);
}

/**
 * Computes a 64-bit FNV-1a hash. The hash is not cryptographic, because IDs are not secret. The hash is never
 * zero, because zero is an invalid trace or span ID.
 */
function hashFnv1a(parts: readonly string[]): string {
  let hash = FNV_OFFSET_BASIS;
  for (const byte of textEncoder.encode(JSON.stringify(parts))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  }
  return (hash === 0n ? 1n : hash).toString(16).padStart(16, "0");
}
