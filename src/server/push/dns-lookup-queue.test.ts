import { describe, expect, it } from "vitest";
import { FakeClock, flushEventLoopForTest } from "../../engine/engine.fixture.ts";
import { DnsLookupQueue } from "./dns-lookup-queue.ts";

/** A resolver whose answers the test releases. */
class FakeResolver {
  readonly requestedHostnames: string[] = [];
  #pendingAnswers = new Map<string, (addresses: readonly string[]) => void>();

  readonly resolve = (hostname: string): Promise<readonly string[]> => {
    this.requestedHostnames.push(hostname);
    return new Promise((resolve) => this.#pendingAnswers.set(hostname, resolve));
  };

  resolvePending(hostname: string): void {
    this.#pendingAnswers.get(hostname)?.(["1.1.1.1"]);
  }
}

function createQueue(options: { maxPending?: number; maxConcurrent?: number } = {}): {
  lookups: DnsLookupQueue;
  resolver: FakeResolver;
  clock: FakeClock;
} {
  const resolver = new FakeResolver();
  const clock = new FakeClock();
  return {
    resolver,
    clock,
    lookups: new DnsLookupQueue({ resolve: resolver.resolve, clock, maxConcurrent: 4, ...options }),
  };
}

describe("DNS lookups", () => {
  it("of one owner run in half of the slots [E14, I-09]", async () => {
    const { lookups, resolver, clock } = createQueue();
    const found = ["a", "b", "c", "d"].map((name) => lookups.resolve(name, "alice"));
    expect(resolver.requestedHostnames).toEqual(["a", "b"]);
    resolver.resolvePending("b");
    await flushEventLoopForTest();
    expect(resolver.requestedHostnames).toEqual(["a", "b", "c"]);
    for (const name of ["a", "c"]) resolver.resolvePending(name);
    await flushEventLoopForTest();
    resolver.resolvePending("d");
    expect(await Promise.all(found)).toEqual([1, 2, 3, 4].map(() => ["1.1.1.1"]));
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("time out, and keep their slots until the resolver answers [E14]", async () => {
    const { lookups, resolver, clock } = createQueue();
    const hanging = ["a", "b", "c"].map((name) => lookups.resolve(name, "alice").catch(String));
    clock.advance(5000);
    expect(await Promise.all(hanging)).toEqual(
      ["a", "b", "c"].map((name) => `Error: ${name} was not resolved in 5000 ms`),
    );
    const later = lookups.resolve("d", "alice");
    expect(resolver.requestedHostnames).toEqual(["a", "b"]);
    resolver.resolvePending("a");
    await flushEventLoopForTest();
    // No request waits for "c" any longer.
    expect(resolver.requestedHostnames).toEqual(["a", "b", "d"]);
    resolver.resolvePending("d");
    expect(await later).toEqual(["1.1.1.1"]);
  });

  it("share a running lookup of the same name, and start a new one later", async () => {
    const { lookups, resolver } = createQueue();
    const both = [lookups.resolve("a", "alice"), lookups.resolve("a", "alice")];
    resolver.resolvePending("a");
    await Promise.all(both);
    expect(resolver.requestedHostnames).toEqual(["a"]);
    void lookups.resolve("a", "alice");
    expect(resolver.requestedHostnames).toEqual(["a", "a"]);
  });

  it("reject when a name has no address or the queue is full [E14]", async () => {
    const failing = new DnsLookupQueue({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    await expect(failing.resolve("a", "alice")).rejects.toThrow("ENOTFOUND");
    const { lookups } = createQueue({ maxPending: 4 });
    void lookups.resolve("a", "alice");
    void lookups.resolve("b", "alice");
    await expect(lookups.resolve("c", "alice")).rejects.toMatchObject({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 1,
      message: expect.stringContaining("this caller's share of the 4 pending DNS lookups") as string,
    });
    // The lookups of another owner start at once.
    void lookups.resolve("d", "bob");
  });

  it("names of one owner that are never resolved do not delay the lookups of another owner [E14] [SEC-28]", async () => {
    const { lookups, resolver } = createQueue({ maxConcurrent: 16 });
    for (let at = 0; at < 400; at++) lookups.resolve(`hanging-${at}`, "mallory").catch(() => {});
    lookups.resolve("good", "mallory").catch(() => {});
    const found = lookups.resolve("good", "alice");
    expect(resolver.requestedHostnames).toHaveLength(9);
    resolver.resolvePending("good");
    expect(await found).toEqual(["1.1.1.1"]);
  });
});
