import type { A2AError, ErrorReason } from "../../protocol/index.ts";
import { toDetails } from "../error-details.ts";
import { ERRORS } from "../errors.ts";

/** What 0.3 has no code for, in the codes that it has. */
const INSTEAD: Partial<Record<ErrorReason, number>> = {
  EXTENSION_SUPPORT_REQUIRED: -32600,
  VERSION_NOT_SUPPORTED: -32004,
};

/** The error object of 0.3, the same in JSON-RPC and in HTTP+JSON. `data` may be anything there; it is what 1.0 says. */
export function toError(error: A2AError): { code: number; message: string; data?: object[] } {
  const { reason, message } = error;
  const code = INSTEAD[reason] ?? ERRORS[reason].jsonRpc;
  const data = toDetails(error);
  return data.length > 0 ? { code, message, data } : { code, message };
}
