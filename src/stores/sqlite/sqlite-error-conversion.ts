import { A2AError } from "../../protocol/index.ts";
import type { UnhealthyStoreState } from "../store-health-monitor.ts";

/** SQLite result code for a lock that another connection holds. */
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/** Causes and remedies of the SQLite result codes that an operator can resolve. */
const RESULT_CODE_CAUSES: Record<number, string> = {
  5: "another process is writing to the file; stop that process",
  8: "the file is read-only; grant this process write access to the file and its folder",
  10: "the disk failed to read or write; check the disk",
  11: "the file is damaged; restore it from a backup",
  13: "the disk is full; free some space",
  14: "the file cannot be opened; check that its folder exists and can be written",
  26: "the file is not a SQLite database; choose another path",
};

/** Delay in seconds until callers should repeat a request, like `STORE_RETRY_AFTER_SECONDS` of the engine. */
const RETRY_AFTER_SECONDS = 2;

/** Causes and remedies of the error codes of the file system that an operator can resolve. */
const FILE_ERROR_CAUSES: Record<string, string> = {
  EACCES: 'this process may not write there; grant it write access, or use the store "memory"',
  EEXIST: "a part of its path is a file; choose another path",
  ENOTDIR: "a part of its path is a file; choose another path",
  ENOSPC: "the disk is full; free some space",
  EPERM: 'this process may not write there; grant it write access, or use the store "memory"',
  EROFS: 'the file system is read-only; choose another path, or use the store "memory"',
};

export function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && "errcode" in error;
}

/** Returns true if another program has locked the database, which usually lasts only for milliseconds. */
export function isLockedDatabaseError(error: unknown): boolean {
  const cause = unwrapUnavailableError(error);
  return isSqliteError(cause) && (cause.errcode & 0xff) === SQLITE_BUSY;
}

/** Errors after which only a new connection can tell what the file contains: I/O error, damage, no database. */
const RESULT_CODES_OF_FAILED_STORE = [10, 11, 26];

/**
 * Returns the state of a store after an error, or `undefined` if the error concerns only the statement that
 * failed, as with a text that is too long for SQLite.
 */
export function findStoreStateAfterError(error: unknown): UnhealthyStoreState | undefined {
  const cause = unwrapUnavailableError(error);
  if (!isSqliteError(cause)) return undefined;
  const resultCode = cause.errcode & 0xff;
  if (resultCode === SQLITE_FULL) return "full";
  if (RESULT_CODES_OF_FAILED_STORE.includes(resultCode)) return "failed";
  return resultCode in RESULT_CODE_CAUSES ? "failing" : undefined;
}

/**
 * Converts an error of SQLite or the file system to an `UNAVAILABLE` error with a remedy. `subject` may
 * contain a path only if no remote caller can read the error.
 */
export function toUnavailableError(error: unknown, subject = "The task store is not available"): A2AError {
  if (error instanceof A2AError) return error;
  const known = isSqliteError(error)
    ? RESULT_CODE_CAUSES[error.errcode & 0xff]
    : FILE_ERROR_CAUSES[(error as NodeJS.ErrnoException).code ?? ""];
  const cause = known ?? (error instanceof Error ? error.message : String(error));
  return new A2AError("UNAVAILABLE", `${subject}: ${cause}.`, {
    cause: error,
    retryAfter: RETRY_AFTER_SECONDS,
  });
}

/** Returns the error that `toUnavailableError` has converted. */
function unwrapUnavailableError(error: unknown): unknown {
  return error instanceof A2AError ? error.cause : error;
}
