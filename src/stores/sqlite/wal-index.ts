import { readSync } from "node:fs";

/** State of a write-ahead log, according to the header of its index (`-shm`). */
export interface WalIndex {
  /** Number of the frames that committed transactions have written. */
  readonly frameCount: number;
  /** Checksum of the last frame, which covers all earlier frames. */
  readonly checksum: readonly [number, number];
  /** Byte order of the words that the checksums add up. */
  readonly isBigEndian: boolean;
  /** Identifies the content of the log. SQLite chooses new salts when it starts the log again. */
  readonly salts: Buffer;
  /** Number of the frames that checkpoints have copied to the database file. */
  readonly copiedFrames: number;
  /** Number of the frames that checkpoints have copied or begun to copy. */
  readonly attemptedFrames: number;
}

/** The header consists of two equal copies, and precedes the state of the checkpoints. */
const HEADER_COPY_BYTES = 48;
const INDEX_BYTES = 136;

/**
 * Reads the index of a log (https://sqlite.org/walformat.html). Returns `undefined` if another process is writing the
 * index. The index uses the byte order of the machine.
 */
export function readWalIndex(descriptor: number): WalIndex | undefined {
  const words = new Uint32Array(INDEX_BYTES / 4);
  if (readSync(descriptor, words, 0, INDEX_BYTES, 0) < INDEX_BYTES) return undefined;
  const bytes = Buffer.from(words.buffer);
  const header = bytes.subarray(0, HEADER_COPY_BYTES);
  const isInitialized = bytes[12] === 1;
  if (!isInitialized || !header.equals(bytes.subarray(HEADER_COPY_BYTES, 2 * HEADER_COPY_BYTES)))
    return undefined;
  const readWord = (at: number): number => words[at / 4] ?? 0;
  return {
    frameCount: readWord(16),
    checksum: [readWord(24), readWord(28)],
    isBigEndian: bytes[13] === 1,
    salts: bytes.subarray(32, 40),
    copiedFrames: readWord(96),
    attemptedFrames: readWord(128),
  };
}

/** Returns true if no commit and no checkpoint lies between two states of a log. */
export function isSameLogState(a: WalIndex, b: WalIndex): boolean {
  return (
    isSameCheckpointState(a, b) &&
    a.frameCount === b.frameCount &&
    a.checksum[0] === b.checksum[0] &&
    a.checksum[1] === b.checksum[1]
  );
}

/** Returns true if no checkpoint lies between two states of a log. */
export function isSameCheckpointState(a: WalIndex, b: WalIndex): boolean {
  return (
    a.salts.equals(b.salts) && a.copiedFrames === b.copiedFrames && a.attemptedFrames === b.attemptedFrames
  );
}

/** Returns true if SQLite has started the log again exactly once between two states. */
export function isNextLog(earlier: WalIndex, later: WalIndex): boolean {
  return later.salts.readUInt32BE() === (earlier.salts.readUInt32BE() + 1) % 2 ** 32;
}
