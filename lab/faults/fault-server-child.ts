/**
 * A server under faults, with one agent for each value of `afterRestart`. Each agent counts to 60 in about two
 * seconds, or asks its user. The arguments are the SQLite file and the port. If the environment variable
 * `FAULT_TELEMETRY` is set, the server has OpenTelemetry and an observer, which throw after the message
 * `{ telemetryThrows: true }`.
 */
import { NodeTracerProvider, SamplingDecision } from "@opentelemetry/sdk-trace-node";
import { setTimeout } from "node:timers/promises";
import type { Agent } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = "", port = "0"] = process.argv.slice(2);
const CHUNK_COUNT = 60;

function createCountingAgent(afterRestart: "fail" | "restart" | "resume"): Agent {
  return {
    afterRestart,
    whileWorking: "queue",
    describe: () => ({ name: afterRestart, description: "Counts" }),
    async *execute({ task, signal, attempt, message }) {
      const text = getText(message.parts);
      if (text === "ask") {
        await setTimeout(50);
        yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
        return;
      }
      const isShort = text === "short";
      const known = task.artifacts?.find(({ artifactId }) => artifactId === "numbers");
      const from = known ? getText(known.parts).trim().split(" ").length : 0;
      yield { status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: `Attempt ${attempt}` }] } } };
      for (let at = from; at < (isShort ? 1 : CHUNK_COUNT); at++) {
        yield {
          artifact: { artifactId: "numbers", parts: [{ text: `${at} `.padStart(400, ".") }] },
          append: at > 0,
        };
        if (!isShort) await setTimeout(30, undefined, { signal });
      }
    },
  };
}

let telemetryThrows = false;
process.on("message", (message: { telemetryThrows?: boolean }) => {
  telemetryThrows = message.telemetryThrows ?? telemetryThrows;
});
function throwIfBroken(): void {
  if (telemetryThrows) throw new Error("The telemetry of the program is broken.");
}
const hasTelemetry = Boolean(process.env["FAULT_TELEMETRY"]);
if (hasTelemetry) {
  // Half of the spans fail in the sampler, and the others in the processor.
  let spanCount = 0;
  new NodeTracerProvider({
    sampler: {
      shouldSample: () => {
        if (spanCount++ % 2 === 0) throwIfBroken();
        return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      },
    },
    spanProcessors: [
      { onStart: () => {}, onEnd: throwIfBroken, forceFlush: async () => {}, shutdown: async () => {} },
    ],
  }).register();
}

const server = createServer(
  {
    fail: createCountingAgent("fail"),
    restart: createCountingAgent("restart"),
    resume: createCountingAgent("resume"),
  },
  {
    store: `sqlite:${file}`,
    mergeChunks: false,
    observer: {
      onStoreState: ({ state }) => process.send?.({ storeState: state }),
      onError: ({ where, error }) => process.send?.({ where, error: String(error) }),
      ...(hasTelemetry && { onRun: throwIfBroken, onEvent: throwIfBroken, onCommit: throwIfBroken }),
    },
  },
);
const { url } = await server.listen({ port: Number(port) });
process.send?.({ url });
