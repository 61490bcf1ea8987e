/** What a request says beside its parameters, whatever it travelled by (A2A §3.2.6). */
export interface ServiceParameters {
  /** Protocol version of the caller, `Major.Minor`; what is sent to this caller later is written in it. Default 1.0. */
  readonly version?: string;
  /** URIs of the extensions that are active for this request. Default: none. */
  readonly extensions?: readonly string[];
  /** The seq of the last event that the caller has of the stream that it resumes. */
  readonly resumeAfterSeq?: number | undefined;
  /** The caller's place in a distributed trace, as its `traceparent` header has it (W3C Trace Context); not checked. */
  readonly traceparent?: string | undefined;
  /** True: the caller must get a task. What an agent answers without one completes it then. */
  readonly needsTask?: boolean | undefined;
}
