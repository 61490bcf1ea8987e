import { setTimeout } from "node:timers/promises";
import type { Agent, AgentEvent, Run } from "../../src/engine/index.ts";
import { data, file, text, type Part, type TaskState } from "../../src/protocol/index.ts";

type Play = (run: Run) => Iterable<AgentEvent> | AsyncIterable<AgentEvent>;
type NextState = Exclude<TaskState, "TASK_STATE_SUBMITTED">;

/** What the TCK asks of an agent, by the beginning of the messageId (its files scenarios/*.feature). */
const PLAYS: Readonly<Record<string, Play>> = {
  "tck-complete-task": () => [state("COMPLETED", "Hello from TCK")],
  "tck-artifact-text": () => completedWith(text("Generated text content")),
  "tck-artifact-file": () => completedWith(outputFile()),
  "tck-artifact-file-url": () =>
    completedWith(
      file(new URL("https://example.com/output.txt"), { filename: "output.txt", mediaType: "text/plain" }),
    ),
  "tck-artifact-data": () => completedWith(data({ key: "value", count: 42 })),
  "tck-message-response": () => [{ message: { parts: [text("Direct message response")] } }],
  "tck-input-required": () => [state("INPUT_REQUIRED", "What else?")],
  "tck-reject-task": () => [state("REJECTED", "rejected")],
  "tck-stream-001": () => streamed(text("Stream hello from TCK")),
  "tck-stream-002": () => [state("COMPLETED")],
  "tck-stream-003": () => streamed(text("Stream task lifecycle")),
  "tck-stream-ordering-001": () => streamed(text("Ordered output")),
  "tck-stream-artifact-text": () => streamed(text("Streamed text content")),
  "tck-stream-artifact-file": () => streamed(outputFile()),
  "tck-stream-artifact-chunked": () => [
    state("WORKING"),
    { artifact: { artifactId: "result", parts: [text("chunk-1 ")] } },
    { artifact: { artifactId: "result", parts: [text("chunk-2")] }, append: true, lastChunk: true },
    state("COMPLETED"),
  ],
  "test-resubscribe-message-id": async function* ({ signal }) {
    yield state("WORKING");
    // Twice the streaming timeout of the TCK.
    await setTimeout(4_000, undefined, { signal });
    yield state("COMPLETED");
  },
};

const byLength = Object.entries(PLAYS).toSorted(([a], [b]) => b.length - a.length);

/** The agent under test: plays what the messageId asks for and echoes any other message. */
export const sutAgent: Agent = {
  opensWith: "either",
  describe: () => ({
    name: "Colloquy SUT",
    description: "Plays the scenarios of the A2A TCK.",
    version: "1.0.0",
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "tck", name: "TCK", description: "Plays scenarios by messageId.", tags: ["tck"] }],
  }),
  async *execute(run) {
    const found = byLength.find(([prefix]) => run.message.messageId.startsWith(prefix));
    yield* found ? found[1](run) : completedWith(...run.message.parts);
  },
};

function state(name: string, words?: string): AgentEvent {
  const status = { state: `TASK_STATE_${name}` as NextState };
  return { status: words === undefined ? status : { ...status, message: { parts: [text(words)] } } };
}

function completedWith(...parts: Part[]): AgentEvent[] {
  return [{ artifact: { artifactId: "result", parts } }, state("COMPLETED")];
}

function streamed(part: Part): AgentEvent[] {
  return [state("WORKING"), ...completedWith(part)];
}

function outputFile(): Part {
  return file(new TextEncoder().encode("Generated file content"), {
    filename: "output.txt",
    mediaType: "text/plain",
  });
}
