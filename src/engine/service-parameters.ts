/** Request data that clients send outside of the operation's parameters in every binding (A2A §3.2.6). */
export interface ServiceParameters {
  /**
   * A2A version of the request in the form `Major.Minor`. Push notifications to webhooks of the request use
   * the same A2A version. Default: 1.0.
   */
  readonly version?: string;
  /** URIs of the extensions that are active for one request. Default: none. */
  readonly extensions?: readonly string[];
  /** Sequence number of the last event that the client received before the client resumes the stream. */
  readonly resumeAfterSeq?: number | undefined;
  /**
   * The request's `traceparent` header (W3C Trace Context), which identifies the caller's span. The server
   * does not validate the `traceparent` header.
   */
  readonly traceparent?: string | undefined;
  /**
   * True if the caller requires a task. If `needsTask` is true and the agent replies without a task, the
   * server creates a task that the reply completes.
   */
  readonly needsTask?: boolean | undefined;
}
