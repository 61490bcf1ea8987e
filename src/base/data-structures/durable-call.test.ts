import { expect, it } from "vitest";
import { DurableCall, type StepExecutor } from "./index.ts";

/** Executes each step, and records the keys. Stored results belong to earlier attempts. */
function createExecutor(stored = new Map<string, unknown>()): StepExecutor<string> & { keys: string[] } {
  const keys: string[] = [];
  return {
    keys,
    async once<T>(key: string, execute: (step: string) => T | PromiseLike<T>): Promise<T> {
      keys.push(key);
      if (stored.has(key)) return stored.get(key) as T;
      const result = await execute("step");
      stored.set(key, result);
      return result;
    },
  };
}

const fail = (): Promise<never> => Promise.reject(new Error("503"));

it("a later attempt receives the stored result of the same call, with its bytes and dates [E18]", async () => {
  const stored = new Map<string, unknown>();
  const result = { at: new Date(5), bytes: new Uint8Array([1]), none: undefined };
  const first = new DurableCall(createExecutor(stored), "tool pay", { amount: 1 });
  expect(await first.execute(async (step) => ({ ...result, step }))).toEqual({ ...result, step: "step" });
  const later = createExecutor(stored);
  expect(await new DurableCall(later, "tool pay", { amount: 1 }).findStored()).toEqual({
    result: { ...result, step: "step" },
  });
  expect(await new DurableCall(later, "tool pay", { amount: 2 }).findStored()).toBeUndefined();
});

it("the next call repeats a failed call, and no call shares the key of another running call [E18]", async () => {
  const run = createExecutor();
  const failed = new DurableCall(run, "model", "hi");
  const running = new DurableCall(run, "model", "hi");
  await expect(failed.execute(fail)).rejects.toThrow("503");
  failed.release();
  const repeated = new DurableCall(run, "model", "hi");
  const last = new DurableCall(run, "model", "hi");
  for (const call of [running, repeated, last]) await call.execute(() => 1);
  const [first, second, third, fourth] = run.keys;
  expect(third).toBe(first);
  expect(new Set([first, second, fourth]).size).toBe(3);
});
