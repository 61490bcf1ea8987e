import type { A2AError, ErrorReason } from "../../protocol/index.ts";
import { type GrpcError, toGrpcError as toGrpcErrorV1 } from "../grpc-error.ts";
import { ERROR_MAPPINGS, toErrorName, type SpecRevision } from "../error-mappings.ts";
import { toRestError } from "../rest-error.ts";

/** JSON-RPC codes for errors that 0.3 does not define. */
const SUBSTITUTE_CODES: Partial<Record<ErrorReason, number>> = {
  EXTENSION_SUPPORT_REQUIRED: -32600,
  VERSION_NOT_SUPPORTED: -32004,
};

/**
 * Converts an error to a JSON-RPC error of 0.3. `data` is omitted, because one of Go's clients accepts only
 * an object there, and the other only a list.
 */
export function toJsonRpcError({ reason, message }: A2AError): { code: number; message: string } {
  return { code: SUBSTITUTE_CODES[reason] ?? ERROR_MAPPINGS[reason].jsonRpc, message };
}

/**
 * Converts an error to an HTTP+JSON response of 0.3, which does not specify an error format. The body has a
 * member for each known client: the code for JavaScript, the type for Python, and the 1.0 members for Go.
 */
export function toRestErrorResponse(
  error: A2AError,
  revision: SpecRevision,
): { status: number; body: object } {
  const { status, body } = toRestError(error, revision);
  return { status, body: { type: toErrorName(error.reason), ...toJsonRpcError(error), ...body } };
}

/**
 * Converts an error to a gRPC status of 0.3, which does not specify statuses. The statuses are those of A2A
 * 1.0.0, which implementations of 0.3 also use. The error name is a prefix of the message, where Python's
 * client looks for it.
 */
export function toGrpcError(error: A2AError): GrpcError {
  const status = toGrpcErrorV1(error, "1.0.0");
  return { ...status, message: `${toErrorName(error.reason)}: ${error.message}` };
}
