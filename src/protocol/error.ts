import type { JsonObject } from "./json.ts";

/**
 * Error reasons that A2A defines (A2A §3.3.2), spelled as in the wire format. `scripts/docs` copies the
 * comment of each reason into `docs/reference/errors.md`. Each comment states the cause of the error and,
 * after "To do:", the remedy.
 */
type A2AErrorReason =
  /**
   * The task does not exist or belongs to another caller. To do: check the task id and the credentials.
   */
  | "TASK_NOT_FOUND"
  /** The task has already ended and cannot be canceled. To do: read the result of the task with GetTask. */
  | "TASK_NOT_CANCELABLE"
  /**
   * The agent does not support push notifications. To do: use SubscribeToTask, or poll the task with
   * GetTask.
   */
  | "PUSH_NOTIFICATION_NOT_SUPPORTED"
  /**
   * The agent or the protocol version does not support the operation, or the task's state does not allow the
   * operation. To do: follow the instructions in the error message. A new message without `taskId` often
   * succeeds.
   */
  | "UNSUPPORTED_OPERATION"
  /**
   * The agent does not accept the media type of a part or of the request body. To do: send a media type
   * that the card lists in `defaultInputModes`.
   */
  | "CONTENT_TYPE_NOT_SUPPORTED"
  /**
   * The agent's response violates A2A, or no trusted key has signed the agent card. To do: report the error
   * to the agent's operator. The `--debug` option of the command line shows the response.
   */
  | "INVALID_AGENT_RESPONSE"
  /**
   * The agent card declares an extended card, but the agent provides no extended card for this caller. To
   * do: use the public agent card.
   */
  | "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
  /**
   * The agent card requires an extension that the client did not activate. To do: if the client supports the
   * extension, pass `extensions: [uri]`.
   */
  | "EXTENSION_SUPPORT_REQUIRED"
  /**
   * The agent does not support the requested A2A version. To do: set the `version` option to a version that
   * the agent card lists.
   */
  | "VERSION_NOT_SUPPORTED";

/** Reasons for transport errors, which A2A adopts from JSON-RPC, HTTP, and gRPC. */
type TransportErrorReason =
  /**
   * The request body is incomplete or is not valid JSON in UTF-8. To do: send one JSON object as the
   * request body.
   */
  | "PARSE_ERROR"
  /**
   * The request body is valid JSON but not a JSON-RPC 2.0 request. To do: send a request with `jsonrpc`,
   * `method`, `params`, and `id`.
   */
  | "INVALID_REQUEST"
  /**
   * The JSON-RPC method does not exist in the requested A2A version. A2A 0.3 and 1.0 have different method
   * names. To do: use a method that the version in the `A2A-Version` header defines.
   */
  | "METHOD_NOT_FOUND"
  /**
   * The parameters of the request are invalid. `violations` lists every invalid parameter with its path. To
   * do: correct the parameters that `violations` lists.
   */
  | "INVALID_PARAMS"
  /**
   * The server failed, or a program that the server runs failed. To do: find the cause in the server's log or
   * in the errors that the server's observer receives.
   */
  | "INTERNAL"
  /**
   * The URL does not identify an agent, card, tenant, or page. To do: check the URL of the request. On any
   * Colloquy server, `GET /a2a` lists the agents.
   */
  | "NOT_FOUND"
  /**
   * The URL does not support the HTTP method of the request. To do: use a method listed in the `Allow`
   * response header.
   */
  | "METHOD_NOT_ALLOWED"
  /**
   * The request body exceeds the server's limit (10 MiB by default). To do: send a URL instead of the file
   * content.
   */
  | "PAYLOAD_TOO_LARGE"
  /**
   * The request has no credentials or has invalid credentials. To do: pass the credentials that the agent
   * card requires, with the `auth` option of `connect`.
   */
  | "UNAUTHENTICATED"
  /**
   * The credentials do not permit this request, or the server does not serve this host name. To do: request
   * the required scope, or set `publicUrl` on the server.
   */
  | "PERMISSION_DENIED"
  /**
   * The request exceeds a limit of the server or a limit of the caller. To do: retry the request after
   * `retryAfter` seconds.
   */
  | "RESOURCE_EXHAUSTED"
  /**
   * The server does not respond, the server is closing, or its task store cannot commit. To do: check that the
   * agent is running at the requested URL, and retry the request.
   */
  | "UNAVAILABLE";

export type ErrorReason = A2AErrorReason | TransportErrorReason;

/** Path of an invalid field in a request, and a remedy for the violation. */
export interface FieldViolation {
  /** Path of the invalid field in the request, for example `message.parts[0]`. */
  field: string;
  description: string;
}

export interface A2AErrorOptions {
  violations?: readonly FieldViolation[];
  /** Named string values that describe the error, for example `taskId`. */
  metadata?: Record<string, string>;
  /** Additional details of the error as ProtoJSON `Any` objects, each with an `@type` member. */
  details?: readonly JsonObject[];
  /** Time in seconds that the client must wait before it retries the request. */
  retryAfter?: number;
  /** Numeric code of an error that a peer has sent. */
  code?: number | undefined;
  cause?: unknown;
}

/**
 * An error that Colloquy reports to the caller. The `message` of the error describes the failure and
 * suggests one remedy.
 */
export class A2AError extends Error {
  override readonly name: string = "A2AError";
  readonly reason: ErrorReason;
  readonly violations: readonly FieldViolation[];
  readonly metadata: Record<string, string>;
  readonly details: readonly JsonObject[];
  readonly retryAfter: number | undefined;
  /**
   * Numeric code of an error that an agent has sent to the client: the `code` of the error object, the HTTP status, or
   * the gRPC status. Codes that A2A does not define are kept. Undefined for other errors.
   */
  readonly code: number | undefined;

  constructor(reason: ErrorReason, message: string, options: A2AErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.violations = options.violations ?? [];
    this.metadata = options.metadata ?? {};
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter;
    this.code = options.code;
  }

  /**
   * Converts a thrown value to an `A2AError`. Any value other than an `A2AError` becomes an `INTERNAL`
   * error whose message reveals nothing private.
   */
  static from(thrown: unknown): A2AError {
    if (thrown instanceof A2AError) return thrown;
    return new A2AError("INTERNAL", "The server failed to process the request; its log has the cause.", {
      cause: thrown,
    });
  }

  static taskNotFound(taskId: string): A2AError {
    return new A2AError(
      "TASK_NOT_FOUND",
      `Task ${taskId} was not found; check its id and your credentials.`,
      { metadata: { taskId } },
    );
  }

  /**
   * Creates an `INVALID_PARAMS` error. The message of the error describes the first violation, and
   * `violations` contains the reported violations. `count` is the number of all violations. Default: the number of
   * reported violations.
   */
  static invalidParams(violations: readonly FieldViolation[], count: number = violations.length): A2AError {
    const [first] = violations;
    const more = count > 1 ? ` (and ${count - 1} more)` : "";
    return new A2AError(
      "INVALID_PARAMS",
      first ? `${first.field}: ${first.description}${more}` : "The parameters are invalid",
      { violations },
    );
  }
}
