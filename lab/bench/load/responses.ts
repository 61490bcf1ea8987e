/** A parsed HTTP/1.1 response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Parses a complete response with or without chunked encoding. */
export function parseHttpResponse(bytes: Buffer): HttpResponse {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) throw new Error("the response has no complete head");
  const [line = "", ...fields] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const rest = bytes.subarray(end + 4);
  const body = headers["transfer-encoding"] === "chunked" ? decodeChunkedBody(rest) : rest;
  return { status: Number(line.split(" ")[1]), headers, body: body.toString("utf8") };
}

function decodeChunkedBody(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd === -1 ? 0 : Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!size) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** Splits an SSE body into its frames, each with its final blank line. */
export function splitSseFrames(body: string): string[] {
  return body.split(/(?<=\n\n)/);
}

/** The outcome of a task, in any dialect. */
export interface TaskOutcome {
  /**
   * State in lower case without prefix, for example `completed`. `undefined` when the response contains no
   * state.
   */
  readonly state: string | undefined;
  /** Text of all artifacts with their chunks joined. */
  readonly text: string;
  /** Number of SSE frames with data. 1 for a plain JSON response. */
  readonly eventCount: number;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

type WirePart = { text?: string };
type WireArtifact = { artifactId: string; parts: WirePart[] };
type WireStatus = { state: string };
type WireTask = { id: string; contextId?: string; status: WireStatus; artifacts?: WireArtifact[] };
type WireStatusUpdate = { taskId: string; status: WireStatus };
type WireArtifactUpdate = { artifact: WireArtifact; append?: boolean };
/** One result in A2A 1.0, where a member names the variant, or in 0.3, where `kind` names it. */
export type WireTaskOrUpdate = {
  task?: WireTask;
  statusUpdate?: WireStatusUpdate;
  artifactUpdate?: WireArtifactUpdate;
  kind?: string;
};

/**
 * Parses a response as a client does and folds its events into a state and a text. Throws when the response
 * is invalid.
 */
export function parseTaskOutcome(bytes: Buffer): TaskOutcome {
  const { status, headers, body } = parseHttpResponse(bytes);
  if (status !== 200) throw new Error(`HTTP ${status}: ${body.slice(0, 300)}`);
  const isStreamed = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const messages = isStreamed ? splitSseFrames(body).flatMap(extractSseDataText) : [body];
  const results = messages.map((message) => {
    const { result, error } = JSON.parse(message) as { result?: WireTaskOrUpdate; error?: unknown };
    if (!result) throw new Error(`the response contains an error: ${JSON.stringify(error)}`);
    return result.kind ? fromV03Result(result) : result;
  });
  return foldEventsIntoTaskOutcome(results);
}

/** Folds the results of one response into a task outcome. */
export function foldEventsIntoTaskOutcome(results: readonly WireTaskOrUpdate[]): TaskOutcome {
  const artifacts = new Map<string, string>();
  let state: string | undefined;
  let taskId: string | undefined;
  let contextId: string | undefined;
  for (const { task, statusUpdate, artifactUpdate } of results) {
    if (task) {
      ({ id: taskId, contextId } = task);
      ({ state } = task.status);
      for (const { artifactId, parts } of task.artifacts ?? [])
        artifacts.set(artifactId, joinTextParts(parts));
    }
    if (statusUpdate) ({ state } = statusUpdate.status);
    if (artifactUpdate) {
      const { artifactId, parts } = artifactUpdate.artifact;
      const previousText = artifactUpdate.append ? (artifacts.get(artifactId) ?? "") : "";
      artifacts.set(artifactId, previousText + joinTextParts(parts));
    }
  }
  return {
    state: state?.replace("TASK_STATE_", "").toLowerCase(),
    text: [...artifacts.values()].join(""),
    eventCount: results.length,
    taskId,
    contextId,
  };
}

/** Returns the first problem of a response, or `undefined` when it matches the expected text. */
export function findResponseFault(bytes: Buffer, expectedText: string): string | undefined {
  return findOutcomeFault(() => parseTaskOutcome(bytes), expectedText);
}

/**
 * Returns the first problem of a task outcome, or `undefined` when the task completed with the expected text.
 */
export function findOutcomeFault(read: () => TaskOutcome, expectedText: string): string | undefined {
  try {
    const { state, text } = read();
    if (state !== "completed") return `the task ended ${state ?? "without a state"}`;
    if (text !== expectedText)
      return `the text has ${text.length} characters, not the ${expectedText.length} expected`;
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function extractSseDataText(frame: string): string[] {
  const lines = frame.split("\n").filter((line) => line.startsWith("data:"));
  return lines.length > 0 ? [lines.map((line) => line.slice(5)).join("\n")] : [];
}

function fromV03Result(result: WireTaskOrUpdate): WireTaskOrUpdate {
  if (result.kind === "task") return { task: result as unknown as WireTask };
  if (result.kind === "status-update") return { statusUpdate: result as unknown as WireStatusUpdate };
  if (result.kind === "artifact-update") return { artifactUpdate: result as unknown as WireArtifactUpdate };
  return {};
}

function joinTextParts(parts: readonly WirePart[]): string {
  return parts.map((part) => part.text ?? "").join("");
}

/** Returns the first problem of a response to `ListTasks`, or `undefined` if the total size is correct. */
export function findTaskListFault(bytes: Buffer, expectedTotalSize: number): string | undefined {
  const { body } = parseHttpResponse(bytes);
  const { result, error } = JSON.parse(body) as { result?: { totalSize: number }; error?: unknown };
  if (!result) return `the response contains an error: ${JSON.stringify(error)}`;
  if (result.totalSize === expectedTotalSize) return undefined;
  return `the total size is ${result.totalSize}, not ${expectedTotalSize}`;
}
