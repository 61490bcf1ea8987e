import type { A2AError, ErrorReason } from "../../protocol/index.ts";
import { type GrpcError, toGrpcError as inGrpc } from "../grpc-error.ts";
import { ERROR_MAPPINGS, toErrorName, type SpecRevision } from "../error-mappings.ts";
import { toRestError } from "../rest-error.ts";

/** What 0.3 has no code for, in the codes that it has. */
const SUBSTITUTE_CODES: Partial<Record<ErrorReason, number>> = {
  EXTENSION_SUPPORT_REQUIRED: -32600,
  VERSION_NOT_SUPPORTED: -32004,
};

/** Without `data`: one of Go's clients takes only an object there, the other only a list. */
export function toJsonRpcError({ reason, message }: A2AError): { code: number; message: string } {
  return { code: SUBSTITUTE_CODES[reason] ?? ERROR_MAPPINGS[reason].jsonRpc, message };
}

/**
 * 0.3 leaves open what an error of HTTP+JSON looks like. This one has something for each of its clients: the code for
 * JavaScript's, the type for Python's, and what 1.0 has for Go's.
 */
export function toRestErrorResponse(
  error: A2AError,
  revision: SpecRevision,
): { status: number; body: object } {
  const { status, body } = toRestError(error, revision);
  return { status, body: { type: toErrorName(error.reason), ...toJsonRpcError(error), ...body } };
}

/**
 * Of gRPC, 0.3 says nothing either: the statuses are those that 1.0.0 began with, as its implementations have them, and
 * the name stands in front of the message, where Python's client looks for it.
 */
export function toGrpcError(error: A2AError): GrpcError {
  const told = inGrpc(error, "1.0.0");
  return { ...told, message: `${toErrorName(error.reason)}: ${error.message}` };
}
