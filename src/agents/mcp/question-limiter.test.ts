import { expect, it } from "vitest";
import type { Task } from "../../protocol/index.ts";
import { QuestionLimiter } from "./question-limiter.ts";

const ask = (key: string, id = "t1"): Task => ({
  id,
  contextId: "c1",
  status: {
    state: "TASK_STATE_INPUT_REQUIRED",
    message: { messageId: key, role: "ROLE_AGENT", parts: [{ text: key }] },
  },
});

it("a task asks the user at most four times in a minute, and the model answers further questions", () => {
  let nowMs = 0;
  const limiter = new QuestionLimiter(() => nowMs);
  const decide = (): boolean[] =>
    ["q1", "q2", "q3", "q4", "q5"].map((key) => {
      nowMs += 500;
      return limiter.allows(ask(key));
    });
  expect(decide()).toEqual([true, true, true, true, false]);
  // A host reads a task many times, and each question has one recipient.
  expect(decide()).toEqual([true, true, true, true, false]);
  nowMs += 60_000;
  expect(limiter.allows(ask("q5"))).toBe(false);
  expect(limiter.allows(ask("q6"))).toBe(true);
  expect(limiter.allows(ask("q1", "t2"))).toBe(true);
});
