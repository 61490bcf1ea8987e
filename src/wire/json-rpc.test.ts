import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/index.ts";
import {
  decodeJsonRpcRequest,
  encodeJsonRpcError,
  encodeJsonRpcResult,
  fromJsonRpcError,
  JsonRpcRequestError,
  toJsonRpcError,
} from "./json-rpc.ts";

function catchFailure(body: string): { id: unknown; reason: string; fields: string[] } {
  try {
    decodeJsonRpcRequest(body);
  } catch (thrown) {
    if (thrown instanceof JsonRpcRequestError) {
      const { id, error } = thrown;
      return { id, reason: error.reason, fields: error.violations.map(({ field }) => field) };
    }
    throw thrown;
  }
  throw new Error("the body was accepted");
}

describe("a JSON-RPC request", () => {
  it("is decoded with its id unchanged [C-04]", () => {
    for (const id of ["a", 1, 1.5, 0, "", null]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "GetTask", params: { id: "t" } });
      expect(decodeJsonRpcRequest(body)).toEqual({ id, method: "GetTask", params: { id: "t" } });
    }
  });

  it("needs no params and no id [C-09]", () => {
    expect(decodeJsonRpcRequest('{"jsonrpc":"2.0","method":"ListTasks"}')).toEqual({
      id: null,
      method: "ListTasks",
      params: {},
    });
  });

  it.each(["{", "nonsense", "\ufeff{}", '{"a":1}x'])(
    "that is not JSON is a parse error: %s [C-06]",
    (body) => {
      expect(catchFailure(body)).toEqual({ id: null, reason: "PARSE_ERROR", fields: [] });
    },
  );

  it.each([
    ["", null, ["request"]],
    ["  ", null, ["request"]],
    ["5", null, ["request"]],
    ["null", null, ["request"]],
    ['[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', null, ["request"]],
    ['{"id":1,"method":"GetTask"}', 1, ["jsonrpc"]],
    ['{"jsonrpc":"1.0","id":"x","method":"GetTask"}', "x", ["jsonrpc"]],
    ['{"jsonrpc":"2.0","id":1}', 1, ["method"]],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 1, ["method"]],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', null, ["id"]],
    ['{"jsonrpc":"2.0","id":true,"method":"GetTask"}', null, ["id"]],
    ['{"jsonrpc":"2.0","id":[1],"method":"GetTask"}', null, ["id"]],
    ["{}", null, ["jsonrpc", "method"]],
  ])("with an invalid envelope is rejected with every violation: %s [C-08]", (body, id, fields) => {
    expect(catchFailure(body)).toEqual({ id, reason: "INVALID_REQUEST", fields });
  });

  it("must have named params [C-09]", () => {
    for (const params of ["[]", "[1]", "5", '"x"']) {
      expect(catchFailure(`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":${params}}`)).toEqual({
        id: 7,
        reason: "INVALID_PARAMS",
        fields: ["params"],
      });
    }
  });
});

describe("a JSON-RPC response", () => {
  it("contains a result that is already JSON", () => {
    expect(JSON.parse(encodeJsonRpcResult('a"b', '{"task":{}}'))).toEqual({
      jsonrpc: "2.0",
      id: 'a"b',
      result: { task: {} },
    });
  });

  it("contains an A2A error with its ErrorInfo in an array [C-05]", () => {
    expect(JSON.parse(encodeJsonRpcError(3, A2AError.taskNotFound("t-1")))).toEqual({
      jsonrpc: "2.0",
      id: 3,
      error: {
        code: -32001,
        message: "Task t-1 was not found; check its id and your credentials.",
        data: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "TASK_NOT_FOUND",
            domain: "a2a-protocol.org",
            metadata: { taskId: "t-1" },
          },
        ],
      },
    });
  });

  it("contains violations as BadRequest, without an ErrorInfo of A2A [C-05]", () => {
    const error = A2AError.invalidParams([{ field: "id", description: "is required" }]);
    expect(toJsonRpcError(error)).toEqual({
      code: -32602,
      message: "id: is required",
      data: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "id", description: "is required" }],
        },
      ],
    });
  });

  it("contains the delay for a retry", () => {
    const error = new A2AError("RESOURCE_EXHAUSTED", "Too many runs.", { retryAfter: 2 });
    expect(toJsonRpcError(error).data).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: "2s",
    });
    expect(fromJsonRpcError(toJsonRpcError(error))).toMatchObject({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 2,
    });
  });
});

describe("a received error", () => {
  it("is identified by its ErrorInfo before its code", () => {
    const data = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TASK_NOT_CANCELABLE" }];
    expect(fromJsonRpcError({ code: -32603, message: "no", data }).reason).toBe("TASK_NOT_CANCELABLE");
  });

  it("is identified by its code, as 0.3 sends it", () => {
    expect(fromJsonRpcError({ code: -32001, message: "gone" })).toMatchObject({
      reason: "TASK_NOT_FOUND",
      message: "gone",
    });
  });

  it("is identified by the HTTP status when it has no known code or data", () => {
    expect(fromJsonRpcError({ code: -32000, message: "who?" }, 401).reason).toBe("UNAUTHENTICATED");
    expect(fromJsonRpcError({ code: 1, message: "odd" }).reason).toBe("INTERNAL");
    expect(fromJsonRpcError("nonsense").reason).toBe("INTERNAL");
  });

  it("keeps unknown details", () => {
    const data = { "@type": "type.googleapis.com/example.Other", x: 1 };
    expect(fromJsonRpcError({ code: -32001, message: "m", data }).details).toEqual([data]);
  });
});
