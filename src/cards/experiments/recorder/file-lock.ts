import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { A2AError } from "../../../protocol/index.ts";

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
