import { expect, it } from "vitest";
import { MemorySessionService } from "./memory-session-service.ts";
import { createTestTextEvent } from "./session-service.contract.ts";

const createSessionKey = (sessionId: string): { appName: string; userId: string; sessionId: string } => ({
  appName: "app",
  userId: "u",
  sessionId,
});

it("evicts the least recently used sessions and keeps the ones in use", async () => {
  const service = new MemorySessionService({ maxSessions: 10 });
  await service.createSession(createSessionKey("in use"));
  for (let at = 0; at < 100; at++) {
    const sessionId = `s${at}`;
    await service.createSession(createSessionKey(sessionId));
    expect(await service.getSession(createSessionKey(sessionId))).toBeDefined();
    expect(await service.getSession(createSessionKey("in use"))).toBeDefined();
  }
  const { sessions, totalItems } = await service.listSessions({ appName: "app" });
  expect(totalItems).toBeLessThanOrEqual(10);
  expect(sessions.map(({ id }) => id)).toEqual(
    expect.arrayContaining(["in use", "s99", "s98", "s97", "s96"]),
  );
  expect(await service.getSession(createSessionKey("s1"))).toBeUndefined();
});

it("keeps stored values when the original objects change", async () => {
  const service = new MemorySessionService();
  const session = await service.createSession({ ...createSessionKey("s"), state: { list: [1] } });
  const event = createTestTextEvent("one", 1, { more: [2] });
  await service.appendEvent({ session, event });
  session.events[0]?.content?.parts?.push({ text: "forged" });
  (session.state["list"] as number[]).push(3);
  (session.state["more"] as number[]).push(3);
  const stored = await service.getSession(createSessionKey("s"));
  expect(stored?.events[0]?.content?.parts).toEqual([{ text: "one" }]);
  expect(stored?.state).toEqual({ list: [1], more: [2] });
});

it("requires a limit of at least two sessions", () => {
  expect(() => new MemorySessionService({ maxSessions: 1 })).toThrow(/at least 2/);
});
