import type { A2AError, ErrorReason } from "../../protocol/index.ts";
import { type GrpcError, toGrpcError as toGrpcErrorV1 } from "../grpc-error.ts";
import { ERROR_MAPPINGS, toA2AErrorName, type SpecPatchVersion } from "../error-mappings.ts";
import { toRestError } from "../rest-error.ts";

/** JSON-RPC codes for errors that 0.3 does not define. */
const JSON_RPC_CODES_OF_ERRORS_UNDEFINED_IN_03: Partial<Record<ErrorReason, number>> = {
  EXTENSION_SUPPORT_REQUIRED: -32600,
  VERSION_NOT_SUPPORTED: -32004,
};

/**
 * Converts an error to a JSON-RPC error of 0.3. The JSON-RPC error has no `data` member. One Go client
 * accepts only an object as `data`, and another accepts only a list.
 */
export function toJsonRpcError({ reason, message }: A2AError): { code: number; message: string } {
  return {
    code: JSON_RPC_CODES_OF_ERRORS_UNDEFINED_IN_03[reason] ?? ERROR_MAPPINGS[reason].jsonRpc,
    message,
  };
}

/**
 * Converts an error to an HTTP+JSON response for 0.3 clients. A2A 0.3 does not specify a format for
 * HTTP+JSON errors. The response body contains a code for JavaScript clients, a type for Python clients,
 * and the 1.0 members for Go clients.
 */
export function toRestErrorResponse(
  error: A2AError,
  revision: SpecPatchVersion,
): { status: number; body: object } {
  const { status, body } = toRestError(error, revision);
  return { status, body: { type: toA2AErrorName(error.reason), ...toJsonRpcError(error), ...body } };
}

/**
 * Converts an error to a gRPC status for 0.3 clients. A2A 0.3 does not specify gRPC statuses. The function
 * uses the gRPC statuses of A2A 1.0.0, as other 0.3 implementations do. The status message starts with the
 * error name, because the Python client expects the name there.
 */
export function toGrpcError(error: A2AError): GrpcError {
  const status = toGrpcErrorV1(error, "1.0.0");
  return { ...status, message: `${toA2AErrorName(error.reason)}: ${error.message}` };
}
