import { parseHttpResponse, splitSseFrames } from "./http-response.ts";

/** What an answer amounts to, in whatever dialect. */
export interface TaskOutcome {
  /** Lower case, without prefix: `completed`; undefined when no state was told. */
  readonly state: string | undefined;
  /** The text of all artifacts, chunks put together. */
  readonly text: string;
  /** SSE frames with data; 1 for a plain JSON answer. */
  readonly eventCount: number;
  readonly taskId: string | undefined;
}

type WirePart = { text?: string };
type WireArtifact = { artifactId: string; parts: WirePart[] };
type WireStatus = { state: string };
type WireTask = { id: string; status: WireStatus; artifacts?: WireArtifact[] };
type WireStatusUpdate = { taskId: string; status: WireStatus };
type WireArtifactUpdate = { artifact: WireArtifact; append?: boolean };
/** One result in A2A 1.0 (a member names the kind) or in 0.3 (`kind` names it). */
export type WireResult = {
  task?: WireTask;
  statusUpdate?: WireStatusUpdate;
  artifactUpdate?: WireArtifactUpdate;
  kind?: string;
};

/** Reads an answer as a client would: folds what came into a state and a text. Throws when it is not an answer. */
export function parseTaskOutcome(bytes: Buffer): TaskOutcome {
  const { status, headers, body } = parseHttpResponse(bytes);
  if (status !== 200) throw new Error(`HTTP ${status}: ${body.slice(0, 300)}`);
  const isStreamed = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const messages = isStreamed ? splitSseFrames(body).flatMap(parseSseData) : [body];
  const results = messages.map((message) => {
    const { result, error } = JSON.parse(message) as { result?: WireResult; error?: unknown };
    if (!result) throw new Error(`an error instead of a result: ${JSON.stringify(error)}`);
    return result.kind ? fromV03Result(result) : result;
  });
  return foldResults(results);
}

/** What the results of one answer amount to. */
export function foldResults(results: readonly WireResult[]): TaskOutcome {
  const artifacts = new Map<string, string>();
  let state: string | undefined;
  let taskId: string | undefined;
  for (const { task, statusUpdate, artifactUpdate } of results) {
    if (task) {
      ({ id: taskId } = task);
      ({ state } = task.status);
      for (const { artifactId, parts } of task.artifacts ?? []) artifacts.set(artifactId, getText(parts));
    }
    if (statusUpdate) ({ state } = statusUpdate.status);
    if (artifactUpdate) {
      const { artifactId, parts } = artifactUpdate.artifact;
      const previousText = artifactUpdate.append ? (artifacts.get(artifactId) ?? "") : "";
      artifacts.set(artifactId, previousText + getText(parts));
    }
  }
  return {
    state: state?.replace("TASK_STATE_", "").toLowerCase(),
    text: [...artifacts.values()].join(""),
    eventCount: results.length,
    taskId,
  };
}

/** Why an answer is not what the job should give; undefined when it is. */
export function findResponseFault(bytes: Buffer, expectedText: string): string | undefined {
  return findOutcomeFault(() => parseTaskOutcome(bytes), expectedText);
}

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

function parseSseData(frame: string): string[] {
  const lines = frame.split("\n").filter((line) => line.startsWith("data:"));
  return lines.length > 0 ? [lines.map((line) => line.slice(5)).join("\n")] : [];
}

function fromV03Result(result: WireResult): WireResult {
  if (result.kind === "task") return { task: result as unknown as WireTask };
  if (result.kind === "status-update") return { statusUpdate: result as unknown as WireStatusUpdate };
  if (result.kind === "artifact-update") return { artifactUpdate: result as unknown as WireArtifactUpdate };
  return {};
}

function getText(parts: readonly WirePart[]): string {
  return parts.map((part) => part.text ?? "").join("");
}
