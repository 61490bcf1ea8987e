const BASIS = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const encoder = new TextEncoder();

/** A trace id that is the same for the same parts: two runs of an export name the same things alike. */
export function traceIdOf(...parts: readonly string[]): string {
  return fnv(["trace", ...parts]) + fnv(["more", ...parts]);
}

export function spanIdOf(...parts: readonly string[]): string {
  return fnv(["span", ...parts]);
}

/** FNV-1a over 64 bits: ids need to be apart, not secret. Never zero, which is no id. */
function fnv(parts: readonly string[]): string {
  let hash = BASIS;
  for (const byte of encoder.encode(JSON.stringify(parts))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  }
  return (hash === 0n ? 1n : hash).toString(16).padStart(16, "0");
}
