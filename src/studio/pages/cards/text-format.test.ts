import { expect, it } from "vitest";
import { formatTaskDuration } from "./text-format.ts";

it("the duration of a task that ended within a millisecond is no zero", () => {
  expect([0, 1, 1_400].map(formatTaskDuration)).toEqual(["<1 ms", "1 ms", "1.40 s"]);
});
