import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../protocol/index.ts";
import { describeHttpRequest } from "./call-description.ts";
import { decodeRecordedResult } from "./decode-recorded-result.ts";

const describeRequest = (
  method: string,
  target: string,
  body?: JsonObject,
  headers: Readonly<Record<string, string>> = {},
) => describeHttpRequest({ method, target, header: (name) => headers[name], body });

const message = { messageId: "m", taskId: "t", contextId: "c", referenceTaskIds: ["r"], parts: [] };

describe("the description of a request", () => {
  it.each([
    ["SendStreamingMessage", "1.0"],
    ["message/stream", "0.3"],
  ])("names the operation of the JSON-RPC method %s", (method, version) => {
    const body = { jsonrpc: "2.0", id: 1, method, params: { message } };
    expect(describeRequest("POST", "/any/path", body)).toEqual({
      binding: "JSONRPC",
      protocolVersion: version,
      a2aOperation: "SendStreamingMessage",
      operation: "SendStreamingMessage",
      ids: { message_id: "m", task_id: "t", context_id: "c" },
      referenceTaskIds: ["r"],
    });
  });

  it.each([
    ["GET", "/tasks/t", "GetTask", "1.0"],
    ["GET", "/agents/one/tasks/t?historyLength=1", "GetTask", "1.0"],
    ["POST", "/rest/v1/tasks/t:cancel", "CancelTask", "0.3"],
    ["POST", "/tenant/tasks/t:subscribe", "SubscribeToTask", "1.0"],
  ])("finds the route %s %s at any depth", (method, target, operation, version) => {
    expect(describeRequest(method, target)).toMatchObject({
      binding: "HTTP+JSON",
      protocolVersion: version,
      operation,
      ids: { task_id: "t" },
    });
  });

  it("prefers the version of the header, because /v1 can be a tenant", () => {
    const headers = { "a2a-version": "1.0", "last-event-id": "7" };
    expect(describeRequest("POST", "/v1/tasks/t:subscribe", undefined, headers)).toMatchObject({
      protocolVersion: "1.0",
      after: 7,
    });
  });

  it("keeps unknown methods and other requests", () => {
    expect(describeRequest("POST", "/", { jsonrpc: "2.0", method: "constructor" })).toEqual({
      binding: "JSONRPC",
      operation: "constructor",
      ids: {},
    });
    expect(describeRequest("GET", "/.well-known/agent-card.json")).toMatchObject({
      binding: "HTTP",
      operation: "GET",
    });
    expect(describeRequest("POST", "//[", { message: null })).toMatchObject({
      binding: "HTTP",
      operation: "POST",
    });
  });
});

describe("a recorded result", () => {
  const rpc = describeRequest("POST", "/", { jsonrpc: "2.0", method: "SendStreamingMessage", params: {} });
  const rest = describeRequest("POST", "/v1/message:stream", {});

  it("is an event in the form of A2A 1.0, or the error of the agent", () => {
    const status = { state: "working", timestamp: "2026-01-01T00:00:00Z" };
    const old = describeRequest("POST", "/", { jsonrpc: "2.0", method: "message/stream", params: {} });
    const result = { kind: "status-update", taskId: "t", contextId: "c", status, final: false };
    expect(decodeRecordedResult(old, { jsonrpc: "2.0", id: 1, result })).toMatchObject({
      event: { statusUpdate: { taskId: "t", status: { state: "TASK_STATE_WORKING" } } },
    });
    expect(decodeRecordedResult(rpc, { error: { code: -32001, message: "no task" } })).toEqual({
      error: "no task",
    });
    expect(decodeRecordedResult(rpc, { result: { unknown: 1 } })).toEqual({});
    expect(decodeRecordedResult(rpc, null)).toEqual({});
  });

  it("can be an error within a stream of HTTP+JSON", () => {
    expect(decodeRecordedResult(rest, { code: -32603, message: "broken" })).toEqual({ error: "broken" });
    expect(decodeRecordedResult(rest, { error: { code: 500, message: "broken" } })).toEqual({
      error: "broken",
    });
    expect(decodeRecordedResult(rest, { message: "Task not found" }, 404)).toEqual({
      error: "Task not found",
    });
  });
});
