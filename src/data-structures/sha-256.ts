const BLOCK_BYTES = 64;
const WORD_MAX = 2 ** 32;
/** Initial hash and round constants: fractions of the square and cube roots of the first primes (FIPS 180-4 §4.2.2). */
const [INITIAL_HASH, ROUND_CONSTANTS] = computeConstants();

/**
 * Returns the SHA-256 digest of a short text in UTF-8, as 64 hexadecimal digits. The function is synchronous, and needs
 * no module of Node.js. Use `node:crypto` for long texts, and for secrets.
 */
export function computeSha256Hex(text: string): string {
  const blocks = padMessage(new TextEncoder().encode(text));
  const hash = Uint32Array.from(INITIAL_HASH);
  for (let at = 0; at < blocks.byteLength; at += BLOCK_BYTES) addBlock(hash, blocks, at);
  return [...hash].map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** Appends the bit 1, zeros, and the length in bits, so that the message consists of whole blocks. */
function padMessage(message: Uint8Array): DataView {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  return view;
}

function addBlock(hash: Uint32Array, blocks: DataView, start: number): void {
  const words = new Uint32Array(64);
  for (let at = 0; at < 16; at++) words[at] = blocks.getUint32(start + 4 * at);
  for (let at = 16; at < 64; at++) {
    const [early = 0, late = 0] = [words[at - 15], words[at - 2]];
    const lowSigma = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
    const highSigma = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
    words[at] = (words[at - 16] ?? 0) + lowSigma + (words[at - 7] ?? 0) + highSigma;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let at = 0; at < 64; at++) {
    const highSigma = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + highSigma + choice + (ROUND_CONSTANTS[at] ?? 0) + (words[at] ?? 0)) | 0;
    const lowSigma = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + lowSigma + majority) | 0];
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) hash[at] = (hash[at] ?? 0) + word;
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function computeConstants(): [initialHash: number[], roundConstants: number[]] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  return [
    primes.slice(0, 8).map((prime) => computeFractionBits(Math.sqrt(prime))),
    primes.map((prime) => computeFractionBits(Math.cbrt(prime))),
  ];
}

/** Returns the first 32 bits of the fraction of a number. */
function computeFractionBits(number: number): number {
  return Math.floor((number % 1) * WORD_MAX);
}
