import { type BaseSessionService, type Event, type Session, State } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  SessionServiceHarness,
  type SessionServiceUnderTest,
  createTestTextEvent,
} from "./session-service.contract.ts";

const sessionKey = { appName: "app", userId: "u", sessionId: "s" };

async function requireSession(
  service: BaseSessionService,
  place: typeof sessionKey = sessionKey,
): Promise<Session> {
  const session = await service.getSession(place);
  if (!session) throw new Error("no session");
  return session;
}

async function appendEvents(
  service: BaseSessionService,
  place: typeof sessionKey,
  ...events: Event[]
): Promise<void> {
  const session = await requireSession(service, place);
  for (const event of events) await service.appendEvent({ session, event });
}

const listEventTexts = ({ events }: Session): unknown[] =>
  events.map(({ content }) => content?.parts?.[0]?.text);
const listEventIds = ({ events }: Session): string[] => events.map(({ id }) => id);

/** Describes the behavior of a session service. */
export function defineSessionServiceContract(sessions: SessionServiceUnderTest): void {
  describe(`${sessions.name} as a session service`, () => {
    const { traits } = sessions;
    let opened: SessionServiceHarness;
    let service: BaseSessionService;

    beforeEach(async () => {
      opened = new SessionServiceHarness(sessions);
      await opened.prepareStorage();
      service = opened.openService();
    });
    afterEach(() => opened.cleanUp());

    it("keeps events in their order and state by level", async () => {
      await service.createSession({ ...sessionKey, state: { first: 1, "temp:x": 1 } });
      await service.createSession({ ...sessionKey, sessionId: "other" });
      await service.createSession({ ...sessionKey, userId: "v", sessionId: "theirs" });
      const delta = { "app:a": 1, "user:b": 2, c: { d: [3] }, n: null, "temp:t": 4 };
      await appendEvents(
        service,
        sessionKey,
        createTestTextEvent("one", 1, delta),
        createTestTextEvent("two", 2),
      );
      const session = await requireSession(service);
      const { "temp:t": _, ...kept } = delta;
      expect(listEventTexts(session)).toEqual(["one", "two"]);
      expect(session.events[0]?.actions.stateDelta).toEqual(kept);
      expect(session.state).toEqual({ first: 1, ...kept });
      expect((await requireSession(service, { ...sessionKey, sessionId: "other" })).state).toEqual({
        "app:a": 1,
        "user:b": 2,
      });
      expect(
        (await requireSession(service, { ...sessionKey, userId: "v", sessionId: "theirs" })).state,
      ).toEqual({ "app:a": 1 });
    });

    it(`${traits.keepsOrderWithinMillisecond ? "keeps" : "loses"} the order of events of one millisecond`, async () => {
      await service.createSession(sessionKey);
      await appendEvents(
        service,
        sessionKey,
        createTestTextEvent("one", 1),
        createTestTextEvent("two", 1),
        createTestTextEvent("three", 1),
      );
      const order = ["one", "two", "three"];
      expect(listEventIds(await requireSession(service))).toEqual(
        traits.keepsOrderWithinMillisecond ? order : order.toReversed(),
      );
    });

    it("returns recent events, and events since a timestamp", async () => {
      await service.createSession(sessionKey);
      await appendEvents(
        service,
        sessionKey,
        createTestTextEvent("one", 10),
        createTestTextEvent("two", 20),
        createTestTextEvent("three", 30),
      );
      const listTexts = async (config: object): Promise<unknown> =>
        listEventIds((await service.getSession({ ...sessionKey, config })) as Session);
      expect(await listTexts({ numRecentEvents: 2 })).toEqual(["two", "three"]);
      expect(await listTexts({ afterTimestamp: 15 })).toEqual(["two", "three"]);
      expect(await listTexts({ afterTimestamp: 15, numRecentEvents: 1 })).toEqual(["three"]);
      expect(await listTexts({ afterTimestamp: 20 })).toEqual(
        traits.afterTimestampIsInclusive ? ["two", "three"] : ["three"],
      );
    });

    it("ignores partial events, and replaces an event with the same id", async () => {
      await service.createSession(sessionKey);
      const repeated = { ...createTestTextEvent("two", 1), id: "one" };
      await appendEvents(
        service,
        sessionKey,
        { ...createTestTextEvent("piece", 1), partial: true },
        createTestTextEvent("one", 1),
        createTestTextEvent("three", 3),
        repeated,
      );
      expect(listEventTexts(await requireSession(service))).toEqual(["two", "three"]);
    });

    it("lists by user and page, and deletes sessions", async () => {
      for (const sessionId of ["s1", "s2", "s3"]) {
        await service.createSession({ ...sessionKey, sessionId });
        await appendEvents(
          service,
          { ...sessionKey, sessionId },
          createTestTextEvent("x", Number(sessionId.slice(1)), { kept: 1 }),
        );
      }
      await service.createSession({ ...sessionKey, userId: "v", sessionId: "s4" });
      const list = async (more: object): Promise<unknown[]> => {
        const { sessions: rows, ...page } = await service.listSessions({ appName: "app", ...more });
        return [rows.map(({ id, events, state }) => [id, events.length, state]), page];
      };
      const row = (id: string): unknown => [id, 0, traits.listIncludesState ? { kept: 1 } : {}];
      expect(await list({ userId: "u", order: "desc", limit: 2 })).toEqual([
        [row("s3"), row("s2")],
        { page: 1, limit: 2, totalItems: 3, totalPages: 2 },
      ]);
      expect(await list({ userId: "u", order: "desc", limit: 2, page: 2 })).toEqual([
        [row("s1")],
        { page: 2, limit: 2, totalItems: 3, totalPages: 2 },
      ]);
      expect((await service.listSessions({ appName: "app" })).totalItems).toBe(4);
      expect(await list({ userId: "unknown" })).toEqual([
        [],
        { page: 1, limit: 0, totalItems: 0, totalPages: 0 },
      ]);
      await service.deleteSession({ ...sessionKey, sessionId: "s2" });
      await service.deleteSession({ ...sessionKey, sessionId: "never" });
      expect(await service.getSession({ ...sessionKey, sessionId: "s2" })).toBeUndefined();
      expect((await service.listSessions({ appName: "app", userId: "u" })).totalItems).toBe(2);
      await service.createSession({ ...sessionKey, sessionId: "s2" });
      expect(listEventIds(await requireSession(service, { ...sessionKey, sessionId: "s2" }))).toEqual([]);
    });

    it(`${traits.sharesInitialState ? "shares" : "does not share"} the app's state that a session begins with`, async () => {
      await service.createSession({ ...sessionKey, state: { "app:a": 1, "user:b": 2 } });
      const other = await service.createSession({ ...sessionKey, sessionId: "other" });
      expect(other.state).toEqual(traits.sharesInitialState ? { "app:a": 1, "user:b": 2 } : {});
    });

    it(`${traits.rejectsDuplicateId ? "rejects" : "replaces"} an existing session`, async () => {
      await service.createSession(sessionKey);
      await appendEvents(service, sessionKey, createTestTextEvent("one", 1));
      const repeated = service.createSession(sessionKey);
      if (traits.rejectsDuplicateId) await expect(repeated).rejects.toThrow(/exists/);
      else await repeated;
      expect(listEventIds(await requireSession(service))).toEqual(traits.rejectsDuplicateId ? ["one"] : []);
    });

    it("adds to a session through a stale object without losing events", async () => {
      const behind = await service.createSession(sessionKey);
      await appendEvents(
        service,
        sessionKey,
        createTestTextEvent("one", Date.now() + 10_000, { from: "another", n: 1 }),
      );
      const event = createTestTextEvent("two", Date.now() + 20_000, { n: 2 });
      await service.appendEvent({ session: behind, event });
      expect(listEventIds(behind)).toEqual(traits.refreshesStaleSessions ? ["one", "two"] : ["two"]);
      expect(behind.state).toEqual(traits.refreshesStaleSessions ? { from: "another", n: 2 } : { n: 2 });
      expect(behind.lastUpdateTime).toBe(event.timestamp);
      const session = await requireSession(service);
      expect(listEventIds(session)).toEqual(["one", "two"]);
      expect(session.state).toEqual({ from: "another", n: 2 });
    });

    it(`${traits.ignoresStaleWrites ? "keeps" : "loses"} the latest value when an older event arrives late`, async () => {
      // Two branches of a run: the first branch to write is the last one whose event is added.
      const session = await service.createSession(sessionKey);
      const [early, late] = [createTestTextEvent("early", 1), createTestTextEvent("late", 2)];
      new State(session.state, early.actions.stateDelta).set("k", "old");
      new State(session.state, late.actions.stateDelta).set("k", "new");
      await service.appendEvent({ session, event: late });
      await service.appendEvent({ session, event: early });
      expect((await requireSession(service)).state).toEqual({ k: traits.ignoresStaleWrites ? "new" : "old" });
    });

    it(`${traits.keepsTemporaryState ? "keeps" : "loses"} temporary state during a run`, async () => {
      const session = await service.createSession(sessionKey);
      const event = createTestTextEvent("one", Date.now() + 10_000);
      new State(session.state, event.actions.stateDelta).update({ "temp:t": 1, k: 2 });
      await service.appendEvent({ session, event });
      expect(session.state).toEqual(traits.keepsTemporaryState ? { "temp:t": 1, k: 2 } : { k: 2 });
      expect((await requireSession(service)).state).toEqual({ k: 2 });
    });

    it(`${traits.rejectsMissingSession ? "rejects" : "ignores"} events for a deleted session`, async () => {
      const session = await service.createSession(sessionKey);
      await service.deleteSession(sessionKey);
      const added = service.appendEvent({ session, event: createTestTextEvent("one", 1) });
      if (traits.rejectsMissingSession) {
        await expect(added).rejects.toThrow(/does not exist|not found/);
        expect([session.events, session.state]).toEqual([[], {}]);
      } else await added;
      expect(await service.getSession(sessionKey)).toBeUndefined();
    });

    it("keeps all events of concurrent runs in one session, in the order of each run", async () => {
      await service.createSession(sessionKey);
      const runs = Array.from({ length: 20 }, async (_, run) => {
        const events = Array.from({ length: 5 }, (_, n) =>
          createTestTextEvent(`${run}.${n}`, Date.now() + n * 20 + run, { [`of${run}`]: n, "app:last": run }),
        );
        await appendEvents(service, sessionKey, ...events);
      });
      await Promise.all(runs);
      const session = await requireSession(service);
      expect(session.events).toHaveLength(100);
      for (let run = 0; run < 20; run++) {
        expect(session.state[`of${run}`]).toBe(4);
        const ownEventIds = listEventIds(session).filter((id) => id.startsWith(`${run}.`));
        expect(ownEventIds).toEqual([0, 1, 2, 3, 4].map((n) => `${run}.${n}`));
      }
    });

    it("separates sessions that are written concurrently", async () => {
      const places = Array.from({ length: 20 }, (_, n) => ({
        ...sessionKey,
        userId: `u${n % 4}`,
        sessionId: `s${n}`,
      }));
      if (traits.supportsConcurrentCreation)
        await Promise.all(places.map((place) => service.createSession(place)));
      else for (const place of places) await service.createSession(place);
      await Promise.all(
        places.map((place) =>
          appendEvents(
            service,
            place,
            ...[1, 2, 3].map((n) => createTestTextEvent(`${place.sessionId}.${n}`, n, { n })),
          ),
        ),
      );
      for (const place of places) {
        const session = await requireSession(service, place);
        expect(listEventIds(session)).toEqual([1, 2, 3].map((n) => `${place.sessionId}.${n}`));
        expect(session.state).toEqual({ n: 3 });
      }
    });

    it.runIf(traits.isDurable)(
      "is shared with a second service on the same file, which can also write",
      async () => {
        await service.createSession(sessionKey);
        const other = opened.openService();
        for (let n = 0; n < 6; n++)
          await appendEvents(n % 2 ? other : service, sessionKey, createTestTextEvent(`e${n}`, n + 1, { n }));
        for (const reader of [service, other]) {
          expect(listEventIds(await requireSession(reader))).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
          expect((await requireSession(reader)).state).toEqual({ n: 5 });
        }
      },
    );

    it.runIf(traits.isDurable)("has all data after a restart", async () => {
      await service.createSession({ ...sessionKey, state: { kept: true } });
      await appendEvents(service, sessionKey, createTestTextEvent("one", 1, { "user:name": "Ada" }));
      await opened.closeServices();
      const session = await requireSession(opened.openService());
      expect(listEventIds(session)).toEqual(["one"]);
      expect(session.state).toEqual({ kept: true, "user:name": "Ada" });
    });
  });
}
