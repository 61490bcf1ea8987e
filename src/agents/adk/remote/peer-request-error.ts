import { A2AError } from "../../../protocol/index.ts";
import type { AdkEvent } from "../adk-structural-types.ts";

/** Maximum length of an error message. The limit is needed because peers can send messages of any length. */
const MAX_ERROR_LENGTH = 2_000;

/** Returns the session event for a failed request to the peer. */
export function toErrorEvent(error: unknown): AdkEvent {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const errorMessage = message.length > MAX_ERROR_LENGTH ? `${message.slice(0, MAX_ERROR_LENGTH)}…` : message;
  return { errorCode: `A2A_${A2AError.from(error).reason}`, errorMessage, turnComplete: true };
}

/** Returns true if the error means that the peer's task no longer accepts answers. */
export function isPeerTaskClosedError(error: unknown): boolean {
  const { reason } = A2AError.from(error);
  return reason === "TASK_NOT_FOUND" || reason === "UNSUPPORTED_OPERATION";
}

export function createIdleTimeoutError(name: string, timeoutMs: number): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    `The agent ${name} sent no event for ${timeoutMs} ms, so its task was canceled. ` +
      `Raise "idleTimeoutMs" to wait longer.`,
  );
}
