import { expect, it } from "vitest";
import type { Quota } from "../base/data-structures/index.ts";
import { type Caller, getLimitHolderKey } from "./caller.ts";
import { createCallerQuota } from "./engine-limits.ts";

const createStreamQuota = (limit: number): Quota =>
  createCallerQuota("limits.streams", "open streams", limit);
const acquire = (quota: Quota, caller: Caller): (() => void) => quota.acquire(getLimitHolderKey(caller));
const alice = { tenant: "", principal: "alice" };
const bob = { tenant: "", principal: "bob" };

it("a caller who opens every stream that it can get leaves room for other callers [SEC-18]", () => {
  const quota = createStreamQuota(12);
  const acquireAll = (caller: typeof alice): number => {
    for (let count = 0; ; count++) {
      try {
        acquire(quota, caller);
      } catch {
        return count;
      }
    }
  };
  expect(acquireAll(alice)).toBe(6);
  expect(acquireAll(bob)).toBe(3);
  expect(() => acquire(quota, alice)).toThrow(
    expect.objectContaining({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 1,
      message: expect.stringMatching(/limits\.streams\) is reached for this caller/) as string,
    }),
  );
});

it("a stream is released once, even if it is closed twice", () => {
  const quota = createStreamQuota(2);
  const release = acquire(quota, alice);
  release();
  release();
  acquire(quota, alice);
  acquire(quota, bob);
  expect(() => acquire(quota, { tenant: "", principal: "carol" })).toThrow(/^The limit of 2 open streams/);
});

it("anonymous callers of different networks have separate shares", () => {
  const quota = createStreamQuota(4);
  const first = { tenant: "", principal: "", anonymousNetwork: "192.0.2.1" };
  acquire(quota, first);
  acquire(quota, first);
  expect(() => acquire(quota, first)).toThrow(/for this remote address/);
  acquire(quota, { ...first, anonymousNetwork: "192.0.2.2" });
});
