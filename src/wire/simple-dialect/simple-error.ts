import type { A2AError } from "../../protocol/index.ts";
import { toJsonRpcError, type JsonRpcError } from "../json-rpc.ts";

/**
 * An error of the dialect: JSON-RPC's and A2A's codes, but for a task that is not found, which the guide's server gives
 * -32004. That is A2A's code for an unsupported operation, too; `data` has the reason of each.
 */
export function toSimpleError(error: A2AError): JsonRpcError {
  const told = toJsonRpcError(error);
  return error.reason === "TASK_NOT_FOUND" ? { ...told, code: -32004 } : told;
}
