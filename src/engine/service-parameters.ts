/** Request data that every binding sends outside of the operation's parameters (A2A §3.2.6). */
export interface ServiceParameters {
  /**
   * A2A version of the request in the form `Major.Minor`. Push notifications for the request's webhooks use
   * the same version. Default: 1.0.
   */
  readonly version?: string;
  /** URIs of the extensions that are active for the request. Default: none. */
  readonly extensions?: readonly string[];
  /** Sequence number of the last event that the client received from the stream that the client resumes. */
  readonly resumeAfterSeq?: number | undefined;
  /**
   * The request's `traceparent` header (W3C Trace Context), which identifies the caller's span. The header is
   * not validated.
   */
  readonly traceparent?: string | undefined;
  /**
   * True if the caller requires a task. If the agent replies without a task, the reply then completes a
   * task.
   */
  readonly needsTask?: boolean | undefined;
}
