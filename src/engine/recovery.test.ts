import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { snapshot, textOf, type Task } from "../protocol/index.ts";
import type { Agent, AgentEvent, Run } from "./agent.ts";
import type { Append, AppendRefusal } from "./store.ts";
import { Committer } from "./committer.ts";
import { Engine } from "./engine.ts";
import {
  alice,
  askForInput,
  chunk,
  completed,
  drain,
  FakeClock,
  house,
  Puppet,
  reasonOf,
  request,
  scopeOf,
  settle,
  taskOf,
  word,
  working,
} from "./engine.fixture.ts";

/** A store whose process dies after so many commits: no later one is made, nor is anything heard of it. */
class DyingStore extends MemoryStore {
  commits = Infinity;

  override commit(batch: readonly Append[]): Promise<readonly (AppendRefusal | undefined)[]> {
    if (this.commits-- > 0) return super.commit(batch);
    return new Promise(() => {});
  }
}

/** A store that once can not read the log of a task. */
class StumblingStore extends MemoryStore {
  stumblesAt: string | undefined;

  override read(...asked: Parameters<MemoryStore["read"]>): ReturnType<MemoryStore["read"]> {
    if (asked[1] !== this.stumblesAt) return super.read(...asked);
    this.stumblesAt = undefined;
    return Promise.reject(new Error("The disk is away."));
  }
}

const textIn = (task: Task, id = "a"): string | undefined => {
  const artifact = task.artifacts?.find(({ artifactId }) => artifactId === id);
  return artifact && textOf(artifact.parts);
};

