import { describe, expect, it } from "vitest";
import type { Artifact, StreamResponse, TaskState } from "../../protocol/index.ts";
import { AnswerAccumulator } from "./answer-accumulator.ts";

const ids = { taskId: "t", contextId: "c" };

function createArtifactUpdate(artifactId: string, text: string, append = false): StreamResponse {
  return { artifactUpdate: { ...ids, artifact: { artifactId, parts: [{ text }] }, append } };
}

function createStatusUpdate(state: TaskState, text?: string): StreamResponse {
  const message = { messageId: "m", role: "ROLE_AGENT" as const, parts: [{ text: text ?? "" }] };
  return { statusUpdate: { ...ids, status: { state, ...(text === undefined ? {} : { message }) } } };
}

function createTaskSnapshot(state: TaskState, ...artifacts: [string, string][]): StreamResponse {
  const written = artifacts.map(([artifactId, text]): Artifact => ({ artifactId, parts: [{ text }] }));
  return { task: { id: "t", contextId: "c", status: { state }, artifacts: written } };
}

/** Returns the text that these events produce. */
function collectAnswer(
  events: readonly StreamResponse[],
  answer: AnswerAccumulator = new AnswerAccumulator(),
): string {
  const pieces = [...events.map((event) => answer.addEvent(event)), answer.finishAndGetRemainingText()];
  expect(pieces.join("")).toBe(answer.text);
  return answer.text;
}

describe("an answer", () => {
  it("contains chunks as they arrive, and separates artifacts", () => {
    expect(
      collectAnswer([
        createArtifactUpdate("a", "one "),
        createArtifactUpdate("a", "two", true),
        createArtifactUpdate("b", "three"),
      ]),
    ).toBe("one two\n\nthree");
  });

  it("contains no reasoning of the model", () => {
    const thought = { text: "Hm. ", metadata: { adk_thought: true } };
    const reasoning = { artifactId: "r", parts: [{ text: "Hm." }], metadata: { thought: true } };
    expect(
      collectAnswer([
        { artifactUpdate: { ...ids, artifact: reasoning } },
        { artifactUpdate: { ...ids, artifact: { artifactId: "a", parts: [thought] } } },
        createArtifactUpdate("a", "one", true),
        { artifactUpdate: { ...ids, artifact: { artifactId: "a", parts: [thought, { text: "one two" }] } } },
      ]),
    ).toBe("one two");
  });

  it("repeats no text when the complete task arrives after a reconnect", () => {
    const events = [
      createArtifactUpdate("a", "one "),
      createTaskSnapshot("TASK_STATE_COMPLETED", ["a", "one two"], ["b", "three"]),
    ];
    expect(collectAnswer(events)).toBe("one two\n\nthree");
  });

  it("appends a replacement, because sent text cannot be withdrawn", () => {
    expect(collectAnswer([createArtifactUpdate("a", "draft"), createArtifactUpdate("a", "better")])).toBe(
      "draft\n\nbetter",
    );
    expect(
      collectAnswer([createArtifactUpdate("a", "draft"), createArtifactUpdate("a", "draft, longer")]),
    ).toBe("draft, longer");
  });

  it("of a continued task contains only new text", () => {
    const answer = new AnswerAccumulator();
    const before = createTaskSnapshot("TASK_STATE_INPUT_REQUIRED", ["a", "before"]);
    if ("task" in before) answer.skipExistingArtifacts(before.task);
    const events = [
      before,
      createArtifactUpdate("a", " and after", true),
      createStatusUpdate("TASK_STATE_COMPLETED"),
    ];
    expect(collectAnswer(events, answer)).toBe(" and after");
  });

  it("ends with a question, or consists of the final status message", () => {
    expect(
      collectAnswer([
        createArtifactUpdate("a", "Well."),
        createStatusUpdate("TASK_STATE_INPUT_REQUIRED", "Which?"),
      ]),
    ).toBe("Well.\n\nWhich?");
    expect(collectAnswer([createStatusUpdate("TASK_STATE_AUTH_REQUIRED")])).toMatch(/authorization/);
    expect(
      collectAnswer([
        createStatusUpdate("TASK_STATE_WORKING", "Thinking"),
        createStatusUpdate("TASK_STATE_COMPLETED", "42"),
      ]),
    ).toBe("42");
    expect(
      collectAnswer([
        createArtifactUpdate("a", "The answer."),
        createStatusUpdate("TASK_STATE_COMPLETED", "Done!"),
      ]),
    ).toBe("The answer.");
  });

  it("contains a question in data as JSON", () => {
    const message = { messageId: "m", role: "ROLE_AGENT" as const, parts: [{ data: { refund: 80 } }] };
    const status = { state: "TASK_STATE_INPUT_REQUIRED" as const, message };
    expect(collectAnswer([{ statusUpdate: { ...ids, status } }])).toBe(
      'The agent waits for your answer.\n\n```json\n{\n  "refund": 80\n}\n```',
    );
  });

  it.each([
    ["TASK_STATE_FAILED", "task_failed"],
    ["TASK_STATE_REJECTED", "task_rejected"],
    ["TASK_STATE_CANCELED", "task_canceled"],
  ] as const)("that is %s is an error", (state, code) => {
    expect(() => collectAnswer([createStatusUpdate(state, "Sorry.")])).toThrow(
      expect.objectContaining({ code, message: "Sorry." }),
    );
    expect(() => collectAnswer([createStatusUpdate(state)])).toThrow(expect.objectContaining({ code }));
  });

  it("has a maximum length", () => {
    const answer = new AnswerAccumulator();
    const megabytes = "x".repeat(2 ** 23);
    answer.addEvent(createArtifactUpdate("a", megabytes));
    answer.addEvent(createArtifactUpdate("a", megabytes, true));
    expect(() => answer.addEvent(createArtifactUpdate("a", "more", true))).toThrow(
      /exceeds the maximum length/,
    );
  });
});
