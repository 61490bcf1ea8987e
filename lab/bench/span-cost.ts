/**
 * Measures the CPU time that the spans of one streamed request cost, without ADK and without HTTP: the span of the
 * request, the span of the run, and six reads of the stream. `with ADK` adds 150 changes of the context, which ADK makes
 * for a reply of 50 chunks. Run with `node lab/bench/span-cost.ts`. The figures hardly depend on other load.
 */
import { context, createContextKey } from "@opentelemetry/api";
import { installNodeTraceScope } from "../../src/server/telemetry/install-trace-scope.ts";
import { createRunTracing } from "../../src/server/telemetry/create-run-tracing.ts";
import { OperationObserver } from "../../src/server/telemetry/operation-observer.ts";
import { buildAgentRunAttributes } from "../../src/telemetry/index.ts";
import { startOtlpExportOnce } from "../../src/telemetry/node/index.ts";
import { LogEvent } from "../../src/protocol/index.ts";

const SAMPLE_RATIO = Number(process.argv[2] ?? 0.1);
const ADK_CONTEXT_CHANGES = 150;
const READS = 6;
const REQUESTS_PER_ROUND = 5000;
const ROUNDS = 5;
const IDS = { taskId: "task", contextId: "context" };
const card = { name: "scripted", description: "Answers with fifty chunks.", version: "1.0.0" };
const userKey = createContextKey("bench");

installNodeTraceScope();
await startOtlpExportOnce({
  // The collector does not exist, so that the export costs little.
  url: "http://127.0.0.1:9",
  serviceName: "span-cost",
  sampleRatio: SAMPLE_RATIO,
  metricIntervalMs: 2 ** 30,
});
const observer = new OperationObserver({ startsSpans: true, onOperation: undefined });
const runTracing = createRunTracing({ findCard: () => card, buildRunAttributes: buildAgentRunAttributes });
const event = LogEvent.create(1, {
  statusUpdate: { ...IDS, status: { state: "TASK_STATE_COMPLETED", timestamp: new Date(0).toISOString() } },
});

async function performRequest(contextChanges: number): Promise<void> {
  const request = observer.startOperation({
    operation: "SendStreamingMessage",
    protocolVersion: "1.0",
    card,
    request: { header: () => undefined },
  });
  if (!request) throw new Error("The observer starts no spans.");
  request.setParams({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hello" }] } });
  let reads = 0;
  const stream = {
    next: () => Promise.resolve(reads++ < READS ? [event] : undefined),
    close: () => {},
    get isComplete() {
      return reads > READS;
    },
  };
  const observed = await request.run(() => Promise.resolve({ stream }));
  const run = runTracing.startRun({
    ...IDS,
    agentId: "scripted",
    attempt: 1,
    earlierRun: undefined,
    requestTraceparent: request.traceparent ?? "",
  });
  run.run(() => {
    const inOtherContext = context.bind(context.active().setValue(userKey, 1), () => 1);
    for (let at = 0; at < contextChanges; at++) inOtherContext();
  });
  while (await observed.stream.next());
  run.end({ state: "TASK_STATE_COMPLETED", error: undefined });
}

/** Returns the CPU time of one request in microseconds, in the fastest of several rounds. */
async function measure(contextChanges: number): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.threadCpuUsage();
    for (let at = 0; at < REQUESTS_PER_ROUND; at++) await performRequest(contextChanges);
    const { user, system } = process.threadCpuUsage(before);
    rounds.push((user + system) / REQUESTS_PER_ROUND);
  }
  return Math.min(...rounds);
}

const spans = await measure(0);
const withAdk = await measure(ADK_CONTEXT_CHANGES);
console.log(
  `${SAMPLE_RATIO * 100} % of the traces: ${spans.toFixed(1)} µs per request, ${withAdk.toFixed(1)} µs with ADK`,
);
process.exit(0);
