import type { JsonObject } from "./json.ts";

/** The errors that A2A defines (A2A §3.3.2), by the `reason` that they carry on the wire. */
export type A2AReason =
  | "TASK_NOT_FOUND"
  | "TASK_NOT_CANCELABLE"
  | "PUSH_NOTIFICATION_NOT_SUPPORTED"
  | "UNSUPPORTED_OPERATION"
  | "CONTENT_TYPE_NOT_SUPPORTED"
  | "INVALID_AGENT_RESPONSE"
  | "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
  | "EXTENSION_SUPPORT_REQUIRED"
  | "VERSION_NOT_SUPPORTED";

/** The errors of the carriers, which A2A takes from JSON-RPC, HTTP and gRPC. */
export type CarrierReason =
  | "PARSE_ERROR"
  | "INVALID_REQUEST"
  | "METHOD_NOT_FOUND"
  | "INVALID_PARAMS"
  | "INTERNAL"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "PAYLOAD_TOO_LARGE"
  | "UNAUTHENTICATED"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "UNAVAILABLE";

export type ErrorReason = A2AReason | CarrierReason;

/** One thing that is wrong with a request: where, and what to do. */
export interface FieldViolation {
  /** Path in the request, for example `message.parts[0]`. */
  field: string;
  description: string;
}

export interface A2AErrorOptions {
  /** Every violation of a request, with its path. */
  violations?: readonly FieldViolation[];
  /** Facts about the error as strings, for example `{ taskId: "…" }`. */
  metadata?: Record<string, string>;
  /** Further ProtoJSON `Any` objects, each with `@type`. */
  details?: readonly JsonObject[];
  /** Seconds after which a retry makes sense. */
  retryAfter?: number;
  cause?: unknown;
}

/** Every failure that a caller is told about. `message` is for people and names one thing to do. */
export class A2AError extends Error {
  override readonly name: string = "A2AError";
  readonly reason: ErrorReason;
  readonly violations: readonly FieldViolation[];
  readonly metadata: Record<string, string>;
  readonly details: readonly JsonObject[];
  readonly retryAfter: number | undefined;

  constructor(reason: ErrorReason, message: string, options: A2AErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.violations = options.violations ?? [];
    this.metadata = options.metadata ?? {};
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter;
  }

  /** Any thrown value as an A2AError; what is not one becomes INTERNAL with a message that tells a caller nothing private. */
  static from(thrown: unknown): A2AError {
    if (thrown instanceof A2AError) return thrown;
    return new A2AError("INTERNAL", "The server failed to process the request; its log has the cause.", {
      cause: thrown,
    });
  }

  static taskNotFound(taskId: string): A2AError {
    return new A2AError(
      "TASK_NOT_FOUND",
      `Task ${taskId} was not found; check its id, and that you ask as who began it.`,
      {
        metadata: { taskId },
      },
    );
  }

  /** Bad input: the message names the first violation, `violations` has them all. */
  static invalidParams(violations: readonly FieldViolation[]): A2AError {
    const [first] = violations;
    const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
    return new A2AError(
      "INVALID_PARAMS",
      first ? `${first.field}: ${first.description}${more}` : "invalid parameters",
      {
        violations,
      },
    );
  }
}
