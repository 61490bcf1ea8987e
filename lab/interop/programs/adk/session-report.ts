/** The session of a caller after a scenario, in the JSON of ADK. Every peer program prints this report. */
export interface SessionReport {
  readonly events: readonly SessionReportEvent[];
  readonly state: Readonly<Record<string, unknown>>;
  /** Content of the caller's artifact service by file name. */
  readonly artifacts: Readonly<Record<string, SessionReportPart>>;
}

export interface SessionReportEvent {
  readonly author: string;
  readonly content?: { readonly role?: string; readonly parts?: readonly SessionReportPart[] | null } | null;
  readonly partial?: boolean | null;
  readonly errorCode?: string | null;
  readonly errorMessage?: string | null;
}

export interface SessionReportPart {
  readonly text?: string | null;
  readonly thought?: boolean | null;
  readonly functionCall?: { readonly name?: string; readonly args?: Record<string, unknown> } | null;
  readonly functionResponse?: { readonly name?: string; readonly response?: Record<string, unknown> } | null;
  readonly inlineData?: {
    readonly mimeType?: string;
    readonly data?: string;
    readonly displayName?: string;
  } | null;
  readonly fileData?: { readonly mimeType?: string; readonly fileUri?: string } | null;
}
