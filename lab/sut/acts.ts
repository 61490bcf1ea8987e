import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { data, text, getText, type JsonObject } from "../../src/protocol/index.ts";
import { parseWithClient, type ClientRequest } from "./client-parse.ts";
import {
  completeWithArtifact,
  createOutputFile,
  createOutputUrl,
  createScenarioFinder,
  createStatusEvent,
  streamArtifact,
  type Scenario,
} from "./scenario.ts";

/** The scenarios of ACTS, selected by the start of a message's first text. `acts/sut-behaviors.yaml` lists them. */
export const findActsScenario: (text: string) => Scenario | undefined = createScenarioFinder({
  "tck-complete-task": () => [createStatusEvent("COMPLETED", "Hello from TCK")],
  "tck-message-response": () => [{ message: { parts: [text("Direct message response")] } }],
  "tck-input-required": () => [createStatusEvent("INPUT_REQUIRED", "What else?")],
  "tck-multi-turn": () => [createStatusEvent("INPUT_REQUIRED", 'More? Begin with "done" to end.')],
  "tck-auth-required": () => [createStatusEvent("AUTH_REQUIRED", "Sign in first.")],
  "tck-reject-task": () => [createStatusEvent("REJECTED", "rejected")],
  "tck-task-failure": () => [createStatusEvent("FAILED", "failed, as asked")],
  "tck-cancel": async function* ({ signal }) {
    yield createStatusEvent("WORKING");
    if (!signal.aborted) await once(signal, "abort");
  },
  "tck-long-running": async function* ({ signal }) {
    yield createStatusEvent("WORKING");
    await setTimeout(1_500, undefined, { signal });
    yield* completeWithArtifact(text("Done at last"));
  },
  "tck-stream-basic": () => streamArtifact(text("Streamed text content")),
  "tck-stream-chunked": () => [
    createStatusEvent("WORKING"),
    { artifact: { artifactId: "result", parts: [text("chunk-1 ")] } },
    { artifact: { artifactId: "result", parts: [text("chunk-2")] }, append: true, lastChunk: true },
    createStatusEvent("COMPLETED"),
  ],
  "tck-artifact-text": () => completeWithArtifact(text("Generated text content")),
  "tck-artifact-data": () => completeWithArtifact(data({ key: "value", count: 42 })),
  "tck-artifact-file": () => completeWithArtifact(createOutputFile()),
  "tck-artifact-file-url": () => completeWithArtifact(createOutputUrl()),
  "tck-client-parse": async function* ({ message }) {
    const [request] = message.parts.flatMap((part) => ("data" in part ? [part.data] : []));
    yield* completeWithArtifact(
      data((await parseWithClient(request as unknown as ClientRequest)) as JsonObject),
    );
  },
  // A misspelled scenario must not pass as an echo.
  "tck-": () => [createStatusEvent("FAILED", "The scenario is unknown.")],
});

/** The answer to a question continues the scenario that asked it. */
export const actsFollowUp: Scenario = (run) => {
  const [first] = run.task.history ?? [];
  const text = getText(run.message.parts);
  const isOpen = getText(first?.parts ?? []).startsWith("tck-multi-turn") && !text.startsWith("done");
  return isOpen
    ? [createStatusEvent("INPUT_REQUIRED", 'More? Begin with "done" to end.')]
    : [createStatusEvent("COMPLETED", `Heard: ${text}`)];
};
