import type { JsonObject } from "./json.ts";

/**
 * The errors that A2A defines (A2A §3.3.2), by the `reason` that they carry on the wire. What is said of each, here and
 * below, is what `docs/reference/errors.md` says: the cause, and what to do.
 */
export type A2AErrorReason =
  /** There is no such task, or it is another caller's. To do: check the id, and ask as who began it. */
  | "TASK_NOT_FOUND"
  /** The task has ended, so there is nothing to cancel. To do: read it with GetTask. */
  | "TASK_NOT_CANCELABLE"
  /** The agent sends no push notifications; its card says so. To do: subscribe, or ask with GetTask. */
  | "PUSH_NOTIFICATION_NOT_SUPPORTED"
  /**
   * The agent, or the version that is spoken, has no such operation, or the task's state forbids it. To do:
   * what the message says; often a new message without `taskId`.
   */
  | "UNSUPPORTED_OPERATION"
  /**
   * A part or a body is of a media type that the agent does not take. To do: send one of the card's
   * `defaultInputModes`.
   */
  | "CONTENT_TYPE_NOT_SUPPORTED"
  /**
   * What an agent said is not A2A, or its card is not signed by whom you trust. To do: tell its owner;
   * `--debug` of the command line shows what came.
   */
  | "INVALID_AGENT_RESPONSE"
  /**
   * The card promises an extended card, and there is none for this caller. To do: use the public card.
   */
  | "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
  /**
   * The card requires an extension that the client did not ask for. To do: if you speak it, give
   * `extensions: [uri]`.
   */
  | "EXTENSION_SUPPORT_REQUIRED"
  /**
   * The agent does not speak the version that was asked for. To do: speak one that its card names, for
   * example `version: "0.3"`.
   */
  | "VERSION_NOT_SUPPORTED";

/** The errors of the carriers, which A2A takes from JSON-RPC, HTTP and gRPC. */
export type TransportErrorReason =
  /** The body is not JSON in UTF-8, or it ended too early. To do: send one JSON object. */
  | "PARSE_ERROR"
  /**
   * The body is JSON, but no request of JSON-RPC 2.0. To do: send `jsonrpc`, `method`, `params` and `id`.
   */
  | "INVALID_REQUEST"
  /**
   * There is no such method; names of 0.3 and 1.0 differ. To do: name one of the version in `A2A-Version`.
   */
  | "METHOD_NOT_FOUND"
  /** The parameters are wrong; `violations` has every one, with its path. To do: correct those. */
  | "INVALID_PARAMS"
  /**
   * The server, or the program that is used, failed. To do: look into its log or observer, which has the
   * cause.
   */
  | "INTERNAL"
  /**
   * There is no agent, card, tenant or page at this address. To do: check the URL; `GET /a2a` lists a
   * server's agents.
   */
  | "NOT_FOUND"
  /** The address is right, the HTTP method is not. To do: use one of the `Allow` header. */
  | "METHOD_NOT_ALLOWED"
  /**
   * The request is larger than the server takes (10 MiB unless set). To do: give a URL in place of bytes.
   */
  | "PAYLOAD_TOO_LARGE"
  /**
   * There are no credentials, or they are wrong. To do: give what the card asks for, `auth` of `connect`.
   */
  | "UNAUTHENTICATED"
  /**
   * The credentials are right, but not for this; or the server does not answer for this host name. To do:
   * ask for the scope, or set `publicUrl`.
   */
  | "PERMISSION_DENIED"
  /** The server, or this caller, has too much under way. To do: try again after `retryAfter` seconds. */
  | "RESOURCE_EXHAUSTED"
  /**
   * Nobody answers, or the server is closing. To do: try again; check that the agent is running at that URL.
   */
  | "UNAVAILABLE";

export type ErrorReason = A2AErrorReason | TransportErrorReason;

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
