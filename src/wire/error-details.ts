import {
  A2AError,
  type A2AErrorOptions,
  type ErrorReason,
  type FieldViolation,
  isObject,
  type JsonObject,
  type JsonValue,
} from "../protocol/index.ts";
import { ERROR_MAPPINGS, isDefinedByA2A, isErrorReason } from "./error-mappings.ts";

const A2A_DOMAIN = "a2a-protocol.org";
// A2A reserves its domain for its own reasons. Other errors need a domain too, because -32000 alone does not
// distinguish "sign in" from "try later".
const COLLOQUY_DOMAIN = "colloquy";

const ERROR_INFO_TYPE = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST_TYPE = "type.googleapis.com/google.rpc.BadRequest";
const RETRY_INFO_TYPE = "type.googleapis.com/google.rpc.RetryInfo";

/** Converts the details of an error to ProtoJSON `Any` objects (A2A §9.5, §11.6). */
export function toErrorDetails(error: A2AError): JsonObject[] {
  const { reason, metadata, violations, retryAfter } = error;
  const a2a = isDefinedByA2A(reason);
  const details: JsonObject[] = [];
  if (a2a || ERROR_MAPPINGS[reason].jsonRpc === -32000) {
    details.push({ "@type": ERROR_INFO_TYPE, reason, domain: a2a ? A2A_DOMAIN : COLLOQUY_DOMAIN, metadata });
  }
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, description }) => ({ field, description }));
    details.push({ "@type": BAD_REQUEST_TYPE, fieldViolations });
  }
  if (retryAfter !== undefined) details.push({ "@type": RETRY_INFO_TYPE, retryDelay: `${retryAfter}s` });
  details.push(...error.details);
  return details;
}

/** Message and code of a received error, and the reason to use if the details contain no reason. */
interface ErrorMessageAndFallbackReason {
  message: string;
  code: number | undefined;
  /** Reason of the error if the error details contain no known reason. */
  fallbackReason: ErrorReason;
}

/**
 * Creates an error from error details that were received in any format. If the details contain an ErrorInfo,
 * its reason takes precedence over `fallbackReason`.
 */
export function fromErrorDetails(
  details: unknown,
  { message, code, fallbackReason: fallback }: ErrorMessageAndFallbackReason,
): A2AError {
  let reason = fallback;
  const options: A2AErrorOptions & { details: JsonObject[] } = { details: [], code };
  // 0.3 servers and some 1.0 servers send one object instead of the array that 1.0 requires.
  for (const detail of Array.isArray(details) ? details : [details]) {
    if (!isObject(detail)) continue;
    const type = detail["@type"];
    if (type === ERROR_INFO_TYPE) {
      if (isErrorReason(detail.reason)) reason = detail.reason;
      options.metadata = { ...options.metadata, ...extractStringMembers(detail.metadata) };
    } else if (type === BAD_REQUEST_TYPE) {
      options.violations = parseViolations(detail.fieldViolations ?? detail.field_violations);
    } else if (type === RETRY_INFO_TYPE) {
      const delay = detail.retryDelay ?? detail.retry_delay;
      const seconds = typeof delay === "string" ? Number.parseFloat(delay) : Number.NaN;
      if (Number.isFinite(seconds)) options.retryAfter = seconds;
    } else options.details.push(detail);
  }
  return new A2AError(reason, message, options);
}

function parseViolations(json: JsonValue | undefined): FieldViolation[] {
  if (!Array.isArray(json)) return [];
  return json.filter(isObject).map(({ field, description }) => ({
    field: typeof field === "string" ? field : "",
    description: typeof description === "string" ? description : "",
  }));
}

function extractStringMembers(json: JsonValue | undefined): Record<string, string> {
  if (!isObject(json)) return {};
  return Object.fromEntries(
    Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
