import { expect, it } from "vitest";
import { CallKeyGenerator } from "./index.ts";

it("the key of a call depends on its kind, its input, and its number among equal calls", () => {
  const keys = new CallKeyGenerator();
  const first = keys.generate("tool pay", { amount: 1 });
  expect(first).toMatch(/^tool pay [0-9a-f]{32} 1$/);
  expect(keys.generate("tool pay", { amount: 2 })).not.toBe(first);
  expect(keys.generate("tool mail", { amount: 1 })).not.toBe(first);
  const second = keys.generate("tool pay", { amount: 1 });
  expect(second).toBe(first.replace(/1$/, "2"));
  expect(new CallKeyGenerator().generate("tool pay", { amount: 1 })).toBe(first);
  keys.release(second);
  expect(keys.generate("tool pay", { amount: 1 })).toBe(second);
});

it("a call never receives the key of another call that has not failed [E18]", () => {
  const keys = new CallKeyGenerator();
  const [first, second] = [keys.generate("tool pay", 1), keys.generate("tool pay", 1)];
  keys.release(first);
  expect(keys.generate("tool pay", 1)).toBe(first);
  expect(keys.generate("tool pay", 1)).toBe(second.replace(/2$/, "3"));
});

it("inputs with bytes and dates have different keys", () => {
  const keys = new CallKeyGenerator();
  const inputs = [new Uint8Array([1]), new Uint8Array([2]), new Date(1), new Date(2)];
  const generated = inputs.map((input) => keys.generate("call", { input }));
  expect(new Set(generated).size).toBe(4);
});
