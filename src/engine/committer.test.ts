import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countRuns } from "../../test/support/count-runs.ts";
import { FakeClock, flushEventLoopForTest } from "./engine.fixture.ts";
import { Committer, type CommitWriter } from "./committer.ts";
import type { AppendRefusal, LogAppend, TaskStore } from "./task-store.ts";

type Misbehavior = "take" | "committed" | "failed" | "all" | "none";

/** A writer that has one append for each call of `add`, and whose methods can throw. */
class TestWriter implements CommitWriter {
  readonly #misbehavior: Misbehavior;
  readonly #append: LogAppend;
  #pending = 0;
  taken = 0;
  outcomes = 0;

  constructor(id: string, misbehavior: Misbehavior) {
    this.#misbehavior = misbehavior;
    this.#append = {
      scope: { agent: "a", tenant: "", principal: "" },
      taskId: id,
      contextId: "c",
      expectedSeq: 0,
      events: [],
      committedAt: 0,
      status: { state: "TASK_STATE_WORKING", timestamp: "" },
      messages: [],
      epoch: 0,
    };
  }

  get isWellBehaved(): boolean {
    return this.#misbehavior === "none";
  }

  add(): this {
    this.#pending++;
    return this;
  }

  takePendingAppend(): LogAppend | undefined {
    this.#throwIf("take");
    if (this.#pending === 0) return undefined;
    this.#pending--;
    this.taken++;
    return this.#append;
  }

  onCommitted(): void {
    this.outcomes++;
    this.#throwIf("committed");
  }

  onCommitFailed(): void {
    this.outcomes++;
    this.#throwIf("failed");
  }

  #throwIf(method: Misbehavior): void {
    if (this.#misbehavior === method || this.#misbehavior === "all") throw new Error(`thrown by ${method}`);
  }
}

/** What the store does in one commit. A malformed result has no outcomes. */
const commitArbitrary = fc.constantFrom("store", "refuse", "reject", "throw", "malformed");
const misbehaviorArbitrary = fc.constantFrom<Misbehavior>("take", "committed", "failed", "all", "none");

function createTestStore(script: string[]): Pick<TaskStore, "commit" | "load" | "readEvents"> {
  return {
    commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
      const action = script.shift() ?? "store";
      if (action === "throw") throw new Error("thrown by the store");
      if (action === "reject") return Promise.reject(new Error("rejected by the store"));
      if (action === "malformed") return Promise.resolve(undefined as never);
      return Promise.resolve(batch.map(() => (action === "refuse" ? "conflict" : undefined)));
    },
    load: async () => undefined,
    readEvents: async () => [],
  };
}

describe("a writer that throws", () => {
  it("does not reach the other writers of its batch, and not the later batches [E1, E2]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(misbehaviorArbitrary, { minLength: 1, maxLength: 6 }),
        fc.array(fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.array(commitArbitrary, { maxLength: 6 }),
        async (misbehaviors, rounds, script) => {
          const clock = new FakeClock();
          const errors: unknown[] = [];
          const committer = new Committer(createTestStore(script) as TaskStore, clock, {
            onError: ({ error }) => {
              errors.push(error);
              throw error;
            },
            onCommit: () => {
              throw new Error("thrown by the observer");
            },
          });
          const writers = misbehaviors.map((misbehavior, at) => new TestWriter(`t${at}`, misbehavior));
          for (const round of rounds) {
            for (const at of round) {
              const writer = writers[at % writers.length];
              if (writer) committer.enqueue(writer.add(), true);
            }
            await settle(clock);
          }
          const last = new TestWriter("last", "none").add();
          committer.enqueue(last, true);
          await settle(clock);
          for (const writer of [...writers, last].filter(({ isWellBehaved }) => isWellBehaved))
            expect(writer.outcomes).toBe(writer.taken);
          expect(last.taken).toBe(1);
        },
      ),
      { numRuns: countRuns(150, 2000) },
    );
  });
});

async function settle(clock: FakeClock): Promise<void> {
  await flushEventLoopForTest(3);
  // The delays of the retries.
  for (const ms of [50, 200, 800, 3200]) {
    clock.advance(ms);
    await flushEventLoopForTest(2);
  }
}
