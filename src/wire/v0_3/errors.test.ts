import { describe, expect, it } from "vitest";
import { A2AError } from "../../protocol/index.ts";
import { fromJsonRpcError } from "../json-rpc.ts";
import { fromRestError } from "../rest-error.ts";
import { fromGrpcError } from "../grpc-error.ts";
import { jsonRpcDialect, restDialect } from "./binding-dialects.ts";
import { toGrpcError } from "./errors.ts";

const taskNotFoundError = new A2AError("TASK_NOT_FOUND", "Task t was not found.", {
  metadata: { taskId: "t" },
});
const invalidParamsError = A2AError.invalidParams([{ field: "message", description: "is missing" }]);

describe("an error of 0.3", () => {
  // One of Go's clients decodes `data` into a map, the other into a list. Each client fails on the other
  // type.
  it("has only a code and a message over JSON-RPC", () => {
    const { error } = JSON.parse(jsonRpcDialect.encodeError(1, taskNotFoundError)) as { error: object };
    expect(error).toEqual({ code: -32001, message: taskNotFoundError.message });
    expect(fromJsonRpcError(error)).toMatchObject({
      reason: "TASK_NOT_FOUND",
      message: taskNotFoundError.message,
    });
  });

  // 0.3 does not specify the format. JavaScript's clients read the code, Python's the type, and Go's the
  // status of 1.0.
  it("has a member for every known client over HTTP+JSON", () => {
    expect(restDialect.toErrorResponse(taskNotFoundError, "1.0.1")).toMatchObject({
      status: 404,
      body: {
        code: -32001,
        type: "TaskNotFoundError",
        message: taskNotFoundError.message,
        error: {
          code: 404,
          status: "NOT_FOUND",
          message: taskNotFoundError.message,
          details: [{ reason: "TASK_NOT_FOUND" }],
        },
      },
    });
    expect(restDialect.toErrorResponse(invalidParamsError, "1.0.1").body).toMatchObject({
      code: -32602,
      type: "InvalidParamsError",
    });
  });

  // Python's client of 0.3 identifies an error only by the name before its message.
  it("has its name before its message over gRPC, and is decoded with or without the name", () => {
    const { status, message, details } = toGrpcError(taskNotFoundError);
    expect({ status, message }).toEqual({
      status: "NOT_FOUND",
      message: `TaskNotFoundError: ${taskNotFoundError.message}`,
    });
    const read = { reason: "TASK_NOT_FOUND", message: taskNotFoundError.message };
    expect(fromGrpcError("CancelTask", status, message, details)).toMatchObject(read);
    expect(fromGrpcError("CancelTask", status, message, [], 5)).toMatchObject({ ...read, code: 5 });
    expect(fromGrpcError("CancelTask", status, taskNotFoundError.message)).toMatchObject(read);
    expect(fromGrpcError("GetTask", "INTERNAL", "TypeError: x is not y")).toMatchObject({
      reason: "INTERNAL",
      message: "TypeError: x is not y",
    });
  });

  it("is identified by its type, or by the message of Python's 0.3 servers", () => {
    for (const body of [{ type: "TaskNotFoundError", message: "Not here" }, { message: "Task not found" }]) {
      expect(fromRestError(404, body)).toMatchObject({ reason: "TASK_NOT_FOUND", message: body.message });
    }
    expect(fromRestError(404, { detail: "Not Found" })).toMatchObject({ reason: "NOT_FOUND" });
  });

  it("is preserved by a round trip over HTTP+JSON", () => {
    for (const error of [taskNotFoundError, invalidParamsError]) {
      const { status, body } = restDialect.toErrorResponse(error, "1.0.1");
      const { reason, violations, metadata } = error;
      expect(fromRestError(status, body)).toMatchObject({ reason, violations, metadata });
    }
  });
});
