import type { FuzzSurface } from "./fuzz-request.ts";

export interface FuzzResponse {
  readonly status: number;
  readonly contentType: string;
  /** The body, or the part that arrived before the fuzzer closed a stream. */
  readonly body: string;
  /** Whether the server ended the body. */
  readonly isComplete: boolean;
}

/**
 * Returns why a response is wrong for any request, or `undefined`. A server may refuse a request in any way that blames
 * the client. Internal errors, and bodies that contradict their content type, are mistakes of the server.
 */
export function findResponseProblem(surface: FuzzSurface, response: FuzzResponse): string | undefined {
  const { status, contentType, body, isComplete } = response;
  if (status < 200 || status > 599) return `the status is ${status}`;
  if (status >= 500) return `the status is ${status}`;
  if (INTERNAL_ERROR_CODE.test(body)) return "the body contains an internal error";
  if (/"status":"INTERNAL"|"reason":"INTERNAL"/.test(body)) return "the body contains the reason INTERNAL";
  if (/\bat [^ ]+ \(?(?:file|node):/.test(body)) return "the body contains a stack trace";
  if (isComplete && contentType.startsWith("application/json") && body !== "" && !isJson(body))
    return "the body is not JSON";
  if (surface !== "MCP" && status >= 400 && body !== "" && !contentType.startsWith("application/"))
    return `an error has the content type ${contentType || "none"}`;
  return undefined;
}

/** The JSON-RPC codes of INTERNAL and INVALID_AGENT_RESPONSE. */
const INTERNAL_ERROR_CODE = /"code":-3(?:2603|2006)\b/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
