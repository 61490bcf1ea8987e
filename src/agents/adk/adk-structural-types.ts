/**
 * Structural types for the ADK objects that the bridge uses. The converters and the processor depend on
 * structural types instead of `@google/adk`, so Colloquy can serve any object with a compatible `runAsync`.
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

/** A part of a `genai` `Content` object. A part normally has one content member, in addition to flags. */
export interface GenaiPart {
  text?: string;
  thought?: boolean;
  /** Encoded as base64. */
  thoughtSignature?: string;
  /** A file. The bytes in `data` are encoded as base64. */
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

/** Actions that an ADK event requests. */
export interface AdkEventActions {
  /** Ends the loop that runs the agent. */
  escalate?: boolean;
  transferToAgent?: string;
  /** Marks the event as the final response of its agent. */
  skipSummarization?: boolean;
  /** New session state values, by key. */
  stateDelta?: Record<string, unknown>;
  /** Versions of the files that the agent saved in its artifact service, by file name. */
  artifactDelta?: Record<string, number>;
}

/** An event that an ADK runner yields. */
export interface AdkEvent {
  id?: string;
  invocationId?: string;
  author?: string;
  branch?: string;
  content?: GenaiContent;
  /**
   * True if a later event repeats the complete content of this event. Sessions do not store partial events.
   */
  partial?: boolean;
  turnComplete?: boolean;
  errorCode?: string;
  errorMessage?: string;
  actions?: AdkEventActions;
  longRunningToolIds?: string[];
  usageMetadata?: object;
  groundingMetadata?: object;
  citationMetadata?: object;
  customMetadata?: Record<string, unknown>;
  /** Reason why the model stopped, for example `STOP`, `MAX_TOKENS`, or `SAFETY`. */
  finishReason?: string;
  /** Version of the model, as reported by the provider. */
  modelVersion?: string;
  /** Output value of a workflow node. */
  output?: unknown;
  /** Files that `actions.artifactDelta` lists. The bridge loads them from the artifact service. */
  savedFiles?: readonly SavedFile[];
  nodeInfo?: { path?: string };
}

/** A version of a file in an artifact service. */
export interface SavedFile {
  readonly filename: string;
  readonly version: number;
  readonly part: GenaiPart;
}

/** A function call, together with the session event that contains the call. */
export interface SessionFunctionCall {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

/** Key that identifies an ADK session. */
export interface SessionKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

interface AdkSessionService {
  getSession(key: SessionKey & { config?: { numRecentEvents?: number } }): Promise<object | undefined>;
  createSession(key: SessionKey & { state?: Record<string, unknown> }): Promise<object>;
}

interface AdkArtifactService {
  loadArtifact(request: SessionKey & { filename: string; version?: number }): Promise<GenaiPart | undefined>;
}

export interface AdkRunRequest {
  userId: string;
  sessionId: string;
  newMessage: GenaiContent;
  // A looser type, because the enum of ADK's `RunConfig` cannot be named without importing ADK.
  runConfig: object;
  abortSignal: AbortSignal;
  customMetadata?: Record<string, unknown>;
  /** Values that the run writes to the session state before its first event, by key. */
  stateDelta?: Record<string, unknown>;
}

/** Members of ADK's `Runner` that the bridge uses. */
export interface AdkRunner {
  readonly appName: string;
  /** Root agent or workflow of the runner. */
  readonly agent: { name: string; description?: string | undefined };
  readonly sessionService: AdkSessionService;
  /** Service that stores the files that agents save. The bridge sends each saved file as an A2A artifact. */
  readonly artifactService?: AdkArtifactService | undefined;
  runAsync(request: AdkRunRequest): AsyncGenerator<AdkEvent, void, undefined>;
}
