import { expect, it } from "vitest";
import { flushEventLoopForTest } from "./engine.fixture.ts";
import { DeferredSubscription, type Subscription } from "./log-subscription.ts";

it("a subscription that is closed before it begins closes the later subscription, and calls onClose once", async () => {
  let [closeCount, innerCloseCount] = [0, 0];
  const inner: Subscription = {
    next: async () => [],
    isComplete: false,
    close: () => void innerCloseCount++,
  };
  let open: (subscription: Subscription) => void = () => {};
  const opening = new Promise<Subscription>((resolve) => (open = resolve));
  const subscription = new DeferredSubscription(opening, () => void closeCount++);
  const reading = subscription.next();
  subscription.close();
  subscription.close();
  expect(await reading).toBeUndefined();
  expect([closeCount, innerCloseCount]).toEqual([1, 0]);
  open(inner);
  await flushEventLoopForTest();
  expect([closeCount, innerCloseCount]).toEqual([1, 1]);
});

it("a subscription that cannot begin rejects, and calls onClose once", async () => {
  let closeCount = 0;
  const opening = Promise.reject(new Error("the store is closed"));
  const subscription = new DeferredSubscription(opening, () => void closeCount++);
  await expect(subscription.next()).rejects.toThrow("the store is closed");
  expect(closeCount).toBe(1);
});
