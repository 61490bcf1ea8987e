const FNV_OFFSET_BASIS = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const textEncoder = new TextEncoder();

/** A trace id that is the same for the same parts: two runs of an export name the same things alike. */
export function computeTraceId(...parts: readonly string[]): string {
  return hashFnv1a(["trace", ...parts]) + hashFnv1a(["more", ...parts]);
}

export function computeSpanId(...parts: readonly string[]): string {
  return hashFnv1a(["span", ...parts]);
}

/** FNV-1a over 64 bits: ids need to be apart, not secret. Never zero, which is no id. */
function hashFnv1a(parts: readonly string[]): string {
  let hash = FNV_OFFSET_BASIS;
  for (const byte of textEncoder.encode(JSON.stringify(parts))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  }
  return (hash === 0n ? 1n : hash).toString(16).padStart(16, "0");
}
