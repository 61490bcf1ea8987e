import { describe, expect, it } from "vitest";
import { A2AError, type ErrorReason } from "../protocol/index.ts";
import { ERROR_MAPPINGS, getHttpAndGrpcErrorStatus, isDefinedByA2A } from "./error-mappings.ts";
import { fromJsonRpcError, toJsonRpcError } from "./json-rpc.ts";
import { fromRestError, toRestError } from "./rest-error.ts";

const reasons = Object.keys(ERROR_MAPPINGS) as ErrorReason[];

it("a REST error is a google.rpc.Status with an ErrorInfo [D-03]", () => {
  expect(toRestError(A2AError.taskNotFound("t"), "1.0.1")).toEqual({
    status: 404,
    body: {
      error: {
        code: 404,
        status: "NOT_FOUND",
        message: "Task t was not found; check its id and your credentials.",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "TASK_NOT_FOUND",
            domain: "a2a-protocol.org",
            metadata: { taskId: "t" },
          },
        ],
      },
    },
  });
});

it("violations are a BadRequest with status 400 [D-04]", () => {
  const error = A2AError.invalidParams([{ field: "pageSize", description: "must be 1 to 100, not 0" }]);
  const { status, body } = toRestError(error, "1.0.1");
  expect([status, body.error.status]).toEqual([400, "INVALID_ARGUMENT"]);
  expect(body.error.details).toEqual([
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: "pageSize", description: "must be 1 to 100, not 0" }],
    },
  ]);
});

it("revisions 1.0.0 and 1.0.1 differ in six statuses [D-05] [1.L]", () => {
  const differing = reasons.filter(
    (reason) =>
      JSON.stringify(getHttpAndGrpcErrorStatus(reason, "1.0.0")) !==
      JSON.stringify(getHttpAndGrpcErrorStatus(reason, "1.0.1")),
  );
  expect(
    differing.map((reason) => [
      reason,
      getHttpAndGrpcErrorStatus(reason, "1.0.0"),
      getHttpAndGrpcErrorStatus(reason, "1.0.1"),
    ]),
  ).toEqual([
    [
      "TASK_NOT_CANCELABLE",
      { http: 409, grpc: "FAILED_PRECONDITION" },
      { http: 400, grpc: "FAILED_PRECONDITION" },
    ],
    [
      "PUSH_NOTIFICATION_NOT_SUPPORTED",
      { http: 400, grpc: "UNIMPLEMENTED" },
      { http: 400, grpc: "FAILED_PRECONDITION" },
    ],
    [
      "UNSUPPORTED_OPERATION",
      { http: 400, grpc: "UNIMPLEMENTED" },
      { http: 400, grpc: "FAILED_PRECONDITION" },
    ],
    [
      "CONTENT_TYPE_NOT_SUPPORTED",
      { http: 415, grpc: "INVALID_ARGUMENT" },
      { http: 400, grpc: "INVALID_ARGUMENT" },
    ],
    ["INVALID_AGENT_RESPONSE", { http: 502, grpc: "INTERNAL" }, { http: 500, grpc: "INTERNAL" }],
    [
      "VERSION_NOT_SUPPORTED",
      { http: 400, grpc: "UNIMPLEMENTED" },
      { http: 400, grpc: "FAILED_PRECONDITION" },
    ],
  ]);
});

it("A2A's codes stay in A2A's range and avoid the code that 1.1 uses [C-06]", () => {
  for (const reason of reasons) {
    const { jsonRpc } = ERROR_MAPPINGS[reason];
    const a2a = isDefinedByA2A(reason);
    expect(jsonRpc).not.toBe(-32010);
    expect(jsonRpc <= -32001 && jsonRpc >= -32099).toBe(a2a);
  }
});

describe("every encoded error", () => {
  // These reasons share their status and code with others, and differ only for the sender.
  const onlyByCode: ErrorReason[] = ["PARSE_ERROR", "INVALID_REQUEST", "METHOD_NOT_FOUND"];

  it.each(reasons)("is decoded to the same reason: %s", (reason) => {
    const error = new A2AError(reason, "what happened", {
      metadata: isDefinedByA2A(reason) ? { a: "b" } : {},
    });
    const expected = { reason, message: "what happened", metadata: error.metadata };
    expect(fromJsonRpcError(toJsonRpcError(error))).toMatchObject(expected);
    if (onlyByCode.includes(reason)) return;
    for (const revision of ["1.0.0", "1.0.1"] as const) {
      const { status, body } = toRestError(error, revision);
      expect(fromRestError(status, body)).toMatchObject(expected);
    }
  });

  it("keeps violations, the retry delay, and other details", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.Help", links: [] }];
    const violations = [{ field: "a", description: "b" }];
    const error = new A2AError("INVALID_PARAMS", "m", { violations, details, retryAfter: 1.5 });
    const { status, body } = toRestError(error, "1.0.1");
    expect(fromRestError(status, body)).toMatchObject({ violations, details, retryAfter: 1.5 });
  });
});

describe("an error of another server", () => {
  it("may be problem+json", () => {
    const body = {
      type: "https://a2a-protocol.org/errors/task-not-found",
      title: "Task Not Found",
      detail: "no t",
    };
    expect(fromRestError(404, body)).toMatchObject({ reason: "TASK_NOT_FOUND", message: "no t" });
  });

  it("may be the code and message of 0.3", () => {
    expect(fromRestError(404, { code: -32001, message: "no" })).toMatchObject({
      reason: "TASK_NOT_FOUND",
      code: -32001,
      message: "no",
    });
  });

  it.each([
    [400, "INVALID_PARAMS"],
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
    [404, "NOT_FOUND"],
    [405, "METHOD_NOT_ALLOWED"],
    [409, "TASK_NOT_CANCELABLE"],
    [413, "PAYLOAD_TOO_LARGE"],
    [415, "CONTENT_TYPE_NOT_SUPPORTED"],
    [418, "INVALID_PARAMS"],
    [429, "RESOURCE_EXHAUSTED"],
    [500, "INTERNAL"],
    [502, "UNAVAILABLE"],
    [503, "UNAVAILABLE"],
    [599, "INTERNAL"],
  ] as const)("may be status %d alone: %s", (status, reason) => {
    for (const body of [undefined, null, "<html>", {}, []])
      expect(fromRestError(status, body).reason).toBe(reason);
  });
});
