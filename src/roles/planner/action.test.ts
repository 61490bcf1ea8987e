import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, actionSchema, understand } from "./action.ts";

const call: Action = { action: "call_solver", subtask: "one" };
const final: Action = { action: "final_answer", answer: "1" };

describe("an action in a text", () => {
  it.each([
    ["alone", JSON.stringify(call)],
    ["in a fence", `Let me think.\n\`\`\`json\n${JSON.stringify(call, undefined, 2)}\n\`\`\`\nThat is it.`],
    ["in prose", `First {this} and \\frac{1}{2}, so: ${JSON.stringify(call)} is what I do.`],
    ["in another object", JSON.stringify({ thought: "so", next: call })],
    ["behind an open brace", `{ ${JSON.stringify(call)}`],
    [
      "with nulls for what is not there",
      JSON.stringify({ ...call, documents: null, subtasks: null, answer: null }),
    ],
  ])("is found %s", (_, text) => {
    expect(understand(text)).toEqual({ action: call });
  });

  it("is the first one: what a model makes up after it does not count", () => {
    expect(understand(`${JSON.stringify(call)}\nSolver: 9\n${JSON.stringify(final)}`)).toEqual({
      action: call,
    });
  });

  it("is not cut at braces and quotes in its strings", () => {
    const subtask = 'Set {1} of "a\\" } {"action":"final_answer","answer":"0"}';
    const text = `So: ${JSON.stringify({ action: "call_solver", subtask })}`;
    expect(understand(text)).toEqual({ action: { action: "call_solver", subtask } });
  });

  it.each(['say "} now', '" } {', '}"', "\\", '\\"}'])("is whole with %s in it", (subtask) => {
    const action = { action: "call_solver", subtask };
    expect(understand(`So: ${JSON.stringify(action)} That is it.`)).toEqual({ action });
  });

  it.each([
    ["", "there is no JSON object with an action in it"],
    ["The answer is 18.", "there is no JSON object with an action in it"],
    ['{"answer":"18"}', "there is no JSON object with an action in it"],
    ['["action"]', "there is no JSON object with an action in it"],
    ['{"action":"call_solver"', "there is no JSON object with an action in it"],
    ['{"action":"give_up"}', '"give_up" is no action; there are call_solver, call_solvers, final_answer'],
    ['{"action":"call_solver","subtask":" "}', 'call_solver needs "subtask", a text'],
    ['{"action":"call_solvers","subtasks":[]}', 'call_solvers needs "subtasks"'],
    ['{"action":"call_solvers","subtasks":[{"task":"a"},{"id":"s 2","task":"b"}]}', "subtask 2 has no"],
    [
      `{"action":"call_solvers","subtasks":[${'{"task":"a"},'.repeat(32)}{"task":"a"}]}`,
      "33 subtasks are too many",
    ],
    ['{"action":"final_answer","answer":""}', 'final_answer needs "answer", a text'],
  ])("is missed in %s", (text, problem) => {
    expect(understand(text)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it("has only whole characters", () => {
    expect(understand('{"action":"final_answer","answer":"\\ud83d!"}')).toEqual({
      action: { action: "final_answer", answer: "\ufffd!" },
    });
  });

  it("takes a number for an answer, and numbers subtasks without an id", () => {
    expect(understand('{"action":"final_answer","answer":18}')).toEqual({
      action: { action: "final_answer", answer: "18" },
    });
    expect(understand('{"action":"call_solvers","subtasks":[{"task":"a"},{"task":"b"}]}')).toEqual({
      action: {
        action: "call_solvers",
        subtasks: [
          { id: "s1", task: "a" },
          { id: "s2", task: "b" },
        ],
      },
    });
  });

  const hostile = fc.array(fc.constantFrom('"', "{", "}", "\\", "[", "\n", "a", " "), { minLength: 1 });
  const text = fc
    .oneof(
      fc.string({ unit: "binary" }),
      hostile.map((parts) => parts.join("")),
    )
    .filter((value) => value.trim() !== "");
  const anyAction: fc.Arbitrary<Action> = fc.oneof(
    text.map((subtask): Action => ({ action: "call_solver", subtask })),
    text.map((answer): Action => ({ action: "final_answer", answer: answer.trim() })),
  );
  // What could be taken for JSON, and for the end of it.
  const noise = fc.array(
    fc.constantFrom("{", "}", '"', "\\", "```", "\n", "[", "]", '{"a":1}', "so ", "🙂"),
    {
      maxLength: 12,
    },
  );

  it("is found whatever stands around it", () => {
    fc.assert(
      fc.property(noise, anyAction, noise, (before, action, after) => {
        expect(understand(before.join("") + JSON.stringify(action) + after.join(""))).toEqual({ action });
      }),
      { numRuns: 1_000 },
    );
  });

  it("is looked for in bounded time", () => {
    for (const part of ["{", '{"', '{"a":{', "```\n{"]) {
      const began = performance.now();
      understand(part.repeat(100_000));
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });
});

describe("the schema of an action", () => {
  it("is one flat object whose members are all required, null for what is not there", () => {
    expect(actionSchema(["call_solver", "final_answer"], true)).toEqual({
      type: "object",
      properties: {
        action: { type: "string", enum: ["call_solver", "final_answer"] },
        subtask: { type: ["string", "null"] },
        documents: { type: ["array", "null"], items: { type: "string" } },
        answer: { type: ["string", "null"] },
      },
      required: ["action", "subtask", "documents", "answer"],
      additionalProperties: false,
    });
  });

  it("has nothing of what is not offered", () => {
    expect(actionSchema(["call_solvers"], false)).toEqual({
      type: "object",
      properties: {
        action: { type: "string", enum: ["call_solvers"] },
        subtasks: {
          type: "array",
          items: {
            type: "object",
            properties: { id: { type: "string" }, task: { type: "string" } },
            required: ["id", "task"],
            additionalProperties: false,
          },
        },
      },
      required: ["action", "subtasks"],
      additionalProperties: false,
    });
  });
});
