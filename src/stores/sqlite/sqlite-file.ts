import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  fsyncSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, resolve, basename } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { A2AError } from "../../protocol/index.ts";
import { PushSecretCipher, type PushSecretKeysOption, generatePushSecretKey } from "../push-secret-cipher.ts";
import { toUnavailableError } from "./sqlite-error-conversion.ts";
import { acquireFileLock } from "./file-lock.ts";
import { assertNoRecordedLoss } from "./file-loss-watch.ts";
import { DatabaseDescriptor, OpenFileInspector, setDamagedFilesAside } from "./file-loss.ts";
import { migrateEarlierFile, migrateSchema, type MigrationOptions } from "./migrate-schema.ts";
import { createPrivateFile, syncFolder } from "./private-files.ts";
import { COMMIT_CHECKPOINT_PAGES } from "./wal-checkpoint-pages.ts";

/** A database file that only the current process has opened. */
export interface OpenedSqliteFile {
  /** The path after the resolution of symbolic links. */
  readonly path: string;
  /** The current connection. `reconnect` replaces the connection. Throws `UNAVAILABLE` without a connection. */
  readonly db: DatabaseSync;
  /** Encrypts the secrets of push configurations. */
  readonly pushSecretCipher: PushSecretCipher;
  /**
   * Resolves once all previous commits would survive a power failure. The sync does not block the event
   * loop.
   */
  flush(): Promise<void>;
  flushSync(): void;
  /** Closes the connection and opens a new connection to the existing file, without releasing its lock. */
  reconnect(): void;
  /**
   * Copies the entire WAL to the database file, syncs the database file, and empties the WAL. After a failed
   * sync of the WAL, the operating system may treat the unwritten pages as clean. Another sync of the WAL
   * would succeed without writing the pages. SQLite's recovery would then lose every later commit in the same
   * WAL. Returns false if another program is using the file, which keeps the WAL.
   */
  checkpointEntireWal(): boolean;
  /** Whether a checkpoint has many pages to copy. */
  readonly isLogLarge: boolean;
  /** Compares the open files with the files at their paths. */
  findLoss: OpenFileInspector["findLoss"];
  /** Keeps the damaged content of the open files out of the files of the next process. */
  setDamagedFilesAside(): void;
  close(): void;
}

/** A connection to a database, with the file descriptor of its WAL. */
interface SqliteConnection {
  readonly db: DatabaseSync;
  readonly wal: number | undefined;
  readonly walIndex: DatabaseDescriptor | undefined;
  readonly inspector: OpenFileInspector | undefined;
}

/**
 * Initial settings of a database connection. `auto_vacuum` affects only new files, and must precede
 * `journal_mode`. `secure_delete` overwrites deleted content except free pages, which costs no writes.
 * `synchronous` is `FULL` until the store starts to sync the write-ahead log (WAL) itself. A checkpoint runs
 * every 16 MB (`WAL_CHECKPOINT_PAGES`). If several commits between two checkpoints change the same page, SQLite
 * writes the page to the database file once.
 */
const PRAGMAS = `
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = FAST;
  PRAGMA foreign_keys = OFF;
  PRAGMA cache_size = -32768;
  PRAGMA wal_autocheckpoint = ${COMMIT_CHECKPOINT_PAGES};
  PRAGMA journal_size_limit = 67108864;
`;
const syncData = promisify(fdatasync);
/** Time in milliseconds that SQLite may block the event loop for a lock of another program at start-up. */
const OPEN_BUSY_TIMEOUT_MS = 1000;

/**
 * Opens the database at `path`. If the file or its folder does not exist, `openSqliteFile` creates it with
 * access for the current user only. A file of an earlier version is migrated. Once the file is open, SQLite
 * never waits for the lock of another program, because SQLite would block the event loop.
 */
