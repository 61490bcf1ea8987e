import { closeSync, fstatSync, openSync, readSync, renameSync, statSync, type BigIntStats } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { WAL_CHECKPOINT_PAGES } from "./wal-checkpoint-pages.ts";

/** A difference between the open files of a store and the files at their paths. */
export interface FileLoss {
  /**
   * `moved`: another file, or no file, has the path of the database file. The open file is intact. `damaged`: another
   * program has changed the content of the database file or of the write-ahead log. `log`: another file, or no file,
   * has the path of the log, or another program has changed the part of the log that is not in use. The database file
   * is in place, and a checkpoint can copy the open log.
   */
  readonly kind: "moved" | "damaged" | "log";
  /** Sentence without a period, for example `/data/tasks.db was removed`. */
  readonly description: string;
}

const HEADER_BYTES = 100;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Maximum number of new frames that an inspection reads. */
const MAX_READ_FRAMES = 12;
/** Descriptors of closed stores that `DatabaseDescriptor` keeps. */
const MAX_KEPT_DESCRIPTORS = 16;
const keptDescriptors = new Map<string, number>();

/**
 * A descriptor of a database file, or of the index of its log. SQLite holds locks on both. On POSIX, closing any
 * descriptor of a file releases all locks of the process on the file. Another connection of the process, such as that of
 * ADK sessions, may still need the locks. `close` therefore keeps the last few descriptors open, and a store that opens
 * the same file again uses its descriptor.
 */
export class DatabaseDescriptor {
  readonly number: number;
  readonly #key: string;

