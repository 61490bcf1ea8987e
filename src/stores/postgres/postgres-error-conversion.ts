import { A2AError } from "../../protocol/index.ts";
import type { UnhealthyStoreState } from "../store-health-monitor.ts";

/** Delay in seconds until callers should repeat a request, like `STORE_RETRY_AFTER_SECONDS` of the engine. */
const RETRY_AFTER_SECONDS = 2;

/** An error of the database, or of the connection to it, with an SQLSTATE or a code of Node.js. */
interface CodedError extends Error {
  readonly code: string;
}

/** Unique violation, serialization failure, and deadlock. The transaction has changed nothing. */
const CONCURRENT_WRITE_CODES = new Set(["23505", "40001", "40P01"]);

/** Causes and remedies of SQLSTATE codes and of codes of Node.js that an operator can resolve. */
const CAUSES_BY_CODE: Readonly<Record<string, string>> = {
  "25006": "the database is read-only; connect to the primary server",
  "28000": "the database refuses the user; check the user of the store's URL and pg_hba.conf",
  "28P01": "the database refuses the password; check the user and the password of the store's URL",
  "3D000": "the database does not exist; create it, or check the name at the end of the store's URL",
  "3F000": "the schema colloquy is missing; run colloquy store migrate",
  "42501": "the user lacks a privilege; grant it all privileges on the schema colloquy and its tables",
  "42P01": "a table of the schema colloquy is missing; run colloquy store migrate",
  "53100": "the disk of the database is full; free some space",
  "53200": "the database is out of memory; give it more memory",
  "53300": "the database has too many connections; reduce poolSize, or raise max_connections",
  "55P03": "another transaction held a lock for too long",
  "57014":
    "the database canceled the statement, because of its statement_timeout or on request of an operator",
  "57P01": "the database is shutting down; start it again",
  "57P02": "the database has crashed; check its log",
  "57P03": "the database is starting; wait, or check its log",
  ECONNREFUSED: "nothing accepts connections at the host and port of the store's URL; start the database",
  ECONNRESET: "the database closed the connection; check that it is running",
  EHOSTUNREACH: "the host of the store's URL cannot be reached; check the network",
  ENETUNREACH: "the host of the store's URL cannot be reached; check the network",
  ENOTFOUND: "the host of the store's URL is unknown; check the URL",
  EPIPE: "the database closed the connection; check that it is running",
  ETIMEDOUT: "the database did not answer in time; check the network and the load of the database",
};

/** A canceled statement, and a lock that was not available in time. The transaction has changed nothing. */
const TEMPORARY_STATEMENT_CODES = new Set(["55P03", "57014"]);
const DISK_FULL_CODE = "53100";
/** Errors that concern the database and not one statement: connections, resources, operators, and the system. */
const FAILING_CODES = /^(08|53|57P|58|XX|25006|28|3D|3F|42501|42P01|E[A-Z]+$)/;
/** Messages of errors of `pg` that have no code. All of them concern the connection. */
const CONNECTION_MESSAGES = /connection|timeout|terminated|not queryable|ended/i;

const OUTCOME_UNKNOWN_CODES = /^(08|57P01|57P02|ECONNRESET|EPIPE|ETIMEDOUT)/;
const OUTCOME_UNKNOWN_MESSAGES = /terminated|read timeout|not queryable/i;

/** Returns true if the transaction failed because another transaction committed at the same time. */
export function isConcurrentWriteError(error: unknown): boolean {
  return hasCode(error) && CONCURRENT_WRITE_CODES.has(error.code);
}

/** Returns the state of the store after an error, or `undefined` if the error concerns only its statement. */
export function findPostgresStateAfterError(error: unknown): UnhealthyStoreState | undefined {
  const cause = error instanceof A2AError ? error.cause : error;
  if (hasCode(cause)) {
    if (cause.code === DISK_FULL_CODE) return "full";
    return FAILING_CODES.test(cause.code) ? "failing" : undefined;
  }
  return cause instanceof Error && CONNECTION_MESSAGES.test(cause.message) ? "failing" : undefined;
}

/**
 * Returns true if the connection was lost or timed out during a statement, so that the database may have committed the
 * transaction. If no connection was available, the statement did not run.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (hasCode(error)) return OUTCOME_UNKNOWN_CODES.test(error.code);
  return error instanceof Error && OUTCOME_UNKNOWN_MESSAGES.test(error.message);
}

/** Returns true if a repetition of the statement can succeed, although the error concerns only the statement. */
export function isTemporaryStatementError(error: unknown): boolean {
  return hasCode(error) && TEMPORARY_STATEMENT_CODES.has(error.code);
}

/** Returns true if the user of the database lacks a privilege. */
export function isPrivilegeError(error: unknown): boolean {
  return hasCode(error) && error.code === "42501";
}

/** Converts an error to `UNAVAILABLE` with a remedy. The text contains no part of the store's URL. */
export function toPostgresUnavailableError(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  const known = hasCode(error) ? CAUSES_BY_CODE[error.code] : undefined;
  const cause = known ?? describeUnknownCause(error);
  return new A2AError("UNAVAILABLE", `The task store is not available: ${cause}.`, {
    cause: error,
    retryAfter: RETRY_AFTER_SECONDS,
  });
}

function describeUnknownCause(error: unknown): string {
  if (error instanceof Error && CONNECTION_MESSAGES.test(error.message))
    return `the connection to the database failed (${error.message}); check that the database is running`;
  return error instanceof Error ? error.message : String(error);
}

function hasCode(error: unknown): error is CodedError {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
