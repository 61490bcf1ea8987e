import { parseResponse, splitFrames } from "./response.ts";

/** What an answer amounts to, in whatever dialect. */
export interface Outcome {
  /** Lower case, without prefix: `completed`; undefined when no state was told. */
  readonly state: string | undefined;
  /** The text of all artifacts, chunks put together. */
  readonly text: string;
  /** SSE frames with data; 1 for a plain JSON answer. */
  readonly events: number;
  readonly taskId: string | undefined;
}

type Part = { text?: string };
type Artifact = { artifactId: string; parts: Part[] };
type Status = { state: string };
type TaskShape = { id: string; status: Status; artifacts?: Artifact[] };
type StatusShape = { taskId: string; status: Status };
type ChunkShape = { artifact: Artifact; append?: boolean };
/** One result in A2A 1.0 (a member names the kind) or in 0.3 (`kind` names it). */
export type Result = {
  task?: TaskShape;
  statusUpdate?: StatusShape;
  artifactUpdate?: ChunkShape;
  kind?: string;
};

/** Reads an answer as a client would: folds what came into a state and a text. Throws when it is not an answer. */
export function readOutcome(bytes: Buffer): Outcome {
  const { status, headers, body } = parseResponse(bytes);
  if (status !== 200) throw new Error(`HTTP ${status}: ${body.slice(0, 300)}`);
  const streamed = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const messages = streamed ? splitFrames(body).flatMap(dataOf) : [body];
  const results = messages.map((message) => {
    const { result, error } = JSON.parse(message) as { result?: Result; error?: unknown };
    if (!result) throw new Error(`an error instead of a result: ${JSON.stringify(error)}`);
    return result.kind ? fromV03(result) : result;
  });
  return outcomeOf(results);
}

/** What the results of one answer amount to. */
export function outcomeOf(results: readonly Result[]): Outcome {
  const artifacts = new Map<string, string>();
  let state: string | undefined;
  let taskId: string | undefined;
  for (const { task, statusUpdate, artifactUpdate } of results) {
    if (task) {
      ({ id: taskId } = task);
      ({ state } = task.status);
      for (const { artifactId, parts } of task.artifacts ?? []) artifacts.set(artifactId, textOf(parts));
    }
    if (statusUpdate) ({ state } = statusUpdate.status);
    if (artifactUpdate) {
      const { artifactId, parts } = artifactUpdate.artifact;
      const known = artifactUpdate.append ? (artifacts.get(artifactId) ?? "") : "";
      artifacts.set(artifactId, known + textOf(parts));
    }
  }
  return {
    state: state?.replace("TASK_STATE_", "").toLowerCase(),
    text: [...artifacts.values()].join(""),
    events: results.length,
    taskId,
  };
}

/** Why an answer is not what the job should give; undefined when it is. */
export function faultOf(bytes: Buffer, wanted: string): string | undefined {
  return faultIn(() => readOutcome(bytes), wanted);
}

export function faultIn(read: () => Outcome, wanted: string): string | undefined {
  try {
    const { state, text } = read();
    if (state !== "completed") return `the task ended ${state ?? "without a state"}`;
    if (text !== wanted) return `the text has ${text.length} characters, not the ${wanted.length} expected`;
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function dataOf(frame: string): string[] {
  const lines = frame.split("\n").filter((line) => line.startsWith("data:"));
  return lines.length > 0 ? [lines.map((line) => line.slice(5)).join("\n")] : [];
}

function fromV03(result: Result): Result {
  if (result.kind === "task") return { task: result as unknown as TaskShape };
  if (result.kind === "status-update") return { statusUpdate: result as unknown as StatusShape };
  if (result.kind === "artifact-update") return { artifactUpdate: result as unknown as ChunkShape };
  return {};
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => part.text ?? "").join("");
}
