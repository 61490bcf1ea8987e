import {
  A2AError,
  type A2AErrorOptions,
  type ErrorReason,
  type FieldViolation,
  type JsonObject,
  type JsonValue,
} from "../protocol/index.ts";
import { ERROR_MAPPINGS, isErrorReason } from "./error-mappings.ts";

const A2A_DOMAIN = "a2a-protocol.org";
// A2A keeps its domain for its own reasons, and -32000 alone does not tell "sign in" from "try later".
const COLLOQUY_DOMAIN = "colloquy";

const ERROR_INFO_TYPE = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST_TYPE = "type.googleapis.com/google.rpc.BadRequest";
const RETRY_INFO_TYPE = "type.googleapis.com/google.rpc.RetryInfo";

/** What an error says beside its message, as ProtoJSON `Any` objects (A2A §9.5, §11.6). */
export function toErrorDetails(error: A2AError): JsonObject[] {
  const { reason, metadata, violations, retryAfter } = error;
  const { isDefinedByA2A: a2a, jsonRpc } = ERROR_MAPPINGS[reason];
  const details: JsonObject[] = [];
  if (a2a || jsonRpc === -32000) {
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

/** What is known of a received error before its details are read. */
export interface ErrorWithoutDetails {
  message: string;
  /** The reason when the details name none. */
  fallbackReason: ErrorReason;
}

/** The error that `details` (of whatever shape a server sent) and an outline tell of. An ErrorInfo's reason wins. */
export function fromErrorDetails(
  details: unknown,
  { message, fallbackReason: fallback }: ErrorWithoutDetails,
): A2AError {
  let reason = fallback;
  const options: A2AErrorOptions & { details: JsonObject[] } = { details: [] };
  // 0.3 and some 1.0 servers send one object where 1.0 wants an array.
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

export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
