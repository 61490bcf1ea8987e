import { expect, it } from "vitest";
import { StreamLimit } from "./engine-limits.ts";

const alice = { tenant: "", principal: "alice" };
const bob = { tenant: "", principal: "bob" };

it("a caller who opens every stream that it can get leaves room for other callers [SEC-18]", () => {
  const limit = new StreamLimit(12);
  const acquireAll = (caller: typeof alice): number => {
    for (let count = 0; ; count++) {
      try {
        limit.acquire(caller);
      } catch {
        return count;
      }
    }
  };
  expect(acquireAll(alice)).toBe(6);
  expect(acquireAll(bob)).toBe(3);
  expect(() => limit.acquire(alice)).toThrow(
    expect.objectContaining({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 1,
      message: expect.stringMatching(/fair share of this caller .*limits\.streams/) as string,
    }),
  );
});

it("a stream is released once, even if it is closed twice", () => {
  const limit = new StreamLimit(2);
  const release = limit.acquire(alice);
  release();
  release();
  limit.acquire(alice);
  limit.acquire(bob);
  expect(() => limit.acquire({ tenant: "", principal: "carol" })).toThrow(/^The limit of 2 open streams/);
});

it("anonymous callers of different networks have separate shares", () => {
  const limit = new StreamLimit(4);
  const first = { tenant: "", principal: "", anonymousNetwork: "192.0.2.1" };
  limit.acquire(first);
  limit.acquire(first);
  expect(() => limit.acquire(first)).toThrow(/fair share of this remote address/);
  limit.acquire({ ...first, anonymousNetwork: "192.0.2.2" });
});
