import type { SteeringSignal } from "../protocol/index.ts";

/** Request data that is not part of the operation's parameters (A2A §3.2.6). */
export interface ServiceParameters {
  /**
   * A2A version of the request in the form `Major.Minor`. Webhooks that the request registers receive
   * notifications in the same A2A version. Default: 1.0.
   */
  readonly version?: string;
  /** URIs of the extensions that are active for one request. Default: none. */
  readonly extensions?: readonly string[];
  /** Sequence number of the last event that the client received, if the request resumes a stream. */
  readonly resumeAfterSeq?: number | undefined;
  /**
   * The request's `traceparent` header (W3C Trace Context), which identifies the caller's span. The server
   * does not validate the `traceparent` header.
   */
  readonly traceparent?: string | undefined;
  /** The request's `tracestate` header. Undefined if the `traceparent` header is invalid. */
  readonly tracestate?: string | undefined;
  /**
   * W3C `traceparent` of the server's span for the request, which is the parent of the agent's run. Undefined if the
   * server does not trace its requests.
   */
  readonly requestTraceparent?: string | undefined;
  /** The task of the agent that sends the request, as the caller states. */
  readonly parentTask?: { readonly taskId: string; readonly agent?: string | undefined } | undefined;
  /**
   * True if the caller requires a task. If `needsTask` is true and the agent replies without a task, the
   * server creates a task that the reply completes.
   */
  readonly needsTask?: boolean | undefined;
  /** True if the stream also contains the users' messages, as `message` events. Default: false. */
  readonly includesMessages?: boolean;
  /**
   * True if a SubscribeToTask stream ends when the task waits for its user, as the stream of a message does.
   * Default: false.
   */
  readonly endsAtInputRequest?: boolean | undefined;
  /** Effect of the message on a running agent. By default, `Agent.deliver` and `whileWorking` decide. */
  readonly steering?: SteeringSignal | undefined;
  /**
   * Approximate size of the request in characters of JSON, such as the length of its body. By default, the engine
   * measures the request. A later attempt at the turn has no known size.
   */
  readonly requestSize?: number | undefined;
  /** True if the request is SendStreamingMessage. The engine sets `isStreaming`. */
  readonly isStreaming?: boolean;
}