describe.each(["restart", "resume"] as const)("an agent that is to %s", (afterRestart) => {
  const puppet = (): Puppet => new Puppet({ afterRestart });

  it("works again on the turn that died with its process, for the same task and caller [E9]", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: puppet() });
    const asked = request("hi", {
      configuration: {
        acceptedOutputModes: ["text/plain"],
        taskPushNotificationConfig: undefined as never,
      },
    });
    void before.engine
      .send({ ...asked, metadata: { urgent: true } }, alice, { extensions: ["urn:x"] })
      .catch(() => {});
    const { run: first } = await before.puppet.run(0);
    await settle();
    expect(first.attempt).toBe(1);

    const { engine, puppet: after } = house({ store, puppet: puppet() });
    await engine.open();
    const { run } = await after.run(0);
    expect(run).toMatchObject({
      taskId: first.taskId,
      contextId: first.contextId,
      attempt: 2,
      message: first.message,
      configuration: { acceptedOutputModes: ["text/plain"] },
      metadata: { urgent: true },
      extensions: ["urn:x"],
      caller: alice,
    });
    expect((await engine.get({ id: run.taskId }, alice)).status.state).toBe("TASK_STATE_WORKING");
  });

  it("is what a client waits for that sends its message again [E9, E10]", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: puppet() });
    const asked = request("hi");
    void before.engine.send(asked, alice).catch(() => {});
    await before.puppet.run(0);
    await settle();
    const { engine, puppet: after } = house({ store, puppet: puppet() });
    await engine.open();
    const answer = engine.send(asked, alice);
    (await after.run(0)).say(chunk("done", false)).end();
    const task = taskOf(await answer);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(textIn(task)).toBe("done");
    expect(after.runs).toHaveLength(1);
  });

  it("is asked again in a later turn of a task, and not for one that waits for its user [E9]", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: puppet() });
    const first = before.engine.send(request("one"), alice);
    (await before.puppet.run(0)).say(chunk("which? ", false), askForInput).end();
    const { id } = taskOf(await first);
    const waiting = house({ store, puppet: puppet() });
    await waiting.engine.open();
    expect(waiting.puppet.runs).toHaveLength(0);

    void waiting.engine.send(request("two", { taskId: id }), alice).catch(() => {});
    await waiting.puppet.run(0);
    await settle();
    const { engine, puppet: after } = house({ store, puppet: puppet() });
    await engine.open();
    const { run } = await after.run(0);
    expect(textOf(run.message.parts)).toBe("two");
    expect(run.task.history?.map(({ parts }) => textOf(parts))).toEqual(["one", "which?", "two"]);
    expect(run.task.artifacts).toHaveLength(1);
  });

  it("is begun only so often, however the process ends [E9, E14]", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: puppet() });
    void before.engine.send(request("hi"), alice).catch(() => {});
    const { run } = await before.puppet.run(0);
    await settle();
    const attempts: number[] = [];
    for (let at = 0; at < 4; at++) {
      const { engine, puppet: after } = house({ store, puppet: puppet(), limits: { attempts: 3 } });
      await engine.open();
      attempts.push(...after.runs.map((again) => again.run.attempt));
    }
    expect(attempts).toEqual([2, 3]);
    const { status } = await house({ store }).engine.get({ id: run.taskId }, alice);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(textOf(status.message?.parts ?? [])).toContain("stopped 3 times");
    expect(await store.unfinished()).toEqual([]);
  });

  it("works once on a turn, also when a server that could not open its store whole tries again [E9]", async () => {
    const store = new StumblingStore();
    const before = house({ store, puppet: puppet() });
    for (const text of ["one", "two"]) void before.engine.send(request(text), alice).catch(() => {});
    const { run: second } = await before.puppet.run(1);
    await settle();
    store.stumblesAt = second.taskId;
    const { engine, puppet: after } = house({ store, puppet: puppet() });
    await expect(engine.open()).rejects.toThrow("The disk is away.");
    await engine.open();
    await settle();
    expect(after.runs.map(({ run }) => [textOf(run.message.parts), run.attempt])).toEqual([
      ["one", 2],
      ["two", 2],
    ]);
  });

  it("is not begun beyond the agents that a server may have at work: those tasks fail [E9, E14]", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: puppet() });
    for (const text of ["one", "two"]) void before.engine.send(request(text), alice).catch(() => {});
    await before.puppet.run(1);
    await settle();
    const { engine, puppet: after } = house({ store, puppet: puppet(), limits: { runs: 1 } });
    await engine.open();
    await settle();
    expect(after.runs).toHaveLength(1);
    const states = before.puppet.runs.map(
      async ({ run }) => (await engine.get({ id: run.taskId }, alice)).status.state,
    );
    expect((await Promise.all(states)).toSorted()).toEqual(["TASK_STATE_FAILED", "TASK_STATE_WORKING"]);
  });

  it("can be cancelled then, and the dead process writes no more [E8, E9]", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: puppet() });
    void before.engine.send(request("hi"), alice).catch(() => {});
    const dead = await before.puppet.run(0);
    await settle();
    const { engine, puppet: after } = house({ store, puppet: puppet() });
    await engine.open();
    const again = await after.run(0);
    again.run.signal.addEventListener("abort", () => again.end());
    const late = before.engine.subscribe({ id: dead.run.taskId }, alice);
    dead.say(chunk("late"));
    await expect(drain(await late)).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await engine.cancel({ id: again.run.taskId }, alice);
    await settle();
    const { status, artifacts } = await engine.get({ id: again.run.taskId }, alice);
    expect(status.state).toBe("TASK_STATE_CANCELED");
    expect(artifacts).toBeUndefined();
    expect(await store.unfinished()).toEqual([]);
  });

  it("leaves its task to the next server when this one closes, where the store lasts [E9, E15]", async () => {
    const store = Object.assign(new MemoryStore(), { durable: true });
    const before = house({ store, puppet: puppet() });
    const asked = request("hi");
    const answer = before.engine.send(asked, alice);
    const run = await before.puppet.run(0);
    run.run.signal.addEventListener("abort", () => run.end());
    await settle();
    await before.engine.close(1000);
    expect(await reasonOf(answer)).toBe("UNAVAILABLE");
    const { engine, puppet: after } = house({ store, puppet: puppet() });
    await engine.open();
    const repeated = engine.send(asked, alice);
    (await after.run(0)).end();
    expect(taskOf(await repeated)).toMatchObject({
      id: run.run.taskId,
      status: { state: "TASK_STATE_COMPLETED" },
    });
  });

  it("fails when its server closes, where nothing lasts", async () => {
    const { engine, puppet: agent } = house({ puppet: puppet() });
    const answer = engine.send(request("hi"), alice);
    const run = await agent.run(0);
    run.run.signal.addEventListener("abort", () => run.end());
    await engine.close(1000);
    expect(taskOf(await answer).status.state).toBe("TASK_STATE_FAILED");
  });
});

