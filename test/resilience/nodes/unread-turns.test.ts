import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeCooperation } from "../../../src/cluster/index.ts";
import {
  alice,
  createEngineFixture,
  createTestSendMessageRequest,
  type EngineFixture,
  FakeClock,
  flushEventLoopForTest,
  getTestResponseTask,
  ScriptedAgent,
  workingTestEvent,
} from "../../../src/engine/engine.fixture.ts";
import type { Subscription } from "../../../src/engine/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";

const { url, reason } = await findTestDatabase();

/** A store that counts the answered reports of readers on other nodes. */
class CountingStore extends PostgresStore {
  reportCount = 0;
  readonly #kinds = new Map<string, string>();

  override async open(): Promise<void> {
    await super.open();
    const takeRequests = this.nodes.takeRequests.bind(this.nodes);
    const answerRequest = this.nodes.answerRequest.bind(this.nodes);
    this.nodes.takeRequests = async () => {
      const requests = await takeRequests();
      for (const { id, kind } of requests) this.#kinds.set(id, kind);
      return requests;
    };
    this.nodes.answerRequest = async (answer) => {
      await answerRequest(answer);
      if (this.#kinds.get(answer.id) === "read") this.reportCount++;
    };
  }
}

type TestNode = EngineFixture & { readonly store: CountingStore };

async function startNode(): Promise<TestNode> {
  const clock = new FakeClock();
  const store = new CountingStore(url);
  await store.open();
  const nodeCooperation = createNodeCooperation({ store, clock });
  const agent = new ScriptedAgent({ whenUnread: "cancel" });
  const node = createEngineFixture({ agent, store, clock, nodeCooperation });
  await node.engine.open();
  return { ...node, store };
}

describe.skipIf(reason)('a turn with whenUnread: "cancel" on one of two nodes', () => {
  let owner: TestNode;
  let other: TestNode;
  let taskId: string;

  beforeEach(async () => {
    [owner, other] = [await startNode(), await startNode()];
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
    const request = createTestSendMessageRequest("go", { configuration: { returnImmediately: true } });
    ({ id: taskId } = getTestResponseTask(await owner.engine.sendMessage(request, alice)));
    const { run } = (await owner.agent.waitForRun(0)).emit(workingTestEvent);
    run.signal.addEventListener("abort", () => owner.agent.runs[0]?.end());
  });
  afterEach(async () => {
    await Promise.all([owner, other].map(({ engine }) => engine.close(0)));
    await Promise.all([owner, other].map(({ store }) => store.close()));
  });

  async function advance(ms: number): Promise<void> {
    for (const { clock } of [owner, other]) clock.advance(ms);
    await flushEventLoopForTest(2);
  }

  async function passSeconds(count: number): Promise<void> {
    for (let at = 0; at < count; at++) await advance(1000);
  }

  /** Resolves once the node of the turn has answered `count` reports of readers. */
  async function waitForReports(count: number): Promise<void> {
    await expect.poll(() => advance(20).then(() => owner.store.reportCount)).toBeGreaterThanOrEqual(count);
  }

  async function readState(): Promise<string> {
    const { status } = await owner.engine.getTask({ id: taskId }, alice);
    return status.state.slice("TASK_STATE_".length);
  }

  /** Reads the task on the other node for longer than the grace period. */
  async function readOnOtherNode(): Promise<Subscription> {
    const subscription = await other.engine.subscribeToTask({ id: taskId }, alice);
    await waitForReports(1);
    for (let report = 2; report <= 6; report++) {
      await passSeconds(10);
      await waitForReports(report);
    }
    expect(await readState()).toBe("WORKING");
    return subscription;
  }

  it("continues while a client reads the task on the other node, and is canceled after the client has left [E21, E24]", async () => {
    const subscription = await readOnOtherNode();
    subscription.close();
    await passSeconds(29);
    expect(await readState()).toBe("WORKING");
    await passSeconds(2);
    await expect.poll(readState).toBe("CANCELED");
  });

  it("is canceled after the node of the client has died [E21, E24]", async () => {
    await readOnOtherNode();
    const { clock } = owner;
    for (let at = 0; at < 31; at++) clock.advance(1000);
    await expect.poll(readState).toBe("CANCELED");
  });

  it("continues after its client on the other node has left, while another client reads the task [E21]", async () => {
    const local = await owner.engine.subscribeToTask({ id: taskId }, alice);
    const remote = await readOnOtherNode();
    remote.close();
    await passSeconds(100);
    expect(await readState()).toBe("WORKING");
    local.close();
    await passSeconds(31);
    await expect.poll(readState).toBe("CANCELED");
  });

  it("sends no reports without a reader [E25]", async () => {
    await passSeconds(100);
    expect(owner.store.reportCount).toBe(0);
    // The database can still be committing the first event of the agent.
    await expect.poll(readState).toBe("WORKING");
  });
});