  constructor(file: string) {
    this.#key = createIdentityKey(statSync(file, { bigint: true }));
    this.number = keptDescriptors.get(this.#key) ?? openSync(file, "r");
    keptDescriptors.delete(this.#key);
  }

  close(): void {
    keptDescriptors.set(this.#key, this.number);
    const [oldest] = keptDescriptors;
    if (!oldest || keptDescriptors.size <= MAX_KEPT_DESCRIPTORS) return;
    keptDescriptors.delete(oldest[0]);
    closeSync(oldest[1]);
  }
}

/** The open write-ahead log of a connection, and the descriptor of its index. */
export interface OpenLog {
  readonly wal: number;
  readonly walIndex: number;
}

/** What an inspection has read. */
interface Inspection {
  readonly header: Buffer;
  readonly size: bigint;
  /** One of the pages that the last checkpoint has written. */
  readonly page: { readonly number: number; readonly content: Buffer };
  /** `undefined` without a log. */
  readonly index: WalIndex | undefined;
  readonly walSize: bigint;
}

/**
 * Compares the open files of a connection with the files at their paths, and with the index of the write-ahead log: the
 * log contains all frames of the index, and only checkpoints change the database file. A checkpoint can write over the
 * traces of another program, so run the checkpoints of the store between two inspections. An inspection reads a few
 * kilobytes. It takes about 40 µs, and about 150 µs after many commits.
 */
export class OpenFileInspector {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #log: OpenLog | undefined;
  readonly #walIndexFile: BigIntStats | undefined;
  readonly #pageBytes: number;
  #last: Inspection;

  constructor(file: string, descriptor: number, log: OpenLog | undefined) {
    this.#file = file;
    this.#descriptor = descriptor;
    this.#log = log;
    this.#walIndexFile = log && fstatSync(log.walIndex, { bigint: true });
    const header = readBytes(descriptor, 0, HEADER_BYTES);
    const pageBytes = header.readUInt16BE(16);
    this.#pageBytes = pageBytes === 1 ? 65_536 : pageBytes;
    const lastPage = header.readUInt32BE(28);
    this.#last = this.#read(log && readWalIndex(log.walIndex), lastPage);
  }

  /** Returns true if a checkpoint has many frames to copy. */
  get isLogLarge(): boolean {
    const { index } = this.#last;
    return index !== undefined && index.frameCount - index.copiedFrames >= WAL_CHECKPOINT_PAGES;
  }

  /**
   * Returns the first loss that the inspection finds, or `undefined` if all files are intact. Returns `unclear` if
   * another process has changed the files during the inspection.
   */
  findLoss(): FileLoss | "unclear" | undefined {
    const index = this.#log && readWalIndex(this.#log.walIndex);
    const next = this.#read(index, this.#findCopiedPage(index) ?? this.#last.page.number);
    const loss =
      this.#findDatabaseMove() ??
      this.#findDatabaseDamage(next) ??
      this.#findLogMove() ??
      this.#findLogDamage(next);
    if (loss?.kind === "moved") return loss;
    if (this.#log) {
      const later = readWalIndex(this.#log.walIndex);
      if (!index || !later || !isSameLogState(index, later)) return "unclear";
    }
    if (!loss) this.#last = next;
    return loss;
  }

  #read(index: WalIndex | undefined, pageNumber: number): Inspection {
    const offset = (pageNumber - 1) * this.#pageBytes;
    return {
      header: readBytes(this.#descriptor, 0, HEADER_BYTES),
      size: fstatSync(this.#descriptor, { bigint: true }).size,
      page: { number: pageNumber, content: readBytes(this.#descriptor, offset, this.#pageBytes) },
      index,
      walSize: this.#log ? fstatSync(this.#log.wal, { bigint: true }).size : 0n,
    };
  }

  /** Returns the number of the page that the last checkpoint has copied from the last frame. */
  #findCopiedPage(index: WalIndex | undefined): number | undefined {
    if (!this.#log || !index || index.copiedFrames === 0) return undefined;
    if (this.#last.index && isSameCheckpointState(this.#last.index, index)) return undefined;
    const frame = readBytes(this.#log.wal, this.#getFrameOffset(index.copiedFrames), FRAME_HEADER_BYTES);
    return frame.length === FRAME_HEADER_BYTES && frame.readUInt32BE() > 0 ? frame.readUInt32BE() : undefined;
  }

  /** Returns true if certainly no checkpoint has changed the database file since the last inspection. */
  #isWithoutCheckpoint(index: WalIndex | undefined, walSize: bigint): boolean {
    const { index: last, walSize: lastWalSize } = this.#last;
    // A checkpoint that fails or is interrupted also changes the file.
    if (!this.#log || !index || !last || last.attemptedFrames !== last.copiedFrames) return false;
    if (isSameCheckpointState(last, index)) return true;
    // After a checkpoint has copied all frames, the next commit starts the log again, which leaves the file unchanged.
    // Unless the log had more frames, its next checkpoint had nothing to copy.
    if (!isNextLog(last, index) || index.attemptedFrames > 0 || last.copiedFrames < last.frameCount)
      return false;
    if (index.frameCount > last.frameCount || walSize < lastWalSize) return false;
    return !this.#readFrameHeader(this.#log.wal, last.frameCount + 1)
      .subarray(8, 16)
      .equals(last.salts);
  }

  #findDatabaseMove(): FileLoss | undefined {
    const open = fstatSync(this.#descriptor, { bigint: true });
    const named = findFile(this.#file);
    if (named && isSameFile(open, named)) return undefined;
    return { kind: "moved", description: describeMove(this.#file, named, open.nlink === 0n) };
  }

  #findDatabaseDamage({ header, size, page, index, walSize }: Inspection): FileLoss | undefined {
    const last = this.#last;
    const isIntact = this.#isWithoutCheckpoint(index, walSize)
      ? header.equals(last.header) && size === last.size && page.content.equals(last.page.content)
      : header.length === HEADER_BYTES && !isOverwritten(last.header, header);
    return isIntact ? undefined : describeDamage(this.#file);
  }

  #findLogMove(): FileLoss | undefined {
    if (!this.#log) return undefined;
    const path = `${this.#file}-wal`;
    const open = fstatSync(this.#log.wal, { bigint: true });
    const named = findFile(path);
    if (!named || !isSameFile(open, named))
      return { kind: "log", description: describeMove(path, named, open.nlink === 0n) };
    const index = findFile(`${this.#file}-shm`);
    if (index && (!this.#walIndexFile || !isOtherWalIndex(this.#walIndexFile, index))) return undefined;
    return { kind: "log", description: describeMove(`${this.#file}-shm`, index, true) };
  }

  #findLogDamage({ index, walSize }: Inspection): FileLoss | undefined {
    if (!this.#log || !index || this.#isLogComplete(this.#log.wal, index, walSize)) return undefined;
    const damage = describeDamage(`${this.#file}-wal`);
    return this.#canCopyLog(this.#log.wal, index) ? { ...damage, kind: "log" } : damage;
  }

  #isLogComplete(wal: number, index: WalIndex, walSize: bigint): boolean {
    const { frameCount, salts, checksum } = index;
    // SQLite changes the header and the size of the log when it starts the log again, before the first commit.
    if (frameCount === 0) return true;
    const last = this.#last.index?.salts.equals(salts) ? this.#last.index : undefined;
    const isShorter = last !== undefined && last.frameCount > 0 && walSize < this.#last.walSize;
    if (isShorter || walSize < this.#getFrameOffset(frameCount + 1)) return false;
    if (!readBytes(wal, 16, 8).equals(salts)) return false;
    const first = Math.max(1, last?.frameCount ?? 1);
    const step = Math.ceil((frameCount - first + 1) / MAX_READ_FRAMES);
    for (let at = first; at < frameCount; at += step)
      if (!this.#readFrameHeader(wal, at).subarray(8, 16).equals(salts)) return false;
    const end = this.#readFrameHeader(wal, frameCount);
    return end.subarray(8, 16).equals(salts) && readChecksum(end, 16).join() === checksum.join();
  }

  /** Returns true if all frames that a checkpoint would copy are intact. */
  #canCopyLog(wal: number, { frameCount, salts, checksum, isBigEndian, copiedFrames }: WalIndex): boolean {
    if (copiedFrames === frameCount) return true;
    const start =
      copiedFrames === 0 ? readBytes(wal, 24, 8) : this.#readFrameHeader(wal, copiedFrames).subarray(16);
    if (start.length < 8) return false;
    let sum = readChecksum(start, 0);
    const frameBytes = FRAME_HEADER_BYTES + this.#pageBytes;
    for (let at = copiedFrames + 1; at <= frameCount; at++) {
      const frame = readBytes(wal, this.#getFrameOffset(at), frameBytes);
      if (frame.length < frameBytes || !frame.subarray(8, 16).equals(salts)) return false;
      sum = extendChecksum(sum, frame.subarray(0, 8), isBigEndian);
      sum = extendChecksum(sum, frame.subarray(FRAME_HEADER_BYTES), isBigEndian);
    }
    return sum.join() === checksum.join();
  }

  #readFrameHeader(wal: number, at: number): Buffer {
    return readBytes(wal, this.#getFrameOffset(at), FRAME_HEADER_BYTES);
  }

  /** The first frame has the number 1. */
  #getFrameOffset(at: number): number {
    return WAL_HEADER_BYTES + (at - 1) * (FRAME_HEADER_BYTES + this.#pageBytes);
  }
}

/** Connections that `setDamagedFilesAside` keeps open until the process ends. */
const shieldingConnections: DatabaseSync[] = [];

/**
 * Renames the write-ahead log to `<file>-wal.lost`, because a damaged log would damage the database file, and because
 * a log damages a file that was copied over the database file. SQLite copies the log when the last connection is
 * closed. A connection that can only read, and that is never closed, prevents the copy.
 */
export function setDamagedFilesAside(file: string, connectForReading: (file: string) => DatabaseSync): void {
  try {
    const connection = connectForReading(file);
    shieldingConnections.push(connection);
    connection.exec("BEGIN; SELECT 1 FROM sqlite_schema");
  } catch {
    // A file without a valid header has no content to protect.
  }
  if (findFile(`${file}-wal`)) renameSync(`${file}-wal`, `${file}-wal.lost`);
}

function findFile(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function createIdentityKey({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}

/** Some network file systems change the inode number of a file, but not the time of its last change. */
function isSameFile(open: BigIntStats, named: BigIntStats): boolean {
  if (createIdentityKey(open) === createIdentityKey(named)) return true;
  return open.nlink > 0n && open.mtimeNs === named.mtimeNs && open.size === named.size;
}

/** The content of the index changes with each commit, so the times of its changes are unknown. */
function isOtherWalIndex(a: BigIntStats, b: BigIntStats): boolean {
  return createIdentityKey(a) !== createIdentityKey(b) && a.birthtimeNs !== b.birthtimeNs;
}

function describeMove(path: string, named: BigIntStats | undefined, isRemoved: boolean): string {
  if (named) return `${path} was replaced by another file`;
  return `${path} was ${isRemoved ? "removed" : "moved"}`;
}

function describeDamage(path: string): FileLoss {
  return { kind: "damaged", description: `${path} was truncated or overwritten` };
}

function readChecksum(bytes: Buffer, offset: number): [number, number] {
  return [bytes.readUInt32BE(offset), bytes.readUInt32BE(offset + 4)];
}

/** Adds bytes to a checksum of the log (https://sqlite.org/fileformat2.html#checksum_algorithm). */
function extendChecksum([a, b]: [number, number], bytes: Buffer, isBigEndian: boolean): [number, number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + view.getUint32(at, !isBigEndian) + b) >>> 0;
    b = (b + view.getUint32(at + 4, !isBigEndian) + a) >>> 0;
  }
  return [a, b];
}

/**
 * Returns true if the header cannot follow the earlier header. SQLite never decreases the change counter, and the
 * magic number, the page size, and the journal mode do not change while a store is open.
 */
function isOverwritten(earlier: Buffer, header: Buffer): boolean {
  const isChanged = (start: number, end: number): boolean =>
    !header.subarray(start, end).equals(earlier.subarray(start, end));
  if (isChanged(0, 20)) return true;
  return ((header.readUInt32BE(24) - earlier.readUInt32BE(24)) | 0) < 0;
}

/** State of a write-ahead log, according to the header of its index (`-shm`). */
interface WalIndex {
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
function readWalIndex(descriptor: number): WalIndex | undefined {
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
function isSameLogState(a: WalIndex, b: WalIndex): boolean {
  return (
    isSameCheckpointState(a, b) &&
    a.frameCount === b.frameCount &&
    a.checksum[0] === b.checksum[0] &&
    a.checksum[1] === b.checksum[1]
  );
}

/** Returns true if no checkpoint lies between two states of a log. */
function isSameCheckpointState(a: WalIndex, b: WalIndex): boolean {
  return (
    a.salts.equals(b.salts) && a.copiedFrames === b.copiedFrames && a.attemptedFrames === b.attemptedFrames
  );
}

/** Returns true if SQLite has started the log again exactly once between two states. */
function isNextLog(earlier: WalIndex, later: WalIndex): boolean {
  return later.salts.readUInt32BE() === (earlier.salts.readUInt32BE() + 1) % 2 ** 32;
}

/** Reads at most `length` bytes. The result is shorter if the file ends before. */
function readBytes(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}
