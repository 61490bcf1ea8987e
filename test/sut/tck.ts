import { setTimeout } from "node:timers/promises";
import { data, text } from "../../src/protocol/index.ts";
import { completedWith, outputFile, outputUrl, playFor, state, streamed, type Play } from "./say.ts";

/** Twice the streaming timeout with which the kits are run. */
const LONG_MS = 4_000;
/** How long the kit for 0.3 expects an agent to work. */
const THINKING_MS = 3_000;

/** What the TCK for 1.0 asks for, by the beginning of the messageId (its files scenarios/*.feature). */
export const byMessageId: (messageId: string) => Play | undefined = playFor({
  "tck-complete-task": () => [state("COMPLETED", "Hello from TCK")],
  "tck-artifact-text": () => completedWith(text("Generated text content")),
  "tck-artifact-file": () => completedWith(outputFile()),
  "tck-artifact-file-url": () => completedWith(outputUrl()),
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
    await setTimeout(LONG_MS, undefined, { signal });
    yield state("COMPLETED");
  },
});

/** What the TCK for 0.3 expects of any message: work that can be watched and canceled, and a question at its end. */
export const workAndAsk: Play = async function* ({ signal }) {
  yield state("WORKING", "Processing your question");
  await setTimeout(THINKING_MS, undefined, { signal });
  yield state("INPUT_REQUIRED", "What else would you like to know?");
};