describe("what an agent that is begun again is shown", () => {
  it("is the task as its turn found it, to restart; and what was said since, to resume [E9]", async () => {
    for (const [afterRestart, seen] of [
      ["restart", undefined],
      ["resume", "half"],
    ] as const) {
      const store = new MemoryStore();
      const before = house({ store, puppet: new Puppet({ afterRestart }) });
      void before.engine.send(request("hi"), alice).catch(() => {});
      (await before.puppet.run(0)).say(working, chunk("half", false));
      await settle();
      const { engine, puppet } = house({ store, puppet: new Puppet({ afterRestart }) });
      await engine.open();
      const { run } = await puppet.run(0);
      expect(textIn(run.task)).toBe(seen);
      expect(textIn(await engine.get({ id: run.taskId }, alice))).toBe("half");
    }
  });

  it("has the messages that the agent took while it was at work [E9]", async () => {
    const taking = (): Puppet =>
      Object.assign(new Puppet({ afterRestart: "restart" }), { deliver: () => true });
    const store = new MemoryStore();
    const before = house({ store, puppet: taking() });
    void before.engine.send(request("one"), alice).catch(() => {});
    const { run } = await before.puppet.run(0);
    await settle();
    await before.engine.send(request("two", { taskId: run.taskId }), alice);
    const { engine, puppet } = house({ store, puppet: taking() });
    await engine.open();
    const again = (await puppet.run(0)).run;
    expect(textOf(again.message.parts)).toBe("one");
    expect(again.task.history?.map(({ parts }) => textOf(parts))).toEqual(["one", "two"]);
  });

  it("is no secret of a webhook, and nothing of what the credentials permitted", async () => {
    const store = new MemoryStore();
    const before = house({ store, puppet: new Puppet({ afterRestart: "restart" }) });
    const caller = { ...alice, scopes: ["all"], claims: { sub: "alice" }, choseTenant: true };
    void before.engine.send(request("hi"), caller).catch(() => {});
    await before.puppet.run(0);
    await settle();
    expect(await store.unfinished()).toMatchObject([{ turn: { seq: 1, attempt: 1, choseTenant: true } }]);
    expect(JSON.stringify(await store.unfinished())).not.toMatch(/scopes|claims/);
  });
});

describe("an artifact of a turn that is restarted", () => {
  it("is what the last attempt says of it, added to what the turn found [E9]", async () => {
    const store = new MemoryStore();
    const agents = (): Puppet => new Puppet({ afterRestart: "restart" });
    const before = house({ store, puppet: agents() });
    const first = before.engine.send(request("one"), alice);
    (await before.puppet.run(0)).say(chunk("log: ", false), askForInput).end();
    const { id } = taskOf(await first);
    void before.engine.send(request("two", { taskId: id }), alice).catch(() => {});
    (await before.puppet.run(1)).say(chunk("half"), chunk("new, half", false, "b"));
    await settle();
    const { engine, puppet } = house({ store, puppet: agents() });
    await engine.open();
    const run = await puppet.run(0);
    // An agent may add to what it has not begun, too.
    run.say(chunk("whole"), chunk("."), chunk("new", true, "b"), chunk(", whole", true, "b")).end();
    await settle();
    const task = await engine.get({ id }, alice);
    expect(textIn(task)).toBe("log: whole.");
    expect(textIn(task, "b")).toBe("new, whole");
  });
});

/** Says a report in pieces, after what it found; resumed, it goes on behind what the task has of it. */
function reporter(afterRestart: "restart" | "resume", pieces: readonly string[]): Agent {
  return {
    afterRestart,
    describe: () => ({ name: "reporter", description: "Reports" }),
    async *execute({ task }: Run): AsyncGenerator<AgentEvent, void> {
      yield working;
      yield { artifact: { artifactId: "found", parts: [{ data: pieces.length }] } };
      const said = task.artifacts?.find(({ artifactId }) => artifactId === "a");
      let known = said ? textOf(said.parts).length : 0;
      let isBegun = said !== undefined;
      for (const piece of pieces) {
        if (known >= piece.length) {
          known -= piece.length;
          continue;
        }
        yield chunk(piece, isBegun);
        isBegun = true;
        await settle(1);
      }
      yield completed;
    },
  };
}

describe("processes that die at any commit, again and again", () => {
  it.each(["restart", "resume"] as const)(
    "end with the whole report, once, in a log without gaps: %s [E9, E1]",
    async (afterRestart) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.stringMatching(/^[a-z]{3}$/), { minLength: 1, maxLength: 8 }),
          // At least one commit for the message, and one for the attempt.
          fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
          async (pieces, deaths) => {
            const store = new DyingStore();
            const live = (commits: number): Engine => {
              store.commits = commits;
              const clock = new FakeClock();
              return new Engine({
                agent: reporter(afterRestart, pieces),
                agentId: "puppet",
                store,
                committer: new Committer(store, clock),
                clock,
                merge: false,
              });
            };
            const asked = request("report");
            void live(deaths[0] ?? Infinity)
              .send(asked, alice)
              .catch(() => {});
            await settle(40);
            for (const commits of deaths.slice(1)) {
              void live(commits)
                .open()
                .catch(() => {});
              await settle(40);
            }
            const last = live(Infinity);
            await last.open();
            // What the client does: the same message again.
            const { id, ...task } = taskOf(await last.send(asked, alice));
            expect(task.status.state).toBe("TASK_STATE_COMPLETED");
            expect(textIn({ id, ...task })).toBe(pieces.join(""));
            expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(["found", "a"]);
            const log = await store.read(scopeOf(alice), id, 0, { events: 1000, maxBytes: 1e6 });
            expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
            expect(log.filter(({ event }) => word(event) === "COMPLETED")).toHaveLength(1);
            expect(snapshot(await last.get({ id }, alice))).toEqual({ id, ...task });
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
