import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError, type StreamResponse, getText } from "../protocol/index.ts";
import { createServer } from "../server/index.ts";
import { scriptedAgent } from "./scripted-agent.fixture.ts";
import { createBreakingProxy } from "./breaking-proxy.fixture.ts";
import { collect, connect } from "./index.ts";
import {
  collectStreamEventsForTest,
  defineA2AClientContractTests,
  type RunningTestServer,
  requireTaskResponseInTest,
  TESTED_0_3_BINDINGS,
  TESTED_1_0_BINDINGS,
} from "./a2a-client.contract.ts";

async function startServer(): Promise<RunningTestServer> {
  const server = createServer(scriptedAgent, { store: "memory" });
  const { url } = await server.listen({ grpc: true });
  return { url, close: () => server.close() };
}

defineA2AClientContractTests("our own server", [...TESTED_1_0_BINDINGS, ...TESTED_0_3_BINDINGS], startServer);

describe.each([
  ["JSONRPC", "1.0"],
  ["HTTP+JSON", "1.0"],
  ["JSONRPC", "0.3"],
  ["HTTP+JSON", "0.3"],
] as const)("over an unreliable network, over %s %s", (binding, version) => {
  it("a stream loses and repeats no event, and its message runs once [E2, E3, E4, E10, F-11]", async () => {
    const served = await startServer();
    const network = await createBreakingProxy(served.url);
    let cuts = 0;
    const sleep = (ms: number): Promise<void> => {
      // The client waits one second after the last event of 0.3.
      if (ms !== 1_000) cuts += 1;
      return Promise.resolve();
    };
    const remote = await connect(network.url, { binding, version, reconnect: { maxRetries: 20, sleep } });
    // A2A 0.3 cannot list tasks.
    const observer = await connect(served.url);
    const breaks = fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 12 });
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(breaks, async (bytes) => {
        network.breakAfter(bytes);
        sent += 1;
        const asked = requireTaskResponseInTest(await collect(remote.stream("ask", { contextId: "all" })));
        expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
        const events = await collectStreamEventsForTest(remote.stream("numbers 100", { taskId: asked.id }));
        network.breakAfter([]);
        // A message is sent again if its stream broke before the first event. If its turn has ended by then,
        // the stream begins with the complete task.
        const streamed = events.flatMap((event) => {
          if ("artifactUpdate" in event) return event.artifactUpdate.artifact.parts;
          return "task" in event ? (event.task.artifacts ?? []).flatMap(({ parts }) => parts) : [];
        });
        const expected = Array.from({ length: 100 }, (_, index) => `${index + 1} `).join("");
        expect(getText(streamed)).toBe(expected);
        expect(requireTaskResponseInTest(await collect(toAsyncIterable(events))).artifacts).toMatchObject([
          { parts: [{ text: expected }] },
        ]);
        expect((await observer.tasks.list({ contextId: "all" })).totalSize).toBe(sent);
      }),
      { numRuns: 25 },
    );
    expect(cuts).toBeGreaterThan(25);
    network.close();
    await served.close();
  });
});

async function* toAsyncIterable(events: readonly StreamResponse[]): AsyncGenerator<StreamResponse> {
  yield* events;
}

it("an invalid request returns the path of each violation [F-10, D-04]", async () => {
  const served = await startServer();
  for (const binding of ["JSONRPC", "HTTP+JSON"] as const) {
    const remote = await connect(served.url, { binding });
    const failure = await remote.send([], { messageId: "" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
    expect(failure).toMatchObject({
      reason: "INVALID_PARAMS",
      violations: [{ field: "message.messageId" }, { field: "message.parts" }],
    });
  }
  await served.close();
});
