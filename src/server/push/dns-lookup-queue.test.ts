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

function createQueue(options: { maxPending?: number } = {}): {
  lookups: DnsLookupQueue;
  resolver: FakeResolver;
  clock: FakeClock;
} {
  const resolver = new FakeResolver();
  const clock = new FakeClock();
  return { resolver, clock, lookups: new DnsLookupQueue({ resolve: resolver.resolve, clock, ...options }) };
}

describe("DNS lookups", () => {
  it("run two at a time [E14, I-09]", async () => {
    const { lookups, resolver, clock } = createQueue();
    const found = ["a", "b", "c", "d"].map((name) => lookups.resolve(name));
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
    const hanging = ["a", "b", "c"].map((name) => lookups.resolve(name).catch(String));
    clock.advance(5000);
    expect(await Promise.all(hanging)).toEqual(
      ["a", "b", "c"].map((name) => `Error: ${name} was not resolved in 5000 ms`),
    );
    const later = lookups.resolve("d");
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
    const both = [lookups.resolve("a"), lookups.resolve("a")];
    resolver.resolvePending("a");
    await Promise.all(both);
    expect(resolver.requestedHostnames).toEqual(["a"]);
    void lookups.resolve("a");
    expect(resolver.requestedHostnames).toEqual(["a", "a"]);
  });

  it("reject when a name has no address or the queue is full [E14]", async () => {
    const failing = new DnsLookupQueue({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    await expect(failing.resolve("a")).rejects.toThrow("ENOTFOUND");
    const { lookups } = createQueue({ maxPending: 2 });
    void lookups.resolve("a");
    void lookups.resolve("b");
    await expect(lookups.resolve("c")).rejects.toThrow("too many DNS lookups");
  });
});
