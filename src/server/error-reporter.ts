import { generateErrorId, type Observer } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import type { UnknownToA2AErrorConverter } from "./bindings/event-stream.ts";

/**
 * Creates the function that converts each error of a server to the error that its caller receives. The observer receives
 * the errors that the caller has not caused, with the error id in the caller's message.
 */
export function createErrorReporter(observer: Observer): UnknownToA2AErrorConverter {
  return (where, error) => {
    if (error instanceof A2AError && !isServerFault(error)) return error;
    const errorId = generateErrorId();
    observer.onError?.({ where, error, errorId });
    return error instanceof A2AError ? error : createInternalError(error, errorId);
  };
}

function createInternalError(cause: unknown, errorId: string): A2AError {
  const text = `The server failed to process the request; its log has the cause under error id ${errorId}.`;
  return new A2AError("INTERNAL", text, { cause });
}

/**
 * Returns true if an error is internal. The server hides the cause of an internal error from callers, and
 * reports the cause to the observer.
 */
function isServerFault({ reason, cause }: A2AError): boolean {
  return cause !== undefined && (reason === "INTERNAL" || reason === "UNAVAILABLE");
}
