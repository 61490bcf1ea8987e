import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { type PlannerAction, buildActionSchema, parseAction } from "./planner-action.ts";

const callSolverAction: PlannerAction = { action: "call_solver", subtask: "one" };
const finalAnswerAction: PlannerAction = { action: "final_answer", answer: "1" };

describe("an action in a text", () => {
  it.each([
    ["alone", JSON.stringify(callSolverAction)],
    [
      "in a fence",
      `Let me think.\n\`\`\`json\n${JSON.stringify(callSolverAction, undefined, 2)}\n\`\`\`\nThat is it.`,
    ],
    ["in prose", `First {this} and \\frac{1}{2}, so: ${JSON.stringify(callSolverAction)} is what I do.`],
    ["in another object", JSON.stringify({ thought: "so", next: callSolverAction })],
    ["behind an open brace", `{ ${JSON.stringify(callSolverAction)}`],
    [
      "with nulls for what is not there",
      JSON.stringify({ ...callSolverAction, documents: null, answer: null }),
    ],
  ])("is found %s", (_, text) => {
    expect(parseAction(text)).toEqual({ action: callSolverAction });
  });

  it("is the first one, and text after it is ignored", () => {
    expect(
      parseAction(`${JSON.stringify(callSolverAction)}\nSolver: 9\n${JSON.stringify(finalAnswerAction)}`),
    ).toEqual({
      action: callSolverAction,
    });
  });

  it("is not cut at braces and quotes in its strings", () => {
    const subtask = 'Set {1} of "a\\" } {"action":"final_answer","answer":"0"}';
    const text = `So: ${JSON.stringify({ action: "call_solver", subtask })}`;
    expect(parseAction(text)).toEqual({ action: { action: "call_solver", subtask } });
  });

  it.each(['say "} now', '" } {', '}"', "\\", '\\"}'])("is complete with %s in it", (subtask) => {
    const action = { action: "call_solver", subtask };
    expect(parseAction(`So: ${JSON.stringify(action)} That is it.`)).toEqual({ action });
  });

  it.each([
    ["", "the reply contains no JSON object with an action"],
    ["The answer is 18.", "the reply contains no JSON object with an action"],
    ['{"answer":"18"}', "the reply contains no JSON object with an action"],
    ['["action"]', "the reply contains no JSON object with an action"],
    ['{"action":"call_solver"', "the reply contains no JSON object with an action"],
    ['{"action":"give_up"}', '"give_up" is not an action; use one of call_solver, final_answer'],
    ['{"action":"call_solver","subtask":" "}', 'call_solver needs "subtask", a text'],
    ['{"action":"final_answer","answer":""}', 'final_answer needs "answer", a text'],
  ])("is not found in %s", (text, problem) => {
    expect(parseAction(text)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it("contains no lone surrogates", () => {
    expect(parseAction('{"action":"final_answer","answer":"\\ud83d!"}')).toEqual({
      action: { action: "final_answer", answer: "\ufffd!" },
    });
  });

  it("accepts a number as the answer", () => {
    expect(parseAction('{"action":"final_answer","answer":18}')).toEqual({
      action: { action: "final_answer", answer: "18" },
    });
  });

  const hostile = fc.array(fc.constantFrom('"', "{", "}", "\\", "[", "\n", "a", " "), { minLength: 1 });
  const text = fc
    .oneof(
      fc.string({ unit: arbitraryCharacter }),
      hostile.map((parts) => parts.join("")),
    )
    .filter((value) => value.trim() !== "");
  const anyAction: fc.Arbitrary<PlannerAction> = fc.oneof(
    text.map((subtask): PlannerAction => ({ action: "call_solver", subtask })),
    text.map((answer): PlannerAction => ({ action: "final_answer", answer: answer.trim() })),
  );
  // Characters that can be mistaken for JSON or for its end.
  const noise = fc.array(
    fc.constantFrom("{", "}", '"', "\\", "```", "\n", "[", "]", '{"a":1}', "so ", "🙂"),
    {
      maxLength: 12,
    },
  );

  it("is found in any surrounding text", () => {
    fc.assert(
      fc.property(noise, anyAction, noise, (before, action, after) => {
        expect(parseAction(before.join("") + JSON.stringify(action) + after.join(""))).toEqual({ action });
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("the schema of an action", () => {
  it("is one flat object with required members that can be null", () => {
    expect(buildActionSchema(["call_solver", "final_answer"], true)).toEqual({
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

  it("contains only members of the allowed actions", () => {
    expect(buildActionSchema(["call_solver"], false)).toEqual({
      type: "object",
      properties: { action: { type: "string", enum: ["call_solver"] }, subtask: { type: "string" } },
      required: ["action", "subtask"],
      additionalProperties: false,
    });
  });
});
