import { describe, expect, it } from "vitest";
import type { Artifact, StreamResponse, TaskState } from "../protocol/index.ts";
import { Answer } from "./answer.ts";

const ids = { taskId: "t", contextId: "c" };

function said(artifactId: string, text: string, append = false): StreamResponse {
  return { artifactUpdate: { ...ids, artifact: { artifactId, parts: [{ text }] }, append } };
}

function turned(state: TaskState, text?: string): StreamResponse {
  const message = { messageId: "m", role: "ROLE_AGENT" as const, parts: [{ text: text ?? "" }] };
  return { statusUpdate: { ...ids, status: { state, ...(text === undefined ? {} : { message }) } } };
}

function whole(state: TaskState, ...artifacts: [string, string][]): StreamResponse {
  const written = artifacts.map(([artifactId, text]): Artifact => ({ artifactId, parts: [{ text }] }));
  return { task: { id: "t", contextId: "c", status: { state }, artifacts: written } };
}

/** All that is said of these events. */
function answerTo(events: readonly StreamResponse[], answer: Answer = new Answer()): string {
  const pieces = [...events.map((event) => answer.hear(event)), answer.end()];
  expect(pieces.join("")).toBe(answer.text);
  return answer.text;
}

describe("an answer", () => {
  it("says chunks as they come, and artifacts apart", () => {
    expect(answerTo([said("a", "one "), said("a", "two", true), said("b", "three")])).toBe(
      "one two\n\nthree",
    );
  });

  it("says nothing twice when the whole task is shown after a cut", () => {
    const events = [said("a", "one "), whole("TASK_STATE_COMPLETED", ["a", "one two"], ["b", "three"])];
    expect(answerTo(events)).toBe("one two\n\nthree");
  });

  it("says what replaces something else, since nothing can be taken back", () => {
    expect(answerTo([said("a", "draft"), said("a", "better")])).toBe("draft\n\nbetter");
    expect(answerTo([said("a", "draft"), said("a", "draft, longer")])).toBe("draft, longer");
  });

  it("of a task that goes on says only what is new", () => {
    const answer = new Answer();
    const before = whole("TASK_STATE_INPUT_REQUIRED", ["a", "before"]);
    if ("task" in before) answer.knows(before.task);
    const events = [before, said("a", " and after", true), turned("TASK_STATE_COMPLETED")];
    expect(answerTo(events, answer)).toBe(" and after");
  });

  it("ends with a question, or with a last word that is all", () => {
    expect(answerTo([said("a", "Well."), turned("TASK_STATE_INPUT_REQUIRED", "Which?")])).toBe(
      "Well.\n\nWhich?",
    );
    expect(answerTo([turned("TASK_STATE_AUTH_REQUIRED")])).toMatch(/authorization/);
    expect(answerTo([turned("TASK_STATE_WORKING", "Thinking"), turned("TASK_STATE_COMPLETED", "42")])).toBe(
      "42",
    );
    expect(answerTo([said("a", "The answer."), turned("TASK_STATE_COMPLETED", "Done!")])).toBe("The answer.");
  });

  it("shows what is asked in data", () => {
    const message = { messageId: "m", role: "ROLE_AGENT" as const, parts: [{ data: { refund: 80 } }] };
    const status = { state: "TASK_STATE_INPUT_REQUIRED" as const, message };
    expect(answerTo([{ statusUpdate: { ...ids, status } }])).toBe(
      'The agent waits for your answer.\n\n```json\n{\n  "refund": 80\n}\n```',
    );
  });

  it.each([
    ["TASK_STATE_FAILED", "task_failed"],
    ["TASK_STATE_REJECTED", "task_rejected"],
    ["TASK_STATE_CANCELED", "task_canceled"],
  ] as const)("that is %s is an error", (state, code) => {
    expect(() => answerTo([turned(state, "Sorry.")])).toThrow(
      expect.objectContaining({ code, message: "Sorry." }),
    );
    expect(() => answerTo([turned(state)])).toThrow(expect.objectContaining({ code }));
  });

  it("has an end, however long an agent goes on", () => {
    const answer = new Answer();
    const megabytes = "x".repeat(2 ** 23);
    answer.hear(said("a", megabytes));
    answer.hear(said("a", megabytes, true));
    expect(() => answer.hear(said("a", "more", true))).toThrow(/more than an answer may have/);
  });
});
