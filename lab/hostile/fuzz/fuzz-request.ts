/** The API of the server that a fuzzed request addresses. */
export type FuzzSurface =
  | "v1 JSON-RPC"
  | "v1 REST"
  | "v0.3 JSON-RPC"
  | "v0.3 REST"
  | "simple dialect"
  | "OpenAI façade"
  | "MCP"
  | "agent card"
  | "raw HTTP";

/** A valid request, whose mutations a fuzzer sends. */
export interface SeedRequest {
  readonly surface: FuzzSurface;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Value of the JSON body. Default: no body. */
  readonly body?: unknown;
}

/**
 * A request of the fuzzer, in the form of the corpus. Its texts may contain placeholders: `$DONE`, `$WAITING`, and
 * `$WORKING` for the ids of a finished, a waiting, and a running task, `$MCP_SESSION` for a session of MCP 2025, and
 * `$UNIQUE` for an id that no earlier request contained.
 */
export interface FuzzRequest {
  readonly surface: FuzzSurface;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Values of the placeholders that depend on the server. */
export type FuzzPlaceholders = Readonly<Record<"$DONE" | "$WAITING" | "$WORKING" | "$MCP_SESSION", string>>;

/** Replaces the placeholders of a request. */
export function fillPlaceholders(request: FuzzRequest, values: FuzzPlaceholders): FuzzRequest {
  const fill = (text: string): string => fillPlaceholderTexts(text, values);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, fill(value)]),
  );
  return { ...request, path: fill(request.path), body: fill(request.body), headers };
}

/** Replaces the placeholders in a text, and `$UNIQUE` with a new id. Other words with a dollar sign stay. */
export function fillPlaceholderTexts(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$[A-Z_]+/g, (name) =>
    name === "$UNIQUE" ? crypto.randomUUID() : (values[name] ?? name),
  );
}
