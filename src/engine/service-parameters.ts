/** Request data that is sent outside of the operation's parameters on every binding (A2A §3.2.6). */
export interface ServiceParameters {
  /**
   * A2A version of the request in the form `Major.Minor`. Later push notifications use the same version.
   * Default: 1.0.
   */
  readonly version?: string;
  /** URIs of the extensions that are active for this request. Default: none. */
  readonly extensions?: readonly string[];
  /** Seq of the last event that the client received from the stream it resumes. */
  readonly resumeAfterSeq?: number | undefined;
  /**
   * The request's `traceparent` header (W3C Trace Context), which identifies the caller's span. The header is
   * not validated.
   */
  readonly traceparent?: string | undefined;
  /** True: the caller requires a task. A reply without a task then completes the task instead. */
  readonly needsTask?: boolean | undefined;
}
