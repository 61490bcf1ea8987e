import { expect, it } from "vitest";
import { MAX_WRITE_LENGTH, writeTextInSlices } from "./result-reply.ts";

it("other work runs after each slice, even if the socket takes the slices at once", async () => {
  let turns = 0;
  const countTurns = (): void => {
    turns++;
    if (!hasEnded) setImmediate(countTurns);
  };
  let hasEnded = false;
  const sink = { write: () => Promise.resolve(), end: () => void (hasEnded = true), onClose: () => {} };
  setImmediate(countTurns);
  await writeTextInSlices(["a".repeat(8 * MAX_WRITE_LENGTH)], sink);
  expect(turns).toBe(8);
});
