import { LlmAgent } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adkAgent, createModel, RemoteAgent } from "../../src/entries/adk.ts";
import { type Agent, connect, createServer, type RunReport } from "../../src/entries/colloquy.ts";
import { getParentId, type RecordedSpans, registerTestProvider } from "./opentelemetry.fixture.ts";

let spans: RecordedSpans;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  spans = registerTestProvider();
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await spans.unregister();
});

async function serve(served: Agent, runs: RunReport[]): Promise<string> {
  const observer = { onRun: (run: RunReport): unknown => runs.push(run) };
  const server = createServer(served, { store: "memory", observer });
  closers.push(() => server.close({ graceMs: 0 }));
  return (await server.listen()).url;
}

const createEchoAgent = (): Agent =>
  adkAgent(new LlmAgent({ name: "echo", description: "Repeats", model: createModel("scripted:echo") }));

describe("the spans of ADK", () => {
  it("are children of the run, in one trace [E22]", async () => {
    const url = await serve(createEchoAgent(), []);
    await (await connect(url)).ask("Hello");
    const run = spans
      .list()
      .find(
        ({ name, instrumentationScope }) =>
          name === "invoke_agent echo" && instrumentationScope.name === "colloquy",
      );
    const ofAdk = spans
      .list()
      .filter(({ instrumentationScope }) => instrumentationScope.name === "gcp.vertex.agent");
    expect(ofAdk.length).toBeGreaterThan(1);
    const ids = new Set([run, ...ofAdk].map((span) => span?.spanContext().spanId));
    for (const span of ofAdk) {
      expect(span.spanContext().traceId).toBe(run?.spanContext().traceId);
      expect(ids).toContain(getParentId(span));
    }
    expect(ofAdk.some((span) => getParentId(span) === run?.spanContext().spanId)).toBe(true);
  });

  it("connect a RemoteAgent with the run of the other server [E22]", async () => {
    const lastRuns: RunReport[] = [];
    const firstRuns: RunReport[] = [];
    const last = await serve(createEchoAgent(), lastRuns);
    const remote = new RemoteAgent({ name: "remote", agent: last });
    const first = await serve(adkAgent(remote), firstRuns);
    await (await connect(first)).ask("Hello");
    expect(lastRuns[0]?.traceparent?.split("-")[1]).toBe(firstRuns[0]?.traceparent?.split("-")[1]);
    expect(lastRuns[0]?.parentTask?.taskId).toBe(firstRuns[0]?.taskId);
  });
});
