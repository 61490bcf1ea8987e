import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { A2AError } from "../../protocol/index.ts";

/** Files that this process writes to. A lock with our own process id is somebody else's when it is not among them. */
const HELD_LOCKS = new Set<string>();

/**
 * Says in a file beside it that this process writes to a file; answers what takes that back. What a process that was
 * killed has left is taken over. Throws INVALID_REQUEST, with the id of the process, while that one runs.
 */
export function lockFile(file: string): () => void {
  const lock = `${resolve(file)}.lock`;
  const content = JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString() });
  const temporary = `${lock}.${randomUUID()}`;
  writeFileSync(temporary, `${content}\n`, { flag: "wx" });
  try {
    while (!tryLink(temporary, lock)) takeOverStaleLock(lock, file);
  } finally {
    unlinkSync(temporary);
  }
  HELD_LOCKS.add(lock);
  return () => {
    if (HELD_LOCKS.delete(lock)) unlinkSync(lock);
  };
}

/** A file appears under its name at once and with all that is in it, or not at all. */
function tryLink(from: string, to: string): boolean {
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
  // Somebody else may be about to do the same: only what we looked at is moved away.
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if (readIfExists(aside) !== content) tryLink(aside, lock);
  unlinkSync(aside);
}

interface LockHolder {
  readonly pid?: number;
  readonly host?: string;
  readonly since?: string;
}

function hasExited({ pid, host }: LockHolder, lock: string): boolean {
  // Whether a process of another machine runs, nobody here can tell.
  if (pid === undefined || host !== hostname()) return false;
  if (pid === process.pid) return !HELD_LOCKS.has(lock);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // It may be of another user, and then it runs.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function createLockedError(file: string, lock: string, { pid, host, since }: LockHolder): A2AError {
  const owner = pid === undefined ? "Another process" : `Process ${pid} on ${host}`;
  const when = since === undefined ? "" : ` since ${since}`;
  return new A2AError(
    "INVALID_REQUEST",
    `${owner} writes to ${file}${when}. To do: wait for it, or, when you know that it is gone, delete ${lock}.`,
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
