/**
 * Structural types for the parts of ADK that the bridge uses. The converters and the processor depend on
 * these types instead of `@google/adk`, so any object with a compatible `runAsync` can be served.
 */

export interface AdkFunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

export interface AdkFunctionResponse {
  id?: string;
  name?: string;
  response?: Record<string, unknown>;
}

/** A part of a genai `Content`. Normally one member is set, in addition to flags. */
export interface GenaiPart {
  text?: string;
  thought?: boolean;
  /** Encoded as base64. */
  thoughtSignature?: string;
  /** A file. `data` is encoded as base64. */
  inlineData?: { data?: string; mimeType?: string; displayName?: string };
  fileData?: { fileUri?: string; mimeType?: string; displayName?: string };
  videoMetadata?: object;
  functionCall?: AdkFunctionCall;
  functionResponse?: AdkFunctionResponse;
  executableCode?: object;
  codeExecutionResult?: object;
}

export interface GenaiContent {
  role?: string;
  parts?: GenaiPart[];
}

/** An event yielded by an ADK runner. */
export interface AdkEvent {
  id?: string;
  invocationId?: string;
  author?: string;
  branch?: string;
  content?: GenaiContent;
  /**
   * True for a chunk of an answer that a later event repeats completely. Partial events are not stored in the
   * session.
   */
  partial?: boolean;
  turnComplete?: boolean;
  errorCode?: string;
  errorMessage?: string;
  actions?: { escalate?: boolean; transferToAgent?: string };
  longRunningToolIds?: string[];
  usageMetadata?: object;
  groundingMetadata?: object;
  citationMetadata?: object;
  customMetadata?: Record<string, unknown>;
  /** Output of a workflow node. */
  output?: unknown;
  nodeInfo?: { path?: string };
}

/** A function call and the session event that contains it. */
export interface SessionCall {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

/** Identifies an ADK session. */
export interface SessionKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

interface AdkSessionService {
  getSession(key: SessionKey & { config?: { numRecentEvents?: number } }): Promise<object | undefined>;
  createSession(key: SessionKey): Promise<object>;
}

export interface AdkRunRequest {
  userId: string;
  sessionId: string;
  newMessage: GenaiContent;
  // A looser type, because the enum of ADK's `RunConfig` cannot be named without importing ADK.
  runConfig: object;
  abortSignal: AbortSignal;
  customMetadata?: Record<string, unknown>;
}

/** The members of ADK's `Runner` that the bridge uses. */
export interface AdkRunner {
  readonly appName: string;
  /** The root agent or workflow. */
  readonly agent: { name: string; description?: string | undefined };
  readonly sessionService: AdkSessionService;
  runAsync(request: AdkRunRequest): AsyncGenerator<AdkEvent, void, undefined>;
}
