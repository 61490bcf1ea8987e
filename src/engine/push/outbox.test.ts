import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { MemoryStore } from "../../stores/index.ts";
import {
  alice,
  askForInput,
  chunk,
  completed,
  FakeClock,
  house,
  Puppet,
  request,
  scopeOf,
  settle,
  taskOf,
  word,
  working,
  type House,
} from "../engine.fixture.ts";
import type { PushSeen } from "../observer.ts";
import type { Delivered, Notification } from "./deliver.ts";
import { Outbox, type OutboxOptions } from "./outbox.ts";
import type { WebhookProgress } from "./store.ts";

const HOUR = 3_600_000;

/** A memory store that counts what is written down of webhooks. */
class CountingStore extends MemoryStore {
  readonly writes: (readonly WebhookProgress[])[] = [];
  broken = false;

  constructor() {
    super();
    const advance = this.push.advance.bind(this.push);
    this.push.advance = async (progress) => {
      if (this.broken) throw new Error("the disk is full");
      this.writes.push(progress);
      await advance(progress);
    };
  }
}

/** What was delivered where, as `webhook: what`, and what the receivers answer. */
class Post {
  readonly delivered: string[] = [];
  readonly tries: Notification[] = [];
  /** Answers to the next tries of a webhook; then success. */
  readonly answers = new Map<string, (Delivered | "hang")[]>();
  readonly aborted: string[] = [];
  #held: (() => void)[] = [];

