import { describe, expect, it } from "vitest";
import type { Part, Task } from "../../../protocol/index.ts";
import { findQuestions } from "./find-questions.ts";

const createTask = (parts: Part[], state: Task["status"]["state"] = "TASK_STATE_INPUT_REQUIRED"): Task => ({
  id: "1",
  contextId: "1",
  status: { state, message: { messageId: "m", role: "ROLE_AGENT", parts } },
});

describe("the questions of a waiting task", () => {
  it("contain an approval request, whose answer has the shape that the adapters accept", () => {
    const [question] = findQuestions(
      createTask([{ data: { approvalId: "a", toolName: "pay", input: { amount: 3 } } }]),
    );
    expect(question).toMatchObject({ kind: "approval", key: "a", title: "Allow pay?", input: { amount: 3 } });
    expect(question?.kind === "approval" && question.buildAnswer(false, "too much")).toEqual({
      data: { approvalId: "a", approved: false, reason: "too much" },
    });
  });

  it.each([
    ["adk_request_confirmation", { confirmed: true }],
    ["request_approval", { approved: true }],
  ])("contain the long-running ADK call %s", (name, response) => {
    const metadata = { adk_type: "function_call", adk_is_long_running: true };
    const [question] = findQuestions(createTask([{ data: { id: "c", name, args: {} }, metadata }]));
    expect(question?.kind === "approval" && question.buildAnswer(true, "")).toEqual({
      data: { id: "c", name, response },
      metadata: { adk_type: "function_response" },
    });
  });

  it.each([
    ["green", { result: "green" }],
    ["12", { result: "12" }],
    ['{ "color": "green" }', { color: "green" }],
  ])("ask for the result of another ADK call, which is text or a JSON object: %s", (entry, response) => {
    const part = { data: { id: "c", name: "measure", args: {} }, metadata: { adk_type: "function_call" } };
    const [question] = findQuestions(createTask([part]));
    expect(question).toMatchObject({ kind: "function-call", title: "Result of measure" });
    expect(question?.kind === "function-call" && question.buildAnswer(entry)).toEqual({
      data: { id: "c", name: "measure", response },
      metadata: { adk_type: "function_response" },
    });
  });

  it("accept any response to an ADK call that only its name makes an approval", () => {
    const ask = (name: string): ReturnType<typeof findQuestions>[number] | undefined =>
      findQuestions(
        createTask([{ data: { id: "c", name, args: {} }, metadata: { adk_type: "function_call" } }]),
      )[0];
    const [named, confirmation] = [ask("confirm_order"), ask("adk_request_confirmation")];
    expect(named?.kind === "approval" && named.buildResponse?.('{ "order": 7 }')).toMatchObject({
      data: { response: { order: 7 } },
    });
    expect(confirmation?.kind === "approval" && confirmation.buildResponse).toBeUndefined();
  });

  it("contain a form for the response schema of an ADK call", () => {
    const args = { message: "Which size?", response_schema: { type: "object", properties: { size: {} } } };
    const part = {
      data: { id: "c", name: "adk_request_input", args },
      metadata: { adk_type: "function_call" },
    };
    const [question] = findQuestions(createTask([part]));
    expect(question).toMatchObject({ kind: "form", title: "Which size?", fields: [{ name: "size" }] });
    expect(question?.kind === "form" && question.buildAnswer({ size: "L" })).toMatchObject({
      data: { id: "c", response: { size: "L" } },
    });
  });

  it.each([
    { data: { schema: { type: "object", properties: { size: { type: "string" } } } } },
    { data: { type: "object", properties: { size: { type: "string" } } } },
    { text: "Which size?", metadata: { requestedSchema: { type: "object", properties: { size: {} } } } },
  ])("contain a form for a schema (%#)", (part) => {
    const [question] = findQuestions(createTask([part]));
    expect(question?.kind === "form" && question.fields.map(({ name }) => name)).toEqual(["size"]);
  });

  it("are empty for a question in text, and for a task that does not wait", () => {
    expect(findQuestions(createTask([{ text: "Which size?" }, { data: [1] }, { data: null }]))).toEqual([]);
    expect(findQuestions(createTask([{ data: { approvalId: "a" } }], "TASK_STATE_WORKING"))).toEqual([]);
  });
});
