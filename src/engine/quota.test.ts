import { expect, it } from "vitest";
import { Quota } from "./engine-limits.ts";

const createStreamQuota = (limit: number): Quota =>
  new Quota({ unit: "open streams", option: "limits.streams", limit });
const alice = { tenant: "", principal: "alice" };
const bob = { tenant: "", principal: "bob" };

it("a caller who opens every stream that it can get leaves room for other callers [SEC-18]", () => {
  const quota = createStreamQuota(12);
  const acquireAll = (caller: typeof alice): number => {
    for (let count = 0; ; count++) {
      try {
        quota.acquire(caller);
      } catch {
        return count;
      }
    }
  };
  expect(acquireAll(alice)).toBe(6);
  expect(acquireAll(bob)).toBe(3);
  expect(() => quota.acquire(alice)).toThrow(
    expect.objectContaining({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 1,
      message: expect.stringMatching(/limits\.streams\) is reached for this caller/) as string,
    }),
  );
});

it("a stream is released once, even if it is closed twice", () => {
  const quota = createStreamQuota(2);
  const release = quota.acquire(alice);
  release();
  release();
  quota.acquire(alice);
  quota.acquire(bob);
  expect(() => quota.acquire({ tenant: "", principal: "carol" })).toThrow(/^The limit of 2 open streams/);
});

it("anonymous callers of different networks have separate shares", () => {
  const quota = createStreamQuota(4);
  const first = { tenant: "", principal: "", anonymousNetwork: "192.0.2.1" };
  quota.acquire(first);
  quota.acquire(first);
  expect(() => quota.acquire(first)).toThrow(/for this remote address/);
  quota.acquire({ ...first, anonymousNetwork: "192.0.2.2" });
});
