import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
  linkSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { SharedTextEncoder, type TrafficSink } from "../../../observe/trace/recording/index.ts";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { A2AError } from "../../../protocol/index.ts";

/** Options for `openFileSink`. */
export interface FileSinkOptions {
  /**
   * Whether the sink flushes the file to disk after each problem, so that the record lines of finished
   * problems survive a power failure. If `fsync` is `false`, record lines survive SIGKILL, but not a power
   * failure. Default: `false`.
   */
  readonly fsync?: boolean;
}

const assertKnownOptions = defineOptionNames<FileSinkOptions>()("openFileSink", "fsync");

/** A sink that stores each line before `write` returns, so that a killed run keeps its scores. */
export interface RunSink extends TrafficSink {
  readonly isSynchronous: true;
  /**
   * Called after a line that ends a problem or the run. In `sync`, a sink can flush its data to
   * permanent storage.
   */
  sync?(): void;
}

/** A sink that appends record lines to a file, and stores each long text once. */
export interface FileSink extends RunSink {
  /** Closes the record file and releases its lock. Record lines that are written after `close` are lost. */
  close(): void;
}

/**
 * Opens a record file for appending, and creates the file's folder if necessary. Each record line is written
 * synchronously (in about 1.5 µs), so a killed process loses no written line. Throws `INVALID_REQUEST` if
 * another process writes to the record file.
 */
export function openFileSink(file: string, options: FileSinkOptions = {}): FileSink {
  assertKnownOptions(options);
  const { fsync = false } = options;
  mkdirSync(dirname(file), { recursive: true });
  const unlock = lockFile(file);
  let fd: number | undefined;
  try {
    fd = openSync(file, "a+");
  } catch (cause) {
    unlock();
    throw cause;
  }
  // A process that was killed earlier may have left an incomplete line.
  let isTorn = !endsWithNewline(fd);
  const requireOpen = (): number => {
    if (fd === undefined) throw new Error(`The file ${file} is closed. Open it again to write.`);
    return fd;
  };
  const texts = new SharedTextEncoder();
  let hasHeader = false;
  return {
    isSynchronous: true,
    write: (lines, header) => {
      const descriptor = requireOpen();
      const bytes = Buffer.from(`${isTorn ? "\n" : ""}${hasHeader ? "" : header}${texts.encode(lines)}`);
      let written = 0;
      try {
        // A full disk may accept only part of the bytes.
        while (written < bytes.length) written += writeSync(descriptor, bytes, written);
        isTorn = false;
        hasHeader = true;
      } catch (cause) {
        isTorn ||= written > 0;
        throw cause;
      }
    },
    sync: () => {
      if (fsync) fsyncSync(requireOpen());
    },
    close: () => {
      if (fd === undefined) return;
      closeSync(fd);
      fd = undefined;
      unlock();
    },
  };
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last.toString() === "\n";
}

/**
 * Paths of the lock files that this process holds. If a lock file contains the ID of this process but is
 * missing from `HELD_LOCKS`, an earlier process with the same ID created the lock file.
 */
const HELD_LOCKS = new Set<string>();

/**
 * Locks a file for this process by creating a lock file in the same folder. The returned function releases
 * the lock. `lockFile` replaces the lock of a process that has exited. Throws `INVALID_REQUEST` with the
 * process ID of the owner if another process holds the lock.
 */
export function lockFile(file: string): () => void {
  const lock = `${resolve(file)}.lock`;
  const content = JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString() });
  const temporary = `${lock}.${randomUUID()}`;
  writeFileSync(temporary, `${content}\n`, { flag: "wx" });
  try {
    while (!tryLinkLockFile(temporary, lock)) takeOverStaleLock(lock, file);
  } finally {
    unlinkSync(temporary);
  }
  HELD_LOCKS.add(lock);
  return () => {
    if (HELD_LOCKS.delete(lock)) unlinkSync(lock);
  };
}

/**
 * State of the process that writes to a file. `unknown` means that no process has locked the file, because the writer
 * has closed it, or uses no lock.
 */
export type FileWriterState = "active" | "exited" | "unknown";

/** Returns the state of the process that has locked a file. A process of another host counts as active. */
export function readFileWriterState(file: string): FileWriterState {
  const lock = `${resolve(file)}.lock`;
  const content = readIfExists(lock);
  if (content === undefined) return "unknown";
  return hasExited(parseLockHolder(content), lock) ? "exited" : "active";
}

/** Creates the lock file as a hard link, so that the file appears atomically with its complete content. */
function tryLinkLockFile(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function takeOverStaleLock(lock: string, file: string): void {
  const content = readIfExists(lock);
  if (content === undefined) return;
  const holder = parseLockHolder(content);
  if (!hasExited(holder, lock)) throw createLockedError(file, lock, holder);
  // Another process may replace the same stale lock at the same time, so only the lock that was read is moved
  // away.
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if (readIfExists(aside) !== content) tryLinkLockFile(aside, lock);
  unlinkSync(aside);
}

interface LockHolder {
  readonly pid?: number;
  readonly host?: string;
  readonly since?: string;
}

function hasExited({ pid, host }: LockHolder, lock: string): boolean {
  // This host cannot check a process of another host, so that process counts as running.
  if (pid === undefined || host !== hostname()) return false;
  if (pid === process.pid) return !HELD_LOCKS.has(lock);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // Other errors mean that the process exists, for example under another user.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function createLockedError(file: string, lock: string, { pid, host, since }: LockHolder): A2AError {
  const owner = pid === undefined ? "Another process" : `Process ${pid} on ${host}`;
  const when = since === undefined ? "" : ` since ${since}`;
  return new A2AError(
    "INVALID_REQUEST",
    `${owner} writes to ${file}${when}. To do: wait until it has finished, or delete ${lock} if the process no longer exists.`,
  );
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function parseLockHolder(text: string): LockHolder {
  try {
    return (JSON.parse(text) ?? {}) as LockHolder;
  } catch {
    return {};
  }
}
