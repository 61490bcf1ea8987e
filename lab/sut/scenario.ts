import type { AgentEvent, Run } from "../../src/engine/index.ts";
import { file, type Part, type TaskState } from "../../src/protocol/index.ts";

/** The behavior of the agent under test for one message. */
export type Scenario = (run: Run) => Iterable<AgentEvent> | AsyncIterable<AgentEvent>;

type NextState = Exclude<TaskState, "TASK_STATE_SUBMITTED" | "TASK_STATE_UNSPECIFIED">;

export function createStatusEvent(name: string, words?: string): AgentEvent {
  const status = { state: `TASK_STATE_${name}` as NextState };
  return { status: words === undefined ? status : { ...status, message: { parts: [{ text: words }] } } };
}

export function completeWithArtifact(...parts: Part[]): AgentEvent[] {
  return [{ artifact: { artifactId: "result", parts } }, createStatusEvent("COMPLETED")];
}

export function streamArtifact(part: Part): AgentEvent[] {
  return [createStatusEvent("WORKING"), ...completeWithArtifact(part)];
}

export function createOutputFile(): Part {
  return file(new TextEncoder().encode("Generated file content"), {
    filename: "output.txt",
    mediaType: "text/plain",
  });
}

export function createOutputUrl(): Part {
  return file(new URL("https://example.com/output.txt"), {
    filename: "output.txt",
    mediaType: "text/plain",
  });
}

/** Returns a function that finds the scenario whose name is the longest prefix of a text. */
export function createScenarioFinder(
  plays: Readonly<Record<string, Scenario>>,
): (text: string) => Scenario | undefined {
  const byLength = Object.entries(plays).toSorted(([a], [b]) => b.length - a.length);
  return (text) => byLength.find(([name]) => text.startsWith(name))?.[1];
}
