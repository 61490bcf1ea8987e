import { describe, expect, it } from "vitest";
import type { ClaimedTask } from "../engine/index.ts";
import { TASK_STATES } from "../protocol/index.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  formatTestTime,
} from "./task-event-logs.fixture.ts";
import { restartTestStore, type TestStore } from "./test-store.fixture.ts";

/** Defines the contract tests for the running turns and the leases of a store. */
export function defineTaskLeaseContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
  const claimTaskIds = async (agent = aliceTestTaskScope.agent, limit = 10): Promise<string[]> =>
    (await getStore().turns.claim(agent, limit)).map(({ taskId }) => taskId).toSorted();

  const beginTurn = (
    taskId: string,
    options: Parameters<typeof createTestLogAppend>[3] = {},
  ): Promise<void> =>
    append(taskId, 0, [createTestSubmittedTaskEvent(taskId)], { hasRunningTurn: true, ...options });

  const restart = (): Promise<void> => restartTestStore(getStore());

  describe("a running turn", () => {
    it("is known by its marker and not by the state of its task [E9, E17]", async () => {
      for (const state of TASK_STATES) {
        const log = [createTestSubmittedTaskEvent("t"), createTestStatusEvent("t", state, 2)];
        for (const hasRunningTurn of [true, false]) {
          const taskId = `${state} ${hasRunningTurn}`;
          const born = createTestLogAppend(taskId, 0, log, { hasRunningTurn });
          await getStore().commit([born, { ...born, scope: bobTestTaskScope }]);
        }
      }
      const expected = [aliceTestTaskScope, bobTestTaskScope].flatMap((scope) =>
        TASK_STATES.map((state) => ({
          scope,
          taskId: `${state} true`,
          contextId: "talk",
          seq: 2,
          state,
          timestamp: formatTestTime(2),
          epoch: 1,
        })),
      );
      await restart();
      const found = await getStore().turns.claim("echo", 100);
      expect(found).toHaveLength(expected.length);
      expect(found).toEqual(expect.arrayContaining(expected));
    });

    it("lasts until an append ends it, even an append without events", async () => {
      const waiting = createTestStatusEvent("t", "TASK_STATE_AUTH_REQUIRED", 1);
      await beginTurn("t");
      await append("t", 1, [waiting]);
      expect(await getStore().load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2, awaitsRecovery: true });
      const status = { state: "TASK_STATE_AUTH_REQUIRED", timestamp: formatTestTime(1) } as const;
      await append("t", 2, [], { status, hasRunningTurn: false });
      expect(await getStore().load(aliceTestTaskScope, "t")).toMatchObject({
        seq: 2,
        task: { status },
        awaitsRecovery: false,
      });
      await append("t", 2, [createTestChunkEvent("t", "later")], { hasRunningTurn: true });
      await restart();
      expect(await getStore().turns.claim("echo", 10)).toMatchObject([{ taskId: "t", seq: 3 }]);
    });

    it("keeps its marker if the append that ends it is rejected", async () => {
      await beginTurn("t");
      await getStore().commit([createTestLogAppend("t", 7, [], { hasRunningTurn: false })]);
      expect(await getStore().load(aliceTestTaskScope, "t")).toMatchObject({ awaitsRecovery: true });
    });
  });

  describe("a lease", () => {
    it("belongs to the process that began the turn, until the process ends [E17]", async () => {
      await beginTurn("t");
      await append("idle", 0, [createTestSubmittedTaskEvent("idle")]);
      expect(await claimTaskIds()).toEqual([]);
      await restart();
      expect(await claimTaskIds()).toEqual(["t"]);
      expect(await claimTaskIds()).toEqual([]);
      expect(await getStore().turns.renew()).toEqual([]);
    });

    it("is claimed with a higher epoch, under which alone the store accepts appends [E17]", async () => {
      const turn = { seq: 1, attempt: 1, request: {}, service: {} };
      await beginTurn("t", { turn });
      await restart();
      const [claimed] = await getStore().turns.claim("echo", 10);
      expect(claimed).toEqual({
        scope: aliceTestTaskScope,
        taskId: "t",
        contextId: "talk",
        seq: 1,
        state: "TASK_STATE_SUBMITTED",
        timestamp: formatTestTime(0),
        turn,
        epoch: 1,
      });
      const late = createTestLogAppend("t", 1, [createTestChunkEvent("t", "late")]);
      expect(await getStore().commit([late])).toEqual(["conflict"]);
      expect(await getStore().commit([{ ...late, epoch: 1 }])).toEqual([undefined]);
      expect(await getStore().load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2, epoch: 1 });
      await restart();
      expect(await getStore().turns.claim("echo", 10)).toMatchObject([{ taskId: "t", seq: 2, epoch: 2 }]);
    });

    it("can be claimed after its release, but an outdated release has no effect [E17]", async () => {
      await beginTurn("t");
      await getStore().turns.release({ scope: aliceTestTaskScope, taskId: "t", epoch: 0 });
      const [claimed] = (await getStore().turns.claim("echo", 10)) as [ClaimedTask];
      expect(claimed.epoch).toBe(1);
      await getStore().turns.release({ ...claimed, epoch: 0 });
      await getStore().turns.release({ ...claimed, scope: bobTestTaskScope });
      await getStore().turns.release({ ...claimed, taskId: "unknown" });
      expect(await claimTaskIds()).toEqual([]);
      await getStore().turns.release(claimed);
      expect(await claimTaskIds()).toEqual(["t"]);
    });

    it("stays with its holder if an outdated writer tries to begin a turn [E17]", async () => {
      await beginTurn("t");
      await getStore().turns.release({ scope: aliceTestTaskScope, taskId: "t", epoch: 0 });
      await getStore().turns.claim("echo", 10);
      const late = createTestLogAppend("t", 1, [createTestChunkEvent("t", "late")], { hasRunningTurn: true });
      expect(await getStore().commit([late])).toEqual(["conflict"]);
      await getStore().turns.release({ scope: aliceTestTaskScope, taskId: "t", epoch: 0 });
      expect(await claimTaskIds()).toEqual([]);
    });

    it("ends with its turn, and the next turn has a new lease", async () => {
      await beginTurn("t");
      await append("t", 1, [createTestStatusEvent("t", "TASK_STATE_INPUT_REQUIRED")], {
        hasRunningTurn: false,
      });
      await append("t", 2, [createTestStatusEvent("t", "TASK_STATE_WORKING")], { hasRunningTurn: true });
      expect(await claimTaskIds()).toEqual([]);
      await append("t", 3, [createTestStatusEvent("t", "TASK_STATE_COMPLETED")], { hasRunningTurn: false });
      await restart();
      expect(await claimTaskIds()).toEqual([]);
    });

    it("is released by an append that leaves the turn to other nodes, with the turn [E17, E21]", async () => {
      const turn = { seq: 1, attempt: 0, request: {}, service: {} };
      await beginTurn("t", { turn, releasesLease: true });
      const [claimed] = await getStore().turns.claim("echo", 10, "waiting");
      expect(claimed).toMatchObject({ taskId: "t", epoch: 1, turn });
      expect(await claimTaskIds()).toEqual([]);
      const handedOver = { ...turn, attempt: 1, excusedAttempts: 1 };
      await append("t", 1, [], { turn: handedOver, releasesLease: true, epoch: 1 });
      expect(await getStore().turns.claim("echo", 10, "waiting")).toMatchObject([
        { epoch: 2, seq: 1, turn: handedOver },
      ]);
    });

    it("is claimed for one agent, and for a limited number of tasks at once", async () => {
      for (const taskId of ["a", "b", "c"]) await beginTurn(taskId);
      await beginTurn("other", { scope: { ...aliceTestTaskScope, agent: "other" } });
      await beginTurn("b", { scope: bobTestTaskScope });
      await restart();
      const claims = [
        await claimTaskIds("echo", 3),
        await claimTaskIds("echo", 3),
        await claimTaskIds("echo", 3),
      ];
      expect(claims.map(({ length }) => length)).toEqual([3, 1, 0]);
      expect(claims.flat().toSorted()).toEqual(["a", "b", "b", "c"]);
      expect(await claimTaskIds("other")).toEqual(["other"]);
    });
  });
}
