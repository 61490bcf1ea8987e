import { expect, it } from "vitest";
import type { Deferred } from "../base/data-structures/index.ts";
import type { Message } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { ActiveTask } from "./active-task.ts";
import { alice, createTestTaskScopeForCaller, FakeClock } from "./engine.fixture.ts";
import { MessageAcceptor } from "./message-acceptor.ts";
import { FollowedTask } from "../cluster/followed-task.ts";
import { NO_OTHER_NODES } from "./other-nodes.ts";
import { RequestWaitLimit } from "./store-health.ts";

const scope = createTestTaskScopeForCaller(alice);
const message: Message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }], taskId: "t" };

/** A store that knows the message, or that does not know it. */
class TestStore extends MemoryStore {
  readonly #seq: number | undefined;

  constructor(seq?: number) {
    super();
    this.#seq = seq;
  }

  override findMessage(): ReturnType<MemoryStore["findMessage"]> {
    return this.#seq === undefined ? undefined : { taskId: "t", seq: this.#seq };
  }
}

function acceptMessage(dependencies: object): Promise<unknown> {
  const acceptor = new MessageAcceptor({
    agent: { current: {} },
    limits: { runs: 1 },
    requestWaitLimit: new RequestWaitLimit(undefined, new FakeClock()),
    deduplicateMessages: true,
    startsTurns: () => true,
    otherNodes: NO_OTHER_NODES,
    assertOpen: () => {},
    ...dependencies,
  } as unknown as ConstructorParameters<typeof MessageAcceptor>[0]);
  return Promise.resolve(
    acceptor.acceptMessage({ scope, request: { message }, caller: alice, serviceParameters: {} }),
  );
}

it("releases the task of a repeated message if the running turn cannot be found [E10, E21]", async () => {
  const idle: FollowedTask[] = [];
  const status = { state: "TASK_STATE_WORKING" } as const;
  const task = new FollowedTask(
    {
      store: new TestStore(),
      generateId: () => "",
      sendRequest: async () => undefined,
      refresh: async () => {},
      onActive() {},
      onIdle: (released) => idle.push(released),
    },
    scope,
    { task: { id: "t", contextId: "c", status, history: [message] }, seq: 3, turnStatus: "running" },
    async () => undefined,
  );
  task.findRunningTurn = () => Promise.reject(new Error("timed out"));
  const accepted = acceptMessage({
    store: new TestStore(1),
    tasks: { openFeed: async () => task.retain() },
  });
  await expect(accepted).rejects.toThrow("timed out");
  expect(idle).toEqual([task]);
});

it("releases the task of a message that the agent accepts and the store refuses [E10]", async () => {
  let requests = 0;
  const members = {
    taskId: "t",
    contextId: "c",
    state: "TASK_STATE_WORKING",
    agent: { deliver: () => true },
    turnStatus: "running",
    exceedsLimitWith: () => false,
    offerMessageToAgent(_message: Message, _caller: unknown, durableSeq: Deferred<number>): boolean {
      durableSeq.reject(new Error("the disk is full"));
      return true;
    },
    retain(): unknown {
      requests++;
      return this;
    },
    release: () => void requests--,
  };
  const task = Object.create(ActiveTask.prototype, Object.getOwnPropertyDescriptors(members)) as ActiveTask;
  const accepted = acceptMessage({
    store: new TestStore(),
    tasks: { open: async () => task.retain() },
  });
  await expect(accepted).rejects.toThrow("the disk is full");
  expect(requests).toBe(0);
});
