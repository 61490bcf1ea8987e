import { expect, it } from "vitest";
import { LogEvent, type JsonObject } from "../protocol/index.ts";
import {
  FakeClock,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
} from "../engine/engine.fixture.ts";
import { MemoryStore } from "../stores/index.ts";
import type { FollowedTask } from "./followed-task.ts";
import { NodeLink } from "./node-link.ts";
import type { NodeStore, TaskRequest } from "./node-store.ts";
import { encodeReaderReport } from "./owner-requests.ts";

const scope = { agent: "a", tenant: "", principal: "" };

/** Creates the link of a node that follows a task of another node, whose answers the test gives. */
function createLinkFixture(): {
  link: NodeLink;
  clock: FakeClock;
  task: FollowedTask;
  requests: TaskRequest[];
  answer: (id: string) => void;
  /** Stalls the insertion of requests until the returned function is called. */
  stall: () => () => void;
} {
  const clock = new FakeClock();
  const requests: TaskRequest[] = [];
  const answers: { id: string; answer: JsonObject }[] = [];
  let isInserted: Promise<unknown> = Promise.resolve();
  const nodes = {
    holdsLeases: false,
    hasOtherNodes: true,
    leaseMs: 15_000,
    readChanges: async (followed: unknown[]) => followed.map(() => undefined),
    insertRequest: async (request: TaskRequest) => {
      await isInserted;
      return requests.push(request) > 0;
    },
    takeAnswers: async (ids: string[]) => {
      const taken = answers.filter(({ id }) => ids.includes(id));
      return taken.splice(0);
    },
    deleteRequest: async () => {},
  } as unknown as NodeStore;
  const link = NodeLink.create({ store: Object.assign(new MemoryStore(), { nodes }), clock }) as NodeLink;
  link.serveAgent(
    "a",
    async () => undefined,
    () => {},
  );
  const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" as const } };
  const followed = link.logs.follow(
    scope,
    { task, seq: 1, awaitsRecovery: false, runsOnOtherNode: true },
    async () => undefined,
  );
  return {
    link,
    clock,
    task: followed.retain(),
    requests,
    answer: (id) => void answers.push({ id, answer: {} }),
    stall: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      isInserted = promise;
      return resolve;
    },
  };
}

it("an answered request no longer waits for the end of the turn, so that events cost the same [E6, E21]", async () => {
  const { link, clock, task, answer } = createLinkFixture();
  for (let at = 0; at < 5; at++) {
    const answered = link.sendRequest(task, encodeReaderReport(`r${at}`, scope, "t"));
    await flushEventLoopForTest();
    answer(`r${at}`);
    clock.advance(50);
    expect(await answered).toEqual({});
  }
  let waitCount = 0;
  const wait = task.waitForCommitOrTurnChange.bind(task);
  task.waitForCommitOrTurnChange = () => {
    waitCount++;
    return wait();
  };
  const statusUpdate = { taskId: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" as const } };
  for (const seq of [2, 3]) {
    task.applyChange({
      lastSeq: seq,
      turnStatus: "running",
      events: [LogEvent.create(seq, { statusUpdate })],
    });
    await flushEventLoopForTest();
  }
  expect(waitCount).toBe(0);
  task.release();
});

it("a request that is stored while its node closes is rejected at once [E15]", async () => {
  const { link, task, requests, stall } = createLinkFixture();
  const endStall = stall();
  const reason = getRejectionA2AErrorReasonForTest(
    link.sendRequest(task, encodeReaderReport("r", scope, "t")),
  );
  await flushEventLoopForTest();
  link.closeAgent("a");
  endStall();
  await flushEventLoopForTest();
  expect(requests).toHaveLength(1);
  expect(await reason).toBe("UNAVAILABLE");
  task.release();
});
