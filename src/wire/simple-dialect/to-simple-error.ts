import type { A2AError } from "../../protocol/index.ts";
import { toJsonRpcError, type JsonRpcError } from "../json-rpc.ts";

/**
 * Converts an error to a JSON-RPC error of the simple dialect. The simple dialect uses the error codes of
 * JSON-RPC and A2A, with one exception. If a task is not found, the code is -32004, as in the server of the
 * guide to A2A. A2A uses the code -32004 for unsupported operations, so `data` contains the error reason.
 */
export function toSimpleError(error: A2AError): JsonRpcError {
  const jsonRpcError = toJsonRpcError(error);
  return error.reason === "TASK_NOT_FOUND" ? { ...jsonRpcError, code: -32004 } : jsonRpcError;
}
