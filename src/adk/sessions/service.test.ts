import { type BaseSessionService, type Event, type Session, State } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Opened, said, SESSIONS } from "./service.contract.ts";

const key = { appName: "app", userId: "u", sessionId: "s" };

async function get(service: BaseSessionService, place: typeof key = key): Promise<Session> {
  const session = await service.getSession(place);
  if (!session) throw new Error("no session");
  return session;
}

async function append(service: BaseSessionService, place: typeof key, ...events: Event[]): Promise<void> {
  const session = await get(service, place);
  for (const event of events) await service.appendEvent({ session, event });
}

const texts = ({ events }: Session): unknown[] => events.map(({ content }) => content?.parts?.[0]?.text);
const ids = ({ events }: Session): string[] => events.map(({ id }) => id);

describe.each(SESSIONS)("$name", (sessions) => {
  const { traits } = sessions;
  let opened: Opened;
  let service: BaseSessionService;

  beforeEach(async () => {
    opened = new Opened(sessions);
    await opened.prepare();
    service = opened.open();
  });
  afterEach(() => opened.clear());

  it("keeps events in their order and state by level", async () => {
    await service.createSession({ ...key, state: { first: 1, "temp:x": 1 } });
    await service.createSession({ ...key, sessionId: "other" });
    await service.createSession({ ...key, userId: "v", sessionId: "theirs" });
    const delta = { "app:a": 1, "user:b": 2, c: { d: [3] }, n: null, "temp:t": 4 };
    await append(service, key, said("one", 1, delta), said("two", 2));
    const session = await get(service);
    const { "temp:t": _, ...kept } = delta;
    expect(texts(session)).toEqual(["one", "two"]);
    expect(session.events[0]?.actions.stateDelta).toEqual(kept);
    expect(session.state).toEqual({ first: 1, ...kept });
    expect((await get(service, { ...key, sessionId: "other" })).state).toEqual({ "app:a": 1, "user:b": 2 });
    expect((await get(service, { ...key, userId: "v", sessionId: "theirs" })).state).toEqual({ "app:a": 1 });
  });

  it(`${traits.keepsOrderWithinMillisecond ? "keeps" : "loses"} the order of events of one millisecond`, async () => {
    await service.createSession(key);
    await append(service, key, said("one", 1), said("two", 1), said("three", 1));
    const order = ["one", "two", "three"];
    expect(ids(await get(service))).toEqual(traits.keepsOrderWithinMillisecond ? order : order.toReversed());
  });

  it("gives recent events, and events since a time", async () => {
    await service.createSession(key);
    await append(service, key, said("one", 10), said("two", 20), said("three", 30));
    const some = async (config: object): Promise<unknown> =>
      ids((await service.getSession({ ...key, config })) as Session);
    expect(await some({ numRecentEvents: 2 })).toEqual(["two", "three"]);
    expect(await some({ afterTimestamp: 15 })).toEqual(["two", "three"]);
    expect(await some({ afterTimestamp: 15, numRecentEvents: 1 })).toEqual(["three"]);
    expect(await some({ afterTimestamp: 20 })).toEqual(traits.sinceIsIncluded ? ["two", "three"] : ["three"]);
  });

  it("does not keep partial events, and replaces an event that comes again", async () => {
    await service.createSession(key);
    const again = { ...said("two", 1), id: "one" };
    await append(
      service,
      key,
      { ...said("piece", 1), partial: true },
      said("one", 1),
      said("three", 3),
      again,
    );
    expect(texts(await get(service))).toEqual(["two", "three"]);
  });

  it("lists by user and page, and forgets what is deleted", async () => {
    for (const sessionId of ["s1", "s2", "s3"]) {
      await service.createSession({ ...key, sessionId });
      await append(service, { ...key, sessionId }, said("x", Number(sessionId.slice(1)), { kept: 1 }));
    }
    await service.createSession({ ...key, userId: "v", sessionId: "s4" });
    const list = async (more: object): Promise<unknown[]> => {
      const { sessions: rows, ...page } = await service.listSessions({ appName: "app", ...more });
      return [rows.map(({ id, events, state }) => [id, events.length, state]), page];
    };
    const row = (id: string): unknown => [id, 0, traits.listsState ? { kept: 1 } : {}];
    expect(await list({ userId: "u", order: "desc", limit: 2 })).toEqual([
      [row("s3"), row("s2")],
      { page: 1, limit: 2, totalItems: 3, totalPages: 2 },
    ]);
    expect(await list({ userId: "u", order: "desc", limit: 2, page: 2 })).toEqual([
      [row("s1")],
      { page: 2, limit: 2, totalItems: 3, totalPages: 2 },
    ]);
    expect((await service.listSessions({ appName: "app" })).totalItems).toBe(4);
    expect(await list({ userId: "nobody" })).toEqual([
      [],
      { page: 1, limit: 0, totalItems: 0, totalPages: 0 },
    ]);
    await service.deleteSession({ ...key, sessionId: "s2" });
    await service.deleteSession({ ...key, sessionId: "never" });
    expect(await service.getSession({ ...key, sessionId: "s2" })).toBeUndefined();
    expect((await service.listSessions({ appName: "app", userId: "u" })).totalItems).toBe(2);
    await service.createSession({ ...key, sessionId: "s2" });
    expect(ids(await get(service, { ...key, sessionId: "s2" }))).toEqual([]);
  });

  it(`${traits.sharesFirstState ? "shares" : "does not share"} the app's state that a session begins with`, async () => {
    await service.createSession({ ...key, state: { "app:a": 1, "user:b": 2 } });
    const other = await service.createSession({ ...key, sessionId: "other" });
    expect(other.state).toEqual(traits.sharesFirstState ? { "app:a": 1, "user:b": 2 } : {});
  });

  it(`${traits.refusesTakenId ? "refuses" : "begins anew"} a session that is there already`, async () => {
    await service.createSession(key);
    await append(service, key, said("one", 1));
    const again = service.createSession(key);
    if (traits.refusesTakenId) await expect(again).rejects.toThrow(/exists/);
    else await again;
    expect(ids(await get(service))).toEqual(traits.refusesTakenId ? ["one"] : []);
  });

  it("adds to a session through an object that is behind, and loses nothing", async () => {
    const behind = await service.createSession(key);
    await append(service, key, said("one", Date.now() + 10_000, { from: "another", n: 1 }));
    const event = said("two", Date.now() + 20_000, { n: 2 });
    await service.appendEvent({ session: behind, event });
    expect(ids(behind)).toEqual(traits.refreshes ? ["one", "two"] : ["two"]);
    expect(behind.state).toEqual(traits.refreshes ? { from: "another", n: 2 } : { n: 2 });
    expect(behind.lastUpdateTime).toBe(event.timestamp);
    const session = await get(service);
    expect(ids(session)).toEqual(["one", "two"]);
    expect(session.state).toEqual({ from: "another", n: 2 });
  });

  it(`${traits.keepsOrderOfWrites ? "keeps" : "loses"} what was written last, whatever event comes last`, async () => {
    // Two branches of a run: the first to write is the last whose event is added.
    const session = await service.createSession(key);
    const [early, late] = [said("early", 1), said("late", 2)];
    new State(session.state, early.actions.stateDelta).set("k", "old");
    new State(session.state, late.actions.stateDelta).set("k", "new");
    await service.appendEvent({ session, event: late });
    await service.appendEvent({ session, event: early });
    expect((await get(service)).state).toEqual({ k: traits.keepsOrderOfWrites ? "new" : "old" });
  });

  it(`${traits.keepsTemporary ? "keeps" : "loses"} temporary state while a run goes on`, async () => {
    const session = await service.createSession(key);
    const event = said("one", Date.now() + 10_000);
    new State(session.state, event.actions.stateDelta).update({ "temp:t": 1, k: 2 });
    await service.appendEvent({ session, event });
    expect(session.state).toEqual(traits.keepsTemporary ? { "temp:t": 1, k: 2 } : { k: 2 });
    expect((await get(service)).state).toEqual({ k: 2 });
  });

  it(`${traits.refusesWhenGone ? "refuses" : "swallows"} events for a session that is gone`, async () => {
    const session = await service.createSession(key);
    await service.deleteSession(key);
    const added = service.appendEvent({ session, event: said("one", 1) });
    if (traits.refusesWhenGone) {
      await expect(added).rejects.toThrow(/gone|not found/);
      expect([session.events, session.state]).toEqual([[], {}]);
    } else await added;
    expect(await service.getSession(key)).toBeUndefined();
  });

  it("loses nothing when many runs write to one session at once, each in its order", async () => {
    await service.createSession(key);
    const runs = Array.from({ length: 20 }, async (_, run) => {
      const events = Array.from({ length: 5 }, (_, n) =>
        said(`${run}.${n}`, Date.now() + n * 20 + run, { [`of${run}`]: n, "app:last": run }),
      );
      await append(service, key, ...events);
    });
    await Promise.all(runs);
    const session = await get(service);
    expect(session.events).toHaveLength(100);
    for (let run = 0; run < 20; run++) {
      expect(session.state[`of${run}`]).toBe(4);
      const own = ids(session).filter((id) => id.startsWith(`${run}.`));
      expect(own).toEqual([0, 1, 2, 3, 4].map((n) => `${run}.${n}`));
    }
  });

  it("keeps many sessions apart that are written at once", async () => {
    const places = Array.from({ length: 20 }, (_, n) => ({
      ...key,
      userId: `u${n % 4}`,
      sessionId: `s${n}`,
    }));
    if (traits.beginsAtOnce) await Promise.all(places.map((place) => service.createSession(place)));
    else for (const place of places) await service.createSession(place);
    await Promise.all(
      places.map((place) =>
        append(service, place, ...[1, 2, 3].map((n) => said(`${place.sessionId}.${n}`, n, { n }))),
      ),
    );
    for (const place of places) {
      const session = await get(service, place);
      expect(ids(session)).toEqual([1, 2, 3].map((n) => `${place.sessionId}.${n}`));
      expect(session.state).toEqual({ n: 3 });
    }
  });

  it.runIf(traits.durable)(
    "is seen by a second service on the same file, which may write to it too",
    async () => {
      await service.createSession(key);
      const other = opened.open();
      for (let n = 0; n < 6; n++) await append(n % 2 ? other : service, key, said(`e${n}`, n + 1, { n }));
      for (const reader of [service, other]) {
        expect(ids(await get(reader))).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
        expect((await get(reader)).state).toEqual({ n: 5 });
      }
    },
  );

  it.runIf(traits.durable)("has everything after a restart", async () => {
    await service.createSession({ ...key, state: { kept: true } });
    await append(service, key, said("one", 1, { "user:name": "Ada" }));
    await opened.close();
    const session = await get(opened.open());
    expect(ids(session)).toEqual(["one"]);
    expect(session.state).toEqual({ kept: true, "user:name": "Ada" });
  });
});
