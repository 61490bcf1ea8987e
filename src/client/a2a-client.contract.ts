import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  A2AError,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  getText,
} from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import { type ClientBindingName, collect, connect, type A2AClient } from "./index.ts";

/**
 * A server whose agent follows the script in the message. `count` streams "one two three" and completes.
 * `ask` asks a question and completes with the answer. `wait` works until it is canceled.
 */
export interface RunningTestServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A binding and a protocol version that a server supports. */
export type TestedBindingAndVersion = readonly [binding: ClientBindingName, version: ProtocolVersion];

export const TESTED_1_0_BINDINGS: readonly TestedBindingAndVersion[] = [
  ["JSONRPC", "1.0"],
  ["HTTP+JSON", "1.0"],
  ["GRPC", "1.0"],
];
export const TESTED_0_3_BINDINGS: readonly TestedBindingAndVersion[] = [
  ["JSONRPC", "0.3"],
  ["HTTP+JSON", "0.3"],
  ["GRPC", "0.3"],
];

/** Describes the behavior of the client with any server. */
export function defineA2AClientContractTests(
  server: string,
  alternatives: readonly TestedBindingAndVersion[],
  serve: () => Promise<RunningTestServer>,
): void {
  describe.each(alternatives)(`${server} over %s %s`, (binding, version) => {
    let served: RunningTestServer;
    let remote: A2AClient;

    beforeAll(async () => {
      served = await serve();
      remote = await connect(served.url, { binding, version });
    });
    afterAll(() => served.close());

    it("finds the agent by its host and uses the requested binding [A-01, A-04, B-09]", () => {
      expect(remote.card.name).toBe("Obedient");
      expect(remote.agentInterface.protocolBinding).toBe(binding);
      expect(remote.agentInterface.protocolVersion).toMatch(version);
    });

    it("answers a message with a completed task [F-01, F-02]", async () => {
      const task = requireTaskResponseInTest(await remote.send("count"));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(joinTestTaskArtifactTexts(task)).toBe("one two three");
    });

    it("streams the events of the same task [G-01, G-02, G-07]", async () => {
      const events = await collectStreamEventsForTest(remote.stream("count"));
      expect(Object.keys(events[0] ?? {})).toEqual(["task"]);
      expect(getEventTaskStateForTest(events.at(-1))).toBe("TASK_STATE_COMPLETED");
      expect(
        joinTestTaskArtifactTexts(requireTaskResponseInTest(await collect(toAsyncTestEventIterable(events)))),
      ).toBe("one two three");
    });

    it("continues a task that asked a question [F-06, F-15]", async () => {
      const asked = requireTaskResponseInTest(await collect(remote.stream("ask")));
      expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      const done = requireTaskResponseInTest(
        await collect(remote.stream("blue", { taskId: asked.id, contextId: asked.contextId })),
      );
      expect(done).toMatchObject({ id: asked.id, status: { state: "TASK_STATE_COMPLETED" } });
      expect(joinTestTaskArtifactTexts(done)).toBe("got blue");
    });

    it("returns a task with the requested length of history [F-30, F-31]", async () => {
      const { id } = requireTaskResponseInTest(await remote.send("count"));
      expect(await remote.tasks.get(id)).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
      expect((await remote.tasks.get(id, { historyLength: 1 })).history).toHaveLength(1);
    });

    it.runIf(version === "1.0")("lists tasks [F-34]", async () => {
      const { id, contextId } = requireTaskResponseInTest(await remote.send("count"));
      expect(await remote.tasks.get(id, { historyLength: 0 })).not.toHaveProperty("history");
      const page = await remote.tasks.list({ contextId, pageSize: 5, includeArtifacts: true });
      expect(page.tasks.map((task) => task.id)).toEqual([id]);
      expect(page).toMatchObject({ nextPageToken: "", totalSize: 1 });
      await expect(remote.tasks.list({ pageSize: 1000 })).rejects.toBeInstanceOf(A2AError);
    });

    it.runIf(version === "0.3")("rejects listing tasks with an unsupported operation", async () => {
      await expect(remote.tasks.list()).rejects.toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
    });

    it("cancels a task and notifies its subscribers [F-40, F-50]", async () => {
      const stream = remote.stream("wait");
      const seen: (string | undefined)[] = [];
      let id = "";
      for await (const event of stream) {
        seen.push(getEventTaskStateForTest(event));
        if ("task" in event) ({ id } = event.task);
        if (seen.at(-1) === "TASK_STATE_WORKING") break;
      }
      const subscription = remote.tasks.subscribe(id)[Symbol.asyncIterator]();
      const first = await subscription.next();
      expect(getEventTaskStateForTest(first.value as StreamResponse)).toBe("TASK_STATE_WORKING");
      expect((await remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
      const rest = await collectStreamEventsForTest({ [Symbol.asyncIterator]: () => subscription });
      expect(getEventTaskStateForTest(rest.at(-1))).toBe("TASK_STATE_CANCELED");
    });

    it("returns the completed task to a late subscriber [F-51]", async () => {
      const { id } = requireTaskResponseInTest(await remote.send("count"));
      const events = await collectStreamEventsForTest(remote.tasks.subscribe(id));
      expect(getEventTaskStateForTest(events.at(-1))).toBe("TASK_STATE_COMPLETED");
      expect(
        joinTestTaskArtifactTexts(requireTaskResponseInTest(await collect(toAsyncTestEventIterable(events)))),
      ).toBe("one two three");
    });

    it("maps errors to their reasons [D-03, C-05]", async () => {
      const { id } = requireTaskResponseInTest(await remote.send("count"));
      await expect(remote.tasks.get("unknown")).rejects.toMatchObject({ reason: "TASK_NOT_FOUND" });
      await expect(remote.tasks.cancel("unknown")).rejects.toMatchObject({ reason: "TASK_NOT_FOUND" });
      await expect(remote.tasks.cancel(id)).rejects.toMatchObject({ reason: "TASK_NOT_CANCELABLE" });
      await expect(collectStreamEventsForTest(remote.tasks.subscribe("unknown"))).rejects.toMatchObject({
        reason: "TASK_NOT_FOUND",
      });
      // A2A 0.3 does not define this error.
      const extra: unknown = await collectStreamEventsForTest(remote.stream("more", { taskId: id })).catch(
        (error: unknown) => error,
      );
      expect(extra).toBeInstanceOf(A2AError);
      if (version === "1.0") expect(extra).toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
    });
  });
}

export async function collectStreamEventsForTest(
  stream: AsyncIterable<StreamResponse>,
): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function* toAsyncTestEventIterable(events: readonly StreamResponse[]): AsyncGenerator<StreamResponse> {
  yield* events;
}

export function requireTaskResponseInTest(response: SendMessageResponse): Task {
  if ("task" in response) return response.task;
  throw new Error("the agent answered with a message");
}

export function getEventTaskStateForTest(event: StreamResponse | undefined): string | undefined {
  if (event && "task" in event) return event.task.status.state;
  return event && "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
}

function joinTestTaskArtifactTexts(task: Task): string {
  return (task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
}
