import { setTimeout } from "node:timers/promises";
import { data, text } from "../../src/protocol/index.ts";
import {
  completeWithArtifact,
  createOutputFile,
  createOutputUrl,
  createScenarioFinder,
  createStatusEvent,
  streamArtifact,
  type Scenario,
} from "./scenario.ts";

/** Twice the streaming timeout of the test runs, in milliseconds. */
const LONG_TASK_MS = 4_000;
/** Working time in milliseconds that the TCK for 0.3 expects of an agent. */
const WORK_MS = 3_000;

/**
 * The scenarios of the TCK for 1.0, selected by the start of the messageId (the kit's files
 * scenarios/*.feature).
 */
export const findTckScenario: (messageId: string) => Scenario | undefined = createScenarioFinder({
  "tck-complete-task": () => [createStatusEvent("COMPLETED", "Hello from TCK")],
  "tck-artifact-text": () => completeWithArtifact(text("Generated text content")),
  "tck-artifact-file": () => completeWithArtifact(createOutputFile()),
  "tck-artifact-file-url": () => completeWithArtifact(createOutputUrl()),
  "tck-artifact-data": () => completeWithArtifact(data({ key: "value", count: 42 })),
  "tck-message-response": () => [{ message: { parts: [text("Direct message response")] } }],
  "tck-input-required": () => [createStatusEvent("INPUT_REQUIRED", "What else?")],
  "tck-reject-task": () => [createStatusEvent("REJECTED", "rejected")],
  "tck-stream-001": () => streamArtifact(text("Stream hello from TCK")),
  "tck-stream-002": () => [createStatusEvent("COMPLETED")],
  "tck-stream-003": () => streamArtifact(text("Stream task lifecycle")),
  "tck-stream-ordering-001": () => streamArtifact(text("Ordered output")),
  "tck-stream-artifact-text": () => streamArtifact(text("Streamed text content")),
  "tck-stream-artifact-file": () => streamArtifact(createOutputFile()),
  "tck-stream-artifact-chunked": () => [
    createStatusEvent("WORKING"),
    { artifact: { artifactId: "result", parts: [text("chunk-1 ")] } },
    { artifact: { artifactId: "result", parts: [text("chunk-2")] }, append: true, lastChunk: true },
    createStatusEvent("COMPLETED"),
  ],
  "test-resubscribe-message-id": async function* ({ signal }) {
    yield createStatusEvent("WORKING");
    await setTimeout(LONG_TASK_MS, undefined, { signal });
    yield createStatusEvent("COMPLETED");
  },
});

/**
 * The behavior that the TCK for 0.3 expects for any message: work that can be observed and canceled, and a
 * question at its end.
 */
export const workThenAskForInput: Scenario = async function* ({ signal }) {
  yield createStatusEvent("WORKING", "Processing your question");
  await setTimeout(WORK_MS, undefined, { signal });
  yield createStatusEvent("INPUT_REQUIRED", "What else would you like to know?");
};
