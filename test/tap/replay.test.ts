/** Tests the replay of an agent of the official JavaScript SDK with the official client. */
import { JsonRpcTransportFactory, RestTransportFactory, type Client } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningTestServer } from "../../src/client/a2a-client.contract.ts";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import { connect } from "../../src/client/index.ts";
import { collectRecordedAgents, type RunningReplay, startReplay } from "../../src/studio/tap/index.ts";
import type { DecodedTrafficLine } from "../../src/observe/trace/index.ts";
import {
  collectEvents,
  createSdkClient,
  createTextRequest,
  listArtifactTexts,
  requireTask,
} from "../interop/sdk-client.ts";
import { startTestTap, waitForLines } from "./tapped-record.ts";

const TRANSPORTS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
} as const;

/** The results of a client that uses most operations. */
async function useAgent(client: Client): Promise<object> {
  const events = await collectEvents(client.sendMessageStream(createTextRequest("count")));
  const question = requireTask(await client.sendMessage(createTextRequest("ask")));
  const answer = requireTask(
    await client.sendMessage(
      createTextRequest("blue", { taskId: question.id, contextId: question.contextId }),
    ),
  );
  const task = await client.getTask({ tenant: "", id: question.id });
  const error: unknown = await client
    .getTask({ tenant: "", id: "missing" })
    .catch((thrown: unknown) => thrown);
  return {
    kinds: events.map(({ payload }) => payload?.$case),
    questionState: question.status?.state,
    answer: [answer.id === question.id, listArtifactTexts(answer)],
    task: [task.id === question.id, listArtifactTexts(task)],
    error: [(error as Error).name, (error as Error).message],
  };
}

let server: RunningTestServer;
beforeAll(async () => {
  server = await serveWithOfficialSdk();
});
afterAll(() => server.close());

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "an agent that was recorded over %s",
  (recordedBinding) => {
    let recorded: object;
    let lines: DecodedTrafficLine[];
    let replay: RunningReplay;
    const misses: string[] = [];

    beforeAll(async () => {
      const tap = await startTestTap([server.url]);
      const client = await createSdkClient(tap.url, recordedBinding, TRANSPORTS[recordedBinding]);
      recorded = await useAgent(client);
      lines = (await waitForLines(tap, (all) => all.some(({ kind }) => kind === "stream-end"))).map(
        (line) => ({
          type: "traffic",
          line,
        }),
      );
      await tap.close();
      const [agent] = collectRecordedAgents(lines);
      if (!agent) throw new Error("The record contains no agent.");
      replay = await startReplay(agent, { speed: "max", onMiss: (text) => misses.push(text) });
    });
    afterAll(() => replay.close());

    it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
      "gives the official client the same results over %s",
      async (binding) => {
        const client = await createSdkClient(replay.url, binding, TRANSPORTS[binding]);
        const replayed = await useAgent(client);
        // Only the message of an error differs between the bindings.
        if (binding === recordedBinding) expect(replayed).toEqual(recorded);
        else expect({ ...replayed, error: 0 }).toEqual({ ...recorded, error: 0 });
        expect(misses).toEqual([]);
      },
    );

    it.each(["JSONRPC", "GRPC"] as const)(
      "gives a client of A2A 0.3 the recorded events over %s",
      async (binding) => {
        const client = await connect(replay.url, { version: "0.3", binding });
        const events = await collectEvents(client.stream("count"));
        expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
        expect(await client.send("ask")).toMatchObject({
          task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } },
        });
        expect(misses).toEqual([]);
      },
    );

    it("explains that a request was not recorded", async () => {
      const client = await createSdkClient(replay.url, "JSONRPC", TRANSPORTS.JSONRPC);
      await expect(client.sendMessage(createTextRequest("something else"))).rejects.toThrow(
        'The record of Obedient contains no SendMessage for the message "something else".',
      );
      expect(misses).toHaveLength(1);
    });
  },
);

describe.each(["JSONRPC", "GRPC"] as const)("a replayed stream over %s", (binding) => {
  it("has the recorded times, and breaks where it broke in the record", async () => {
    const tap = await startTestTap([server.url], { faults: ["slow:bytes-per-s=4000", "cut:after=3"] });
    const client = await createSdkClient(tap.url, binding, TRANSPORTS[binding]);
    await expect(collectEvents(client.sendMessageStream(createTextRequest("count")))).rejects.toThrow();
    const lines = await waitForLines(tap, (all) => all.some(({ kind }) => kind === "stream-end"));
    await tap.close();
    const frames = lines.filter(({ kind }) => kind === "frame");
    const recordedMs =
      (frames.at(-1)?.mono_ms ?? 0) - (lines.findLast(({ kind }) => kind === "request")?.mono_ms ?? 0);
    const [agent] = collectRecordedAgents(lines.map((line) => ({ type: "traffic", line })));
    if (!agent) throw new Error("The record contains no agent.");
    const replay = await startReplay(agent);
    const replayClient = await createSdkClient(replay.url, binding, TRANSPORTS[binding]);
    const startMs = performance.now();
    const received: unknown[] = [];
    const follow = async (): Promise<void> => {
      for await (const { payload } of replayClient.sendMessageStream(createTextRequest("count")))
        received.push(payload?.$case);
    };
    await expect(follow()).rejects.toThrow();
    expect(received).toEqual(["task", "statusUpdate", "artifactUpdate"]);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(recordedMs - 5);
    await replay.close();
  });
});

describe("the replay of lists", () => {
  it("answers with the list of the same parameters, and serves the card with any query", async () => {
    const tap = await startTestTap([server.url]);
    const client = await connect(tap.url, { binding: "JSONRPC" });
    const sent = await Promise.all([client.send("count"), client.send("count")]);
    const contextIds = sent.map((response) => ("task" in response ? response.task.contextId : ""));
    for (const contextId of contextIds) await client.tasks.list({ contextId });
    const isListed = ({ kind, operation }: { kind: string; operation?: string }): boolean =>
      kind === "request" && operation === "ListTasks";
    const lines = await waitForLines(tap, (all) => all.filter(isListed).length === 2);
    await tap.close();
    const [agent] = collectRecordedAgents(lines.map((line) => ({ type: "traffic", line })));
    if (!agent) throw new Error("The record contains no agent.");
    const replay = await startReplay(agent, { speed: "max" });
    const replayClient = await connect(replay.url, { binding: "JSONRPC" });
    for (const contextId of contextIds.toReversed()) {
      const { tasks } = await replayClient.tasks.list({ contextId });
      expect(tasks.map((task) => task.contextId)).toEqual([contextId]);
    }
    const card = await fetch(`${replay.url}/.well-known/agent-card.json?assistant_id=any`);
    expect(await card.json()).toMatchObject({ name: "Obedient" });
    await replay.close();
  });
});
