/**
 * Tests the tap between the official JavaScript client and the official JavaScript server, without code of Colloquy on
 * either side.
 */
import { JsonRpcTransportFactory, RestTransportFactory, type Client } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningTestServer } from "../../src/client/a2a-client.contract.ts";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import type { FrameLine, TrafficLine } from "../../src/observe/trace/index.ts";
import {
  collectEvents,
  createSdkClient,
  createTextRequest,
  listArtifactTexts,
  requireTask,
} from "../interop/sdk-client.ts";
import { startTestTap, waitForLines, type RecordingTestTap } from "./tapped-record.ts";

const TRANSPORTS = {
  JSONRPC: new JsonRpcTransportFactory(),
  "HTTP+JSON": new RestTransportFactory(),
  GRPC: new GrpcTransportFactory(),
} as const;

let server: RunningTestServer;
beforeAll(async () => {
  server = await serveWithOfficialSdk();
});
afterAll(() => server.close());

const isKind =
  <Kind extends TrafficLine["kind"]>(kind: Kind) =>
  (line: TrafficLine): line is Extract<TrafficLine, { kind: Kind }> =>
    line.kind === kind;

const isFrame = isKind("frame");

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "the tap between two official SDKs over %s",
  (binding) => {
    let tap: RecordingTestTap;
    let client: Client;
    beforeAll(async () => {
      tap = await startTestTap([server.url]);
      client = await createSdkClient(tap.url, binding, TRANSPORTS[binding]);
    });
    afterAll(() => tap.close());

    it("directs the client to the tap, and tells about the changed card", async () => {
      const [agent] = (await tap.readLines()).filter(isKind("agent"));
      expect(agent).toMatchObject({ agent: "Obedient", url: `${server.url}/.well-known/agent-card.json` });
      expect(agent?.changes).toContain(
        `supportedInterfaces[0].url: ${server.url}/jsonrpc is now ${tap.url}/jsonrpc`,
      );
      expect(agent?.changes?.filter((change) => change.startsWith("supportedInterfaces"))).toHaveLength(6);
    });

    it("records a message and its task", async () => {
      const task = requireTask(await client.sendMessage(createTextRequest("count")));
      expect(listArtifactTexts(task)).toEqual(["one two three"]);
      const lines = (await tap.readLines()).filter((line) => "task_id" in line && line.task_id === task.id);
      const response = lines.find(isKind("response"));
      expect(response).toMatchObject({
        agent: "Obedient",
        context_id: task.contextId,
        state: "TASK_STATE_COMPLETED",
      });
      const request = (await tap.readLines())
        .filter(isKind("request"))
        .find(({ call }) => call === response?.call);
      expect(request).toMatchObject({
        to: "Obedient",
        binding,
        protocol_version: "1.0",
        operation: "SendMessage",
        message_id: expect.any(String) as string,
        body: expect.any(Object) as object,
      });
    });

    it("records each event of a stream that the client receives, and its end", async () => {
      const events = await collectEvents(client.sendMessageStream(createTextRequest("count")));
      const lines = await waitForLines(tap, (all) => all.some(isKind("stream-end")));
      const end = lines.find(isKind("stream-end"));
      const frames = lines.filter((line): line is FrameLine => isFrame(line) && line.call === end?.call);
      expect(frames.map(({ index }) => index)).toEqual(events.map((_, at) => at + 1));
      expect(frames.map(({ event }) => Object.keys(event ?? {})[0])).toEqual(
        events.map(({ payload }) => payload?.$case),
      );
      expect(end).toMatchObject({ reason: "completed", frames: events.length, task_id: frames[0]?.task_id });
      const task = (await tap.readModel()).findTask(frames[0]?.task_id ?? "");
      expect(task?.state).toBe("TASK_STATE_COMPLETED");
      expect(task?.timeline.flatMap(({ marks }) => marks)).toEqual([]);
    });

    it("records the error of an operation", async () => {
      await expect(client.getTask({ tenant: "", id: "missing" })).rejects.toThrow(/not found/i);
      const lines = await tap.readLines();
      const request = lines.filter(isKind("request")).find(({ operation }) => operation === "GetTask");
      expect(request).toMatchObject({ task_id: "missing" });
      const response = lines.filter(isKind("response")).find(({ call }) => call === request?.call);
      expect(response?.error).toMatch(/not found/i);
    });

    it("cancels a task that streams, and records both calls", async () => {
      const events = client.sendMessageStream(createTextRequest("wait"));
      const states: unknown[] = [];
      for await (const { payload } of events) {
        if (payload?.$case === "task")
          await client.cancelTask({ tenant: "", id: payload.value.id, metadata: {} });
        if (payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
      }
      const requests = (await tap.readLines()).filter(isKind("request"));
      expect(requests.map(({ operation }) => operation)).toEqual(
        expect.arrayContaining(["SendStreamingMessage", "CancelTask"]),
      );
      expect(states.length).toBeGreaterThan(0);
    });

    it("records that the client closed a stream", async () => {
      tap.tap.faults.add("slow:bytes-per-s=2000");
      const controller = new AbortController();
      const events = client.sendMessageStream(createTextRequest("count"), { signal: controller.signal });
      await events.next();
      controller.abort();
      await expect(collectEvents(events)).rejects.toThrow();
      const lines = await waitForLines(tap, (all) =>
        all.some((line) => line.kind === "stream-end" && line.reason === "canceled"),
      );
      expect(lines.filter(isKind("fault"))).toMatchObject([{ fault: "slow", detail: "2000 bytes per s" }]);
    });
  },
);
