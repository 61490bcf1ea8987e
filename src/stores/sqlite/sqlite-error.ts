import { A2AError } from "../../protocol/index.ts";

/** SQLite's primary result codes that an operator can do something about. */
const RESULT_CODE_CAUSES: Record<number, string> = {
  5: "another process is writing to it; stop that one",
  8: "it is read-only; give this process the right to write the file and its folder",
  10: "the disk failed to read or write; check it",
  11: "the file is damaged; restore it from a backup",
  13: "the disk is full; free some space",
  14: "the file cannot be opened; check that its folder exists and can be written",
  26: "the file is not a SQLite database; choose another path",
};

export function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && "errcode" in error;
}

/**
 * What SQLite or the file system threw, as an error that says what to do. `what` names no path unless the error stays
 * with the operator: a remote caller may read it.
 */
export function toUnavailableError(error: unknown, what = "The task store cannot serve"): A2AError {
  if (error instanceof A2AError) return error;
  const known = isSqliteError(error) ? RESULT_CODE_CAUSES[error.errcode & 0xff] : undefined;
  const cause = known ?? (error instanceof Error ? error.message : String(error));
  return new A2AError("UNAVAILABLE", `${what}: ${cause}.`, { cause: error });
}
