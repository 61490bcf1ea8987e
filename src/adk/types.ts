/**
 * What the bridge needs of ADK, as structures: the converters and the processor run on these, so that they need
 * neither `@google/adk` nor a model, and any `runAsync` of this shape can be put on the network.
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

/** A part of a genai `Content`: normally one member beside the flags. */
export interface GenaiPart {
  text?: string;
  thought?: boolean;
  /** Base64. */
  thoughtSignature?: string;
  /** `data` is base64. */
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

/** What a runner yields. */
export interface AdkEvent {
  id?: string;
  invocationId?: string;
  author?: string;
  branch?: string;
  content?: GenaiContent;
  /** A piece of an answer that a later event repeats whole; such pieces are not stored in the session. */
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
  /** What a workflow node answered. */
  output?: unknown;
  nodeInfo?: { path?: string };
}

export interface AdkSessionKey {
  appName: string;
  userId: string;
  sessionId: string;
}

export interface AdkSessionService {
  getSession(key: AdkSessionKey & { config?: { numRecentEvents?: number } }): Promise<object | undefined>;
  createSession(key: AdkSessionKey): Promise<object>;
}

export interface AdkRunRequest {
  userId: string;
  sessionId: string;
  newMessage: GenaiContent;
  // The enum of ADK's RunConfig cannot be named without importing ADK.
  runConfig: object;
  abortSignal: AbortSignal;
  customMetadata?: Record<string, unknown>;
}

/** ADK's `Runner`, as far as it is used. */
export interface AdkRunner {
  readonly appName: string;
  /** The agent or the workflow. */
  readonly agent: { name: string; description?: string | undefined };
  readonly sessionService: AdkSessionService;
  runAsync(request: AdkRunRequest): AsyncGenerator<AdkEvent, void, undefined>;
}
