import { closeSync, fstatSync, openSync, readSync, renameSync, statSync, type BigIntStats } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { findStoreStateAfterError, isLockedDatabaseError } from "./sqlite-error-conversion.ts";

/** A difference between the open files of a store and the files at their paths. */
export interface FileLoss {
  /**
   * `moved`: another file, or no file, has the path of the database file. The open file is intact. `damaged`: another
   * program has changed the content of the database file or of the write-ahead log. `log`: another file, or no file,
   * has the path of the log. The database file is in place, and the open log is intact.
   */
  readonly kind: "moved" | "damaged" | "log";
  /** Sentence without a period, for example `/data/tasks.db was removed`. */
  readonly description: string;
}

const HEADER_BYTES = 100;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit of the magic number is the byte order of the checksums. */
const WAL_MAGIC = 0x377f0682 >>> 1;
/** Database descriptors of closed stores that `DatabaseDescriptor` keeps. */
const MAX_KEPT_DESCRIPTORS = 8;
const keptDescriptors = new Map<string, number>();

/**
 * A descriptor of a database file. On POSIX, closing any descriptor of a file releases all locks of the process on the
 * file. Another connection of the process, such as that of ADK sessions, may still need the locks. `close` therefore
 * keeps the last few descriptors open, and a store that opens the same file again uses its descriptor.
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

/**
 * Compares the open files of a connection with the files at their paths. An inspection reads a few hundred bytes, and
 * takes about 25 µs. Write-ahead logs keep their size, so only the frames show whether a log is complete.
 */
export class OpenFileInspector {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #db: DatabaseSync;
  readonly #connectForReading: (file: string) => DatabaseSync;
  readonly #wal: number | undefined;
  readonly #walIndex: BigIntStats | undefined;
  /** Size of the log when it was opened. A crash of the machine may have left holes in this part. */
  readonly #earlierWalSize: number;
  #header: Buffer;
  #size: bigint;
  /** The current salts of the log, and the index of the last frame that the last inspection has found. */
  #lastFrame: { readonly salts: Buffer; readonly index: number } | undefined;

  constructor(
    file: string,
    descriptor: number,
    { db, wal }: { readonly db: DatabaseSync; readonly wal: number | undefined },
    connectForReading: (file: string) => DatabaseSync,
  ) {
    this.#file = file;
    this.#descriptor = descriptor;
    this.#db = db;
    this.#connectForReading = connectForReading;
    this.#wal = wal;
    this.#walIndex = wal === undefined ? undefined : findFile(`${file}-shm`);
    this.#earlierWalSize = wal === undefined ? 0 : fstatSync(wal).size;
    this.#header = readBytes(descriptor, 0, HEADER_BYTES);
    this.#size = fstatSync(descriptor, { bigint: true }).size;
  }

  /** Returns the first loss that the inspection finds, or `undefined` if all files are intact. */
  findLoss(): FileLoss | undefined {
    return this.#findDatabaseLoss() ?? this.#findLogLoss();
  }

  #findDatabaseLoss(): FileLoss | undefined {
    const open = fstatSync(this.#descriptor, { bigint: true });
    const named = findFile(this.#file);
    if (!named || !isSameFile(open, named))
      return { kind: "moved", description: describeMove(this.#file, named, open.nlink === 0n) };
    const header = readBytes(this.#descriptor, 0, HEADER_BYTES);
    if (header.length < HEADER_BYTES || isOverwritten(this.#header, header))
      return { kind: "damaged", description: `${this.#file} was truncated or overwritten` };
    const isShort = open.size < this.#size && open.size < computeDatabaseSize(header);
    if (isShort && !this.#isConsistent())
      return { kind: "damaged", description: `${this.#file} was truncated` };
    this.#header = header;
    this.#size = open.size;
    return undefined;
  }

  /**
   * Reads the entire database without the page cache of the store. A file can be shorter than its header states without
   * a damage: a checkpoint that a reader limits does not write the free pages at the end.
   */
  #isConsistent(): boolean {
    try {
      const db = this.#connectForReading(this.#file);
      try {
        return db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"] === "ok";
      } finally {
        db.close();
      }
    } catch (error) {
      return isLockedDatabaseError(error);
    }
  }

  #findLogLoss(): FileLoss | undefined {
    if (this.#wal === undefined) return undefined;
    const path = `${this.#file}-wal`;
    const open = fstatSync(this.#wal, { bigint: true });
    const named = findFile(path);
    if (!named || !isSameFile(open, named))
      return { kind: "log", description: describeMove(path, named, open.nlink === 0n) };
    const index = findFile(`${this.#file}-shm`);
    if (!index || (this.#walIndex && isOtherWalIndex(this.#walIndex, index)))
      return { kind: "log", description: describeMove(`${this.#file}-shm`, index, true) };
    if (this.#isLogComplete(this.#wal, open.size)) return undefined;
    return { kind: "damaged", description: `${path} was truncated or overwritten` };
  }

  #isLogComplete(wal: number, size: bigint): boolean {
    const last = this.#lastFrame;
    if (size === 0n) {
      this.#lastFrame = undefined;
      // A checkpoint may have emptied the log. Another checkpoint fails if the log had frames that are not copied.
      return last === undefined || this.#canCheckpoint();
    }
    const header = readBytes(wal, 0, WAL_HEADER_BYTES);
    if (header.length < WAL_HEADER_BYTES || header.readUInt32BE() >>> 1 !== WAL_MAGIC) return false;
    const salts = header.subarray(16, 24);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
    const isFrame = (at: number): boolean => {
      const offset = WAL_HEADER_BYTES + at * frameBytes;
      return readBytes(wal, offset, FRAME_HEADER_BYTES).subarray(8, 16).equals(salts);
    };
    // SQLite gives the log new salts when it starts the log again.
    const known = last?.salts.equals(salts) ? last.index : 0;
    // Another process may have started the log again since the header was read.
    if (known > 0 && !isFrame(known)) return !readBytes(wal, 16, 8).equals(salts);
    const index = findLastIndex(known, isFrame);
    this.#lastFrame = { salts, index };
    // SQLite never skips a frame, so a frame without a page number is a hole behind the end of a truncated log.
    const nextOffset = WAL_HEADER_BYTES + (index + 1) * frameBytes;
    const next =
      nextOffset < this.#earlierWalSize ? undefined : readBytes(wal, nextOffset, FRAME_HEADER_BYTES);
    return !next || next.length < FRAME_HEADER_BYTES || next.readUInt32BE() !== 0;
  }

  #canCheckpoint(): boolean {
    try {
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return true;
    } catch (error) {
      return findStoreStateAfterError(error) !== "failed";
    }
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

/** Returns the largest index for which `test` is true, if `test` is true for all smaller indexes from `from`. */
function findLastIndex(from: number, test: (index: number) => boolean): number {
  let step = 1;
  while (test(from + step)) step *= 2;
  let [low, high] = [from + Math.floor(step / 2), from + step];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (test(middle)) low = middle;
    else high = middle;
  }
  return low;
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

/** Returns the size of the database in bytes, according to its header. */
function computeDatabaseSize(header: Buffer): bigint {
  const pageBytes = header.readUInt16BE(16);
  return BigInt(pageBytes === 1 ? 65_536 : pageBytes) * BigInt(header.readUInt32BE(28));
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

/** Reads at most `length` bytes. The result is shorter if the file ends before. */
function readBytes(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}
