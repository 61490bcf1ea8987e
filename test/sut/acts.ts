import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { data, text, textOf } from "../../src/protocol/index.ts";
import { completedWith, outputFile, outputUrl, playFor, state, streamed, type Play } from "./say.ts";

/**
 * What ACTS asks for, by the beginning of a message's first text. One scenario is not played: `tck-client-parse`, which has
 * an agent read other agents' answers with its own client.
 */
export const byText: (text: string) => Play | undefined = playFor({
  "tck-complete-task": () => [state("COMPLETED", "Hello from TCK")],
  "tck-message-response": () => [{ message: { parts: [text("Direct message response")] } }],
  "tck-input-required": () => [state("INPUT_REQUIRED", "What else?")],
  "tck-multi-turn": () => [state("INPUT_REQUIRED", 'More? Begin with "done" to end.')],
  "tck-auth-required": () => [state("AUTH_REQUIRED", "Sign in first.")],
  "tck-reject-task": () => [state("REJECTED", "rejected")],
  "tck-task-failure": () => [state("FAILED", "failed, as asked")],
  "tck-cancel": async function* ({ signal }) {
    yield state("WORKING");
    if (!signal.aborted) await once(signal, "abort");
  },
  "tck-long-running": async function* ({ signal }) {
    yield state("WORKING");
    await setTimeout(1_500, undefined, { signal });
    yield* completedWith(text("Done at last"));
  },
  "tck-stream-basic": () => streamed(text("Streamed text content")),
  "tck-stream-chunked": () => [
    state("WORKING"),
    { artifact: { artifactId: "result", parts: [text("chunk-1 ")] } },
    { artifact: { artifactId: "result", parts: [text("chunk-2")] }, append: true, lastChunk: true },
    state("COMPLETED"),
  ],
  "tck-artifact-text": () => completedWith(text("Generated text content")),
  "tck-artifact-data": () => completedWith(data({ key: "value", count: 42 })),
  "tck-artifact-file": () => completedWith(outputFile()),
  "tck-artifact-file-url": () => completedWith(outputUrl()),
});

/** What answers a question goes on with the scenario that asked it. */
export const continued: Play = (run) => {
  const [first] = run.task.history ?? [];
  const said = textOf(run.message.parts);
  const isOpen = textOf(first?.parts ?? []).startsWith("tck-multi-turn") && !said.startsWith("done");
  return isOpen
    ? [state("INPUT_REQUIRED", 'More? Begin with "done" to end.')]
    : [state("COMPLETED", `Heard: ${said}`)];
};
