/** Number of bytes that one round of the hash function processes. */
const BLOCK_BYTES = 64;
/** Bytes after the message: one marker byte, and its length in bits as a 64-bit integer. */
const TRAILER_BYTES = 9;
const PRIMES = listPrimes(64);
/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4 §4.2.2). */
const ROUND_CONSTANTS = Int32Array.from(PRIMES, (prime) => getFractionBits(Math.cbrt(prime)));
/** The first 32 bits of the fractional parts of the square roots of the first 8 primes (FIPS 180-4 §5.3.3). */
const INITIAL_HASH = Int32Array.from(PRIMES.slice(0, 8), (prime) => getFractionBits(Math.sqrt(prime)));

/**
 * Returns the SHA-256 digest of a text in UTF-8, as 64 hexadecimal digits. The function is synchronous, which Web Crypto
 * does not offer, and needs no module of Node.js.
 */
export function computeSha256Hex(text: string): string {
  const blocks = padToBlocks(new TextEncoder().encode(text));
  const hash = Int32Array.from(INITIAL_HASH);
  const schedule = new Int32Array(BLOCK_BYTES);
  for (let at = 0; at < blocks.byteLength; at += BLOCK_BYTES) addBlock(hash, schedule, blocks, at);
  return [...hash].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Appends the marker, zeros, and the length of the message, so that the result consists of whole blocks. */
function padToBlocks(message: Uint8Array): DataView {
  const blockCount = Math.ceil((message.length + TRAILER_BYTES) / BLOCK_BYTES);
  const bytes = new Uint8Array(blockCount * BLOCK_BYTES);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, BigInt(message.length) * 8n);
  return view;
}

/** Adds the block at `offset` to the hash (FIPS 180-4 §6.2.2). `schedule` has room for the 64 words of the block. */
function addBlock(hash: Int32Array, schedule: Int32Array, blocks: DataView, offset: number): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let round = 0; round < BLOCK_BYTES; round++) {
    const word = round < 16 ? blocks.getInt32(offset + 4 * round) : extendSchedule(schedule, round);
    schedule[round] = word;
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const first = (h + mixBits(e, 6, 11, 25) + choice + (ROUND_CONSTANTS[round] ?? 0) + word) | 0;
    const second = (mixBits(a, 2, 13, 22) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const mixed = [a, b, c, d, e, f, g, h];
  for (let at = 0; at < mixed.length; at++) hash[at] = (hash[at] ?? 0) + (mixed[at] ?? 0);
}

/** Returns word `at` of the message schedule, from earlier words. */
function extendSchedule(schedule: Int32Array, at: number): number {
  const early = schedule[at - 15] ?? 0;
  const late = schedule[at - 2] ?? 0;
  const earlyMix = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
  const lateMix = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
  return ((schedule[at - 16] ?? 0) + earlyMix + (schedule[at - 7] ?? 0) + lateMix) | 0;
}

function mixBits(word: number, first: number, second: number, third: number): number {
  return rotateRight(word, first) ^ rotateRight(word, second) ^ rotateRight(word, third);
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function getFractionBits(root: number): number {
  return ((root % 1) * 2 ** 32) | 0;
}

function listPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  return primes;
}