export async function openSqliteFile(
  path: string,
  {
    pushSecretKeys,
    ...migration
  }: MigrationOptions & { readonly pushSecretKeys?: PushSecretKeysOption | undefined },
): Promise<OpenedSqliteFile> {
  // Load SQLite only when a file is opened, because the memory store does not need it.
  const { DatabaseSync } = await importSqlite();
  let file = resolve(path);
  function connect(name: string): DatabaseSync {
    createPrivateFile(name);
    return new DatabaseSync(name);
  }
  const connectForReading = (name: string): DatabaseSync => new DatabaseSync(name, { readOnly: true });
  let release: (() => void) | undefined;
  let cipher: PushSecretCipher;
  let connection: SqliteConnection | undefined;
  let descriptor: DatabaseDescriptor | undefined;
  function openConnection(busyTimeoutMs: number): SqliteConnection {
    const db = connect(file);
    try {
      db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; ${PRAGMAS}`);
      migrateSchema(db, file);
      const wal = openWalForFlush(db, file);
      db.exec("PRAGMA busy_timeout = 0");
      // Windows does not allow other programs to remove, move, or truncate open files of SQLite.
      if (process.platform === "win32") return { db, wal, walIndex: undefined, inspector: undefined };
      descriptor ??= new DatabaseDescriptor(file);
      const walIndex = wal === undefined ? undefined : new DatabaseDescriptor(`${file}-shm`);
      const log = wal !== undefined && walIndex ? { wal, walIndex: walIndex.number } : undefined;
      return { db, wal, walIndex, inspector: new OpenFileInspector(file, descriptor.number, log) };
    } catch (error) {
      db.close();
      throw error;
    }
  }
  function closeConnection(): void {
    const closing = connection;
    connection = undefined;
    if (closing?.wal !== undefined) closeSync(closing.wal);
    // The last connection that closes writes the WAL back to the database file and deletes it.
    closing?.db.close();
    closing?.walIndex?.close();
  }
  function requireConnection(): SqliteConnection {
    if (connection) return connection;
    throw new A2AError("UNAVAILABLE", "The task store has no connection to its file; try again later.");
  }
  function close(): void {
    try {
      closeConnection();
    } finally {
      descriptor?.close();
      release?.();
    }
  }
  try {
    file = resolveSymlinks(file);
    assertNoRecordedLoss(file);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    release = acquireFileLock(file, connect);
    cipher = await createPushSecretCipher(file, pushSecretKeys);
    migrateEarlierFile(file, connect, migration);
    connection = openConnection(OPEN_BUSY_TIMEOUT_MS);
  } catch (error) {
    close();
    throw toUnavailableError(error, `${file} cannot be opened`);
  }
  return {
    path: file,
    get db() {
      return requireConnection().db;
    },
    pushSecretCipher: cipher,
    flush: async () => {
      const { wal } = requireConnection();
      if (wal !== undefined) await syncData(wal);
    },
    flushSync: () => {
      const { wal } = requireConnection();
      if (wal !== undefined) fdatasyncSync(wal);
    },
    reconnect: () => {
      // A new file would be an empty store, in which no task exists. Only the open connection can read a removed file.
      if (!existsSync(file)) throw new Error("the file of the store is missing; restore it from a backup");
      closeConnection();
      connection = openConnection(0);
    },
    checkpointEntireWal: () => {
      const result = requireConnection().db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
      return result?.["busy"] === 0;
    },
    get isLogLarge() {
      return connection?.inspector?.isLogLarge ?? false;
    },
    findLoss: () => requireConnection().inspector?.findLoss(),
    setDamagedFilesAside: () => setDamagedFilesAside(file, connectForReading),
    close,
  };
}

async function importSqlite(): Promise<typeof import("node:sqlite")> {
  try {
    return await import("node:sqlite");
  } catch (cause) {
    const text = `SQLite requires Node.js 22.18 or later, and this is ${process.version}. Update Node.js, or use the store "memory".`;
    throw new Error(text, { cause });
  }
}

/**
 * Resolves symbolic links. SQLite places the WAL next to the target of a symbolic link. All paths to one
 * database file must lead to the same lock.
 */
function resolveSymlinks(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? resolveSymlinks(resolve(dirname(file), readlinkSync(file))) : file;
}

/**
 * Switches `synchronous` from `FULL` to `NORMAL` and returns the file descriptor of the WAL. After the switch
 * to `NORMAL`, the store syncs the WAL itself. With `FULL`, a commit writes its pages to the WAL and syncs
 * the WAL in the event loop. With `NORMAL`, a commit skips the sync, so the store can sync the WAL in another
 * thread. SQLite's recovery reads the WAL up to the first incomplete page, so the order of writes does not
 * matter. SQLite holds no locks on the WAL, so opening and closing the WAL is safe, unlike opening and
 * closing the database file. Returns `undefined` if the database has no WAL, for example on disks without
 * shared memory. Without a WAL, commits sync the disk in the event loop.
 */
function openWalForFlush(db: DatabaseSync, file: string): number | undefined {
  if (db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] !== "wal") return undefined;
  const wal = openSync(`${file}-wal`, "r+");
  syncFolder(dirname(file));
  db.exec("PRAGMA synchronous = NORMAL");
  return wal;
}

/**
 * Creates the cipher for the secrets of a store. Without keys in the options, the keys are in the file `<store>.key`,
 * which has one key per line. If the file does not exist, it is created with a random key. Call the function only while
 * the process holds the lock of the store.
 */
async function createPushSecretCipher(
  storeFile: string,
  keys: PushSecretKeysOption | undefined,
): Promise<PushSecretCipher> {
  if (keys !== undefined) return await PushSecretCipher.create(keys, '"pushSecretKeys" of SqliteStore');
  const keyFile = `${storeFile}.key`;
  if (!existsSync(keyFile)) writeKeyFile(keyFile, generatePushSecretKey());
  const lines = readFileSync(keyFile, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  return new PushSecretCipher(
    lines.map((line) => line.trim()),
    basename(keyFile),
  );
}

/** Creates a file that only the current user can read. A crash leaves either the whole file or no file. */
function writeKeyFile(keyFile: string, key: string): void {
  const incomplete = `${keyFile}.incomplete`;
  rmSync(incomplete, { force: true });
  const file = openSync(incomplete, "wx", 0o600);
  try {
    writeSync(file, `${key}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(incomplete, keyFile);
  syncFolder(dirname(keyFile));
}
