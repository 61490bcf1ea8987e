import { A2AError } from "../protocol/index.ts";
import type { AppendRefusal } from "./task-store.ts";

const APPEND_REFUSAL_REASON_TEXTS: Record<AppendRefusal, string> = {
  conflict: "another writer has changed it",
  "duplicate-message": "its message was sent twice at the same time",
};

/** Creates the error for the callers and readers of a task whose events could not be committed. */
export function createCommitFailedError(taskId: string, cause: AppendRefusal | Error): A2AError {
  const reason =
    typeof cause === "string" ? APPEND_REFUSAL_REASON_TEXTS[cause] : "the store is not available";
  const text = `Task ${taskId} could not be stored: ${reason}. Try again later.`;
  return new A2AError("UNAVAILABLE", text, { cause, metadata: { taskId }, retryAfter: 1 });
}