  /** Lets those that hang fail. */
  release(): void {
    for (const resolve of this.#held.splice(0)) resolve();
  }

  readonly deliver = async (notification: Notification, signal: AbortSignal): Promise<Delivered> => {
    this.tries.push(notification);
    const { id } = notification.webhook.config;
    const answer = this.answers.get(id)?.shift() ?? { ok: true };
    if (answer === "hang") {
      await new Promise<void>((resolve) => {
        this.#held.push(resolve);
        signal.addEventListener("abort", () => resolve());
      });
      this.aborted.push(id);
      return { ok: false, reason: "aborted" };
    }
    if (answer.ok) this.delivered.push(`${id}: ${word(notification.event.event)}`);
    return answer;
  };
}

const failed = (more: object = {}): Delivered => ({
  ok: false,
  reason: "The receiver answered HTTP 503.",
  ...more,
});
const failures = (count: number): Delivered[] => Array.from({ length: count }, () => failed());

interface PushHouse extends House {
  readonly store: CountingStore;
  readonly post: Post;
  readonly outbox: Outbox;
  readonly seen: PushSeen[];
}

function pushHouse(
  options: Partial<OutboxOptions> = {},
  { store = new CountingStore(), clock = new FakeClock(), post = new Post() } = {},
  puppet = new Puppet(),
): PushHouse {
  const seen: PushSeen[] = [];
  const outbox = new Outbox({
    deliver: post.deliver,
    clock,
    random: () => 0,
    observer: { onPush: (one) => seen.push(one) },
    ...options,
    store,
  });
  outbox.open();
  onTestFinished(async () => {
    const closed = outbox.close(0);
    clock.advance(0);
    await closed;
  });
  const push = { outbox, check: async (): Promise<[]> => [] };
  return { ...house({ store, clock, push, puppet, merge: false }), store, post, outbox, seen };
}

const webhook = (id: string, host = "example.com"): { id: string; url: string } => ({
  id,
  url: `https://${host}/`,
});

/** Begins a task with a webhook; the puppet's run, and the task's id. */
async function begin(
  { engine, puppet }: House,
  taskPushNotificationConfig: object = webhook("w"),
): Promise<{ run: Awaited<ReturnType<House["puppet"]["run"]>>; taskId: string }> {
  const configuration = { taskPushNotificationConfig, returnImmediately: true } as never;
  const at = puppet.runs.length;
  const { id: taskId } = taskOf(await engine.send(request("hi", { configuration }), alice));
  return { run: await puppet.run(at), taskId };
}

describe("the outbox", () => {
  it("delivers each event once, in order, as it is committed [E12, I-08]", async () => {
    const it = pushHouse();
    const { run } = await begin(it);
    run.say(working, chunk("a"));
    await settle();
    expect(it.post.delivered).toEqual(["w: task SUBMITTED", "w: WORKING", "w: a"]);
    run.say(chunk("b")).end();
    await settle();
    expect(it.post.delivered.slice(3)).toEqual(["w: b", "w: COMPLETED"]);
    expect(it.seen.map(({ seq, outcome }) => [seq, outcome])).toEqual(
      [1, 2, 3, 4, 5].map((seq) => [seq, "delivered"]),
    );
  });

  it("writes down how far it has come once in a while, not for each event [E12]", async () => {
    const it = pushHouse();
    const { run, taskId } = await begin(it);
    for (let at = 0; at < 100; at++) {
      run.say(chunk(`${at} `));
      await settle(4);
    }
    expect(it.post.delivered).toHaveLength(101);
    expect(it.store.writes).toHaveLength(0);
    it.clock.advance(500);
    await settle();
    expect(it.store.writes).toMatchObject([[{ delivered: 101 }]]);
    run.end();
    await settle();
    it.clock.advance(500);
    await settle();
    expect(it.store.writes.slice(1)).toMatchObject([[{ delivered: 102, finished: true }]]);
    expect(await it.store.push.get(scopeOf(alice), taskId, "w")).toMatchObject({ delivered: 102 });
  });

  it("goes on later with what the store did not take", async () => {
    const it = pushHouse();
    const { run } = await begin(it);
    it.store.broken = true;
    run.end();
    await settle();
    it.clock.advance(500);
    await settle();
    it.store.broken = false;
    it.clock.advance(500);
    await settle();
    expect(it.store.writes).toMatchObject([[{ delivered: 2, finished: true }]]);
  });

  it("tries again after a pause that doubles, and sends nothing else meanwhile [E12, I-07, I-08]", async () => {
    const it = pushHouse();
    it.post.answers.set("w", failures(4));
    const { run } = await begin(it);
    run.say(working).end();
    await settle();
    const triedAt: number[] = [];
    const began = it.clock.time;
    for (let ms = 0; ms < 20_000; ms += 500) {
      const before = it.post.tries.length;
      it.clock.advance(500);
      await settle(5);
      if (it.post.tries.length > before) triedAt.push(it.clock.time - began);
    }
    expect(triedAt).toEqual([1000, 3000, 7000, 15_000]);
    expect(it.post.tries.slice(0, 5).every(({ event }) => event.seq === 1)).toBe(true);
    expect(it.post.delivered).toEqual(["w: task SUBMITTED", "w: WORKING", "w: COMPLETED"]);
    expect(it.seen.filter(({ outcome }) => outcome === "failed").map(({ retryInMs }) => retryInMs)).toEqual([
      1000, 2000, 4000, 8000,
    ]);
  });

  it("waits as long as the receiver asks for [E12, I-07]", async () => {
    const it = pushHouse();
    it.post.answers.set("w", [failed({ retryAfterMs: 90_000 })]);
    await begin(it);
    await settle();
    it.clock.advance(89_999);
    await settle();
    expect(it.post.tries).toHaveLength(1);
    it.clock.advance(1);
    await settle();
    expect(it.post.delivered).toEqual(["w: task SUBMITTED"]);
  });

  it("gives a webhook up after its time, with the reason, but no other of the task [E12]", async () => {
    const it = pushHouse({ retry: { giveUpAfterMs: HOUR } });
    it.post.answers.set("w", failures(1000));
    const { run, taskId } = await begin(it);
    await it.engine.webhooks?.create({ taskId, ...webhook("x") }, alice);
    run.say(working).end();
    await settle();
    for (let ms = 0; ms < 1.25 * HOUR; ms += 60_000) {
      it.clock.advance(60_000);
      await settle(5);
    }
    const tries = it.post.tries.length;
    it.clock.advance(24 * HOUR);
    await settle();
    expect(it.post.tries).toHaveLength(tries);
    expect(it.post.delivered).toEqual(["x: WORKING", "x: COMPLETED"]);
    expect(it.seen.at(-1)).toMatchObject({
      outcome: "dead",
      seq: 1,
      reason: "The receiver answered HTTP 503.",
    });
    expect(await it.store.push.dead(10)).toMatchObject([
      { taskId, config: webhook("w"), delivered: 0, dead: { reason: "The receiver answered HTTP 503." } },
    ]);
    expect(await it.store.push.due(0, 10)).toEqual([]);
  });

  it("counts the time from the first of the failures in a row, over restarts too [E12]", async () => {
    const before = pushHouse({ retry: { giveUpAfterMs: HOUR } });
    before.post.answers.set("w", failures(1000));
    await begin(before);
    await settle();
    before.clock.advance(500);
    await settle();
    await before.outbox.close(0);
    before.clock.advance(HOUR);
    const after = pushHouse({ retry: { giveUpAfterMs: HOUR } }, before);
    await settle();
    expect(after.seen).toMatchObject([{ outcome: "dead", seq: 1 }]);
  });

  it("gives up at once what is hopeless, and begins anew where it was when it is registered again [E12]", async () => {
    const it = pushHouse();
    it.post.answers.set("w", [{ ok: true }, failed({ hopeless: true })]);
    const { run, taskId } = await begin(it);
    run.say(working).end();
    await settle();
    expect(it.seen.at(-1)).toMatchObject({ outcome: "dead", seq: 2 });
    await it.engine.webhooks?.create({ taskId, ...webhook("w") }, alice);
    await settle();
    expect(it.post.delivered).toEqual(["w: task SUBMITTED", "w: WORKING", "w: COMPLETED"]);
    expect(await it.store.push.dead(10)).toEqual([]);
  });

  it("goes on after a restart with what was not delivered, in order [E12]", async () => {
    const before = pushHouse();
    before.post.answers.set("w", [{ ok: true }, ...failures(3)]);
    const { run } = await begin(before);
    run.say(working, chunk("a"), chunk("b")).end();
    await settle();
    before.clock.advance(500);
    await settle();
    // Nobody closes what is killed.
    const post = new Post();
    pushHouse({}, { ...before, post });
    await settle();
    expect(before.post.delivered).toEqual(["w: task SUBMITTED"]);
    expect(post.delivered).toEqual(["w: WORKING", "w: a", "w: b", "w: COMPLETED"]);
  });

  it("delivers once more what it had not written down when it was killed [E12]", async () => {
    const before = pushHouse();
    const { run } = await begin(before);
    run.say(working).end();
    await settle();
    const post = new Post();
    pushHouse({}, { ...before, post });
    await settle();
    expect(post.delivered).toEqual(before.post.delivered);
  });

  it("lets what is under way arrive when it closes, and cuts what does not in time [E12]", async () => {
    const it = pushHouse();
    it.post.answers.set("hang", ["hang"]);
    const { taskId } = await begin(it, webhook("hang", "slow.example"));
    const { run } = await begin(it, webhook("w"));
    run.say(working).end();
    await settle();
    const closed = it.outbox.close(2000);
    await settle();
    expect(it.post.aborted).toEqual([]);
    it.clock.advance(2000);
    await closed;
    expect(it.post.aborted).toEqual(["hang"]);
    expect(await it.store.push.due(0, 10)).toMatchObject([{ taskId, delivered: 0 }]);
    expect(it.clock.pending).toBe(0);
  });

  it("has no more under way than it may, in all and to one host [E12, E14]", async () => {
    const it = pushHouse({ atOnce: 5, perHost: 2 });
    const hosted = ["a.example", "b.example", "c.example"];
    for (const host of hosted) await begin(it, webhook(host, host));
    await settle();
    for (let at = 0; at < 4; at++) {
      for (const host of hosted) {
        it.post.answers.set(`${host} ${at}`, ["hang"]);
        await begin(it, webhook(`${host} ${at}`, host));
      }
    }
    await settle();
    const hosts = it.post.tries.slice(3).map(({ webhook: { config } }) => config.url);
    expect(hosts).toHaveLength(5);
    expect(new Set(hosts).size).toBe(3);
    expect(hosts.filter((url) => url.includes("a.example"))).toHaveLength(2);
  });

  it("leaves the places of the others alone when receivers that failed hang [I-07, E12]", async () => {
    const it = pushHouse({ atOnce: 4, perHost: 4 });
    for (let at = 0; at < 20; at++) {
      it.post.answers.set(`bad ${at}`, [failed(), "hang"]);
      await begin(it, webhook(`bad ${at}`, `bad${at}.example`));
    }
    await settle();
    it.clock.advance(1000);
    await settle();
    const { run } = await begin(it, webhook("good", "good.example"));
    run.say(working).end();
    await settle();
    expect(it.post.delivered).toEqual(["good: task SUBMITTED", "good: WORKING", "good: COMPLETED"]);
  });

  it("leaves the places of those that have answered alone when receivers that nobody knows hang [I-07, E12]", async () => {
    const it = pushHouse({ atOnce: 4, perHost: 4 });
    const { run } = await begin(it, webhook("good", "good.example"));
    await settle();
    for (let at = 0; at < 20; at++) {
      it.post.answers.set(`new ${at}`, ["hang"]);
      await begin(it, webhook(`new ${at}`, `new${at}.example`));
    }
    await settle();
    expect(it.post.tries).toHaveLength(1 + 2);
    run.say(working).end();
    await begin(it, webhook("other", "good.example"));
    await settle();
    expect(it.post.delivered.filter((one) => one.startsWith("good"))).toEqual([
      "good: task SUBMITTED",
      "good: WORKING",
      "good: COMPLETED",
    ]);
    expect(it.post.delivered).toContain("other: task SUBMITTED");
    // One that fails is nobody's acquaintance any more.
    it.post.answers.set("failing", [failed()]);
    await begin(it, webhook("failing", "good.example"));
    await begin(it, webhook("late", "good.example"));
    await settle();
    expect(it.post.delivered).not.toContain("late: task SUBMITTED");
  });

  it("serves more tasks than it keeps in mind: the others wait in the store [E14, E12]", async () => {
    const it = pushHouse({ tasks: 4 });
    for (let at = 0; at < 20; at++) it.post.answers.set(`w${at}`, [failed()]);
    for (let at = 0; at < 20; at++) (await begin(it, webhook(`w${at}`))).run.say(working).end();
    for (let ms = 0; ms < 200; ms++) {
      it.clock.advance(1000);
      await settle(5);
    }
    for (let at = 0; at < 20; at++) {
      expect(it.post.delivered.filter((one) => one.startsWith(`w${at}:`))).toEqual([
        `w${at}: task SUBMITTED`,
        `w${at}: WORKING`,
        `w${at}: COMPLETED`,
      ]);
    }
    expect(await it.store.push.due(0, 100)).toEqual([]);
  });

  it("comes back to what found no room while it was looking for what is owed [E12, E14]", async () => {
    const store = new CountingStore();
    const due = store.push.due.bind(store.push);
    let answer: (() => void) | undefined;
    // Slow to answer, and then with what was owed when it was asked.
    store.push.due = async (...which) => {
      const found = await due(...which);
      await new Promise<void>((resolve) => (answer = resolve));
      return found;
    };
    const it = pushHouse({ tasks: 2 }, { store });
    for (const id of ["a", "b"]) it.post.answers.set(id, ["hang"]);
    for (const id of ["a", "b", "c"]) (await begin(it, webhook(id))).run.end();
    await settle();
    store.push.due = due;
    answer?.();
    await settle();
    expect(it.post.delivered).toEqual([]);
    it.post.release();
    for (let ms = 0; ms < 5; ms++) {
      await settle();
      it.clock.advance(1000);
    }
    expect(it.post.delivered.filter((one) => one.startsWith("c:"))).toEqual([
      "c: task SUBMITTED",
      "c: COMPLETED",
    ]);
  });

  it("forgets tasks that rest, and finds their webhooks again when they go on [E14]", async () => {
    const it = pushHouse();
    const { run, taskId } = await begin(it);
    run.say(askForInput).end();
    await settle();
    for (let at = 0; at < 4; at++) {
      it.clock.advance(500);
      await settle();
    }
    expect(it.clock.pending).toBe(0);
    void it.engine.send(request("go on", { taskId }), alice);
    (await it.puppet.run(1)).say(completed).end();
    await settle();
    expect(it.post.delivered).toEqual([
      "w: task SUBMITTED",
      "w: INPUT_REQUIRED",
      "w: WORKING",
      "w: COMPLETED",
    ]);
  });

  it("asks the store for the webhooks of a task that has none at most once, and never for a new one", async () => {
    const it = pushHouse();
    let asked = 0;
    const list = it.store.push.list.bind(it.store.push);
    it.store.push.list = (...which) => {
      asked++;
      return list(...which);
    };
    const { id: taskId } = taskOf(
      await it.engine.send(request("hi", { configuration: { returnImmediately: true } }), alice),
    );
    (await it.puppet.run(0)).say(working, chunk("a"), chunk("b"), askForInput).end();
    await settle();
    expect(asked).toBe(0);
    const done = it.engine.send(request("go on", { taskId }), alice);
    const run = await it.puppet.run(1);
    for (let at = 0; at < 10; at++) {
      run.say(chunk("c"));
      await settle(5);
    }
    run.end();
    await done;
    expect(asked).toBe(1);
  });

  it("serves a webhook whose message comes while the store is asked for the task's others [E12, F-13]", async () => {
    const it = pushHouse({}, {}, new Puppet({ whileWorking: "queue" }));
    const { id: taskId } = taskOf(
      await it.engine.send(request("hi", { configuration: { returnImmediately: true } }), alice),
    );
    (await it.puppet.run(0)).say(askForInput).end();
    await settle();
    // The task is read from the store again: that it has no webhook is learned with its next commit.
    const first = it.engine.send(request("one", { taskId }), alice);
    const configuration = { taskPushNotificationConfig: webhook("w"), returnImmediately: true };
    const second = it.engine.send(request("two", { taskId, configuration }), alice);
    (await it.puppet.run(1)).say(askForInput).end();
    await first;
    await second;
    (await it.puppet.run(2)).say(working).end();
    await settle();
    expect(await it.store.push.list(scopeOf(alice), taskId)).toHaveLength(1);
    expect(it.post.delivered).toEqual(["w: WORKING", "w: COMPLETED"]);
  });

  it("serves from its message on a webhook that comes with a later one, or in another's place [E12, F-13]", async () => {
    const it = pushHouse();
    const { run, taskId } = await begin(it, webhook("a"));
    run.say(askForInput).end();
    await settle();
    for (const [at, config] of [webhook("b"), { ...webhook("a"), token: "new" }].entries()) {
      const configuration = { taskPushNotificationConfig: config, returnImmediately: true };
      void it.engine.send(request("go on", { taskId, configuration }), alice);
      (await it.puppet.run(at + 1)).say(chunk(`${at}`), askForInput).end();
      await settle();
    }
    expect(it.post.delivered.filter((one) => one.startsWith("b:"))).toEqual([
      "b: WORKING",
      "b: 0",
      "b: INPUT_REQUIRED",
      "b: WORKING",
      "b: 1",
      "b: INPUT_REQUIRED",
    ]);
    const ofA = it.post.tries.filter(({ webhook: { config } }) => config.id === "a");
    expect(
      ofA.map(({ event, webhook: { config } }) => `${word(event.event)} ${config.token ?? "old"}`),
    ).toEqual([
      "task SUBMITTED old",
      "INPUT_REQUIRED old",
      "WORKING old",
      "0 old",
      "INPUT_REQUIRED old",
      "WORKING new",
      "1 new",
      "INPUT_REQUIRED new",
    ]);
  });

  it("begins anew with a dead webhook that comes with another message, also before its death is written down [E12]", async () => {
    const it = pushHouse();
    it.post.answers.set("w", [failed({ hopeless: true })]);
    const { run, taskId } = await begin(it);
    run.say(askForInput).end();
    await settle();
    const configuration = { taskPushNotificationConfig: webhook("w"), returnImmediately: true };
    void it.engine.send(request("go on", { taskId, configuration }), alice);
    (await it.puppet.run(1)).say(completed).end();
    await settle();
    it.clock.advance(500);
    await settle();
    expect(it.post.delivered).toEqual([
      "w: task SUBMITTED",
      "w: INPUT_REQUIRED",
      "w: WORKING",
      "w: COMPLETED",
    ]);
    expect(await it.store.push.dead(10)).toEqual([]);
  });

  it("asks the store no more for the webhooks of a task whose receivers are all given up", async () => {
    const it = pushHouse();
    it.post.answers.set("w", [failed({ hopeless: true })]);
    const { run, taskId } = await begin(it);
    await settle();
    let asked = 0;
    const list = it.store.push.list.bind(it.store.push);
    it.store.push.list = (...which) => {
      asked++;
      return list(...which);
    };
    for (let at = 0; at < 10; at++) {
      run.say(chunk("c"));
      await settle(5);
    }
    expect(asked).toBe(1);
    await it.engine.webhooks?.create({ taskId, ...webhook("w") }, alice);
    run.say(askForInput);
    await settle();
    expect(it.post.delivered.at(-1)).toBe("w: INPUT_REQUIRED");
  });

  it("sends a webhook of 0.3 the whole task as each event left it, chunks that wait together as one [I-04]", async () => {
    const it = pushHouse();
    const { engine, post } = it;
    post.answers.set("w", [failed()]);
    const configuration = { taskPushNotificationConfig: webhook("w"), returnImmediately: true };
    await engine.send(request("hi", { configuration }), alice, { version: "0.3" });
    (await it.puppet.run(0)).say(working, chunk("a"), chunk("b"), chunk("c")).end();
    await settle();
    it.clock.advance(1000);
    await settle();
    const tasks = post.tries.map(({ task }) => [
      task?.status.state,
      task?.artifacts?.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))).join(),
    ]);
    expect(tasks).toEqual([
      ["TASK_STATE_SUBMITTED", undefined],
      ["TASK_STATE_SUBMITTED", undefined],
      ["TASK_STATE_WORKING", undefined],
      ["TASK_STATE_WORKING", "abc"],
      ["TASK_STATE_COMPLETED", "abc"],
    ]);
  });

  it("delivers everything at least once and in order, whatever fails and however often it is killed [E12, I-08]", async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant("say" as const) },
      { weight: 2, arbitrary: fc.constant("wait" as const) },
      { weight: 1, arbitrary: fc.constant("kill" as const) },
      { weight: 1, arbitrary: fc.constant("close" as const) },
    );
    const script = fc.record({
      steps: fc.array(step, { maxLength: 12 }),
      works: fc.infiniteStream(fc.boolean()),
    });
    await fc.assert(
      fc.asyncProperty(script, async ({ steps, works }) => {
        const store = new CountingStore();
        const clock = new FakeClock();
        const arrived: number[] = [];
        const outboxes: { alive: boolean }[] = [];
        const start = (): Outbox => {
          const life = { alive: true };
          outboxes.push(life);
          const outbox = new Outbox({
            store,
            clock,
            random: () => 0.5,
            deliver: async ({ event }) => {
              if (!life.alive) return await new Promise<never>(() => {});
              if (works.next().value !== true) return failed();
              arrived.push(event.seq);
              return { ok: true };
            },
          });
          outbox.open();
          return outbox;
        };
        let outbox = start();
        const shared = {
          wake: (task: Parameters<Outbox["wake"]>[0]) => outbox.wake(task),
          changed: () => {},
        };
        const push = { outbox: shared as never, check: async (): Promise<[]> => [] };
        const it = house({ store, clock, push, merge: false });
        const { run } = await begin(it);
        let events = 1;
        for (const what of steps) {
          if (what === "say") run.say(chunk(String(events++)));
          else if (what === "wait") clock.advance(700);
          else {
            const life = outboxes.at(-1) as { alive: boolean };
            if (what === "close") await outbox.close(0);
            life.alive = false;
            outbox = start();
          }
          await settle(4);
        }
        run.end();
        events++;
        for (let at = 0; at < 60 && arrived.at(-1) !== events; at++) {
          clock.advance(60_000);
          await settle(6);
        }
        const firsts = arrived.filter((seq, at) => arrived.indexOf(seq) === at);
        expect(firsts).toEqual(Array.from({ length: events }, (_, at) => at + 1));
        expect(arrived.at(-1)).toBe(events);
      }),
      { numRuns: 60 },
    );
  });
});
