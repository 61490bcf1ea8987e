import { decodeErrorInfo, decodeStatus as decodeBySdk } from "@a2a-js/sdk/errors/grpc";
import { describe, expect, it } from "vitest";
import { A2AError } from "../../protocol/index.ts";
import { fromGrpcError, toGrpcError } from "../index.ts";
import { truncateStatusMessage, decodeRpcStatus, encodeRpcStatus } from "./rpc-status.ts";

/** Encodes an error as a gRPC status and decodes it again. */
function roundTripError(error: A2AError): A2AError {
  const { status, message, details } = toGrpcError(error, "1.0.1");
  const decoded = decodeRpcStatus(encodeRpcStatus({ code: 9, message, details }));
  return fromGrpcError("GetTask", status, decoded.message, decoded.details);
}

describe("a google.rpc.Status", () => {
  it("preserves an error [E-03]", () => {
    const errors = [
      A2AError.taskNotFound("t"),
      A2AError.invalidParams([
        { field: "message.parts[0]", description: "must have exactly one of text, raw" },
      ]),
      new A2AError("RESOURCE_EXHAUSTED", "Too many.", { retryAfter: 1.5 }),
      new A2AError("UNAUTHENTICATED", "Who are you?"),
    ];
    for (const error of errors) expect(roundTripError(error)).toEqual(error);
  });

  it("is equal in the official SDK [E-03]", () => {
    const { message, details } = toGrpcError(A2AError.taskNotFound("t"), "1.0.1");
    const { code, details: packedDetails } = decodeBySdk(
      Buffer.from(encodeRpcStatus({ code: 5, message, details })),
    );
    expect([code, packedDetails.map(({ typeUrl }) => typeUrl)]).toEqual([
      5,
      ["type.googleapis.com/google.rpc.ErrorInfo"],
    ]);
    expect(decodeErrorInfo(packedDetails[0]!.value)).toEqual({
      reason: "TASK_NOT_FOUND",
      domain: "a2a-protocol.org",
      metadata: { taskId: "t" },
    });
  });

  it("fits into a trailer for any number of violations [E-03]", () => {
    const description = "ü".repeat(300);
    const violations = Array.from({ length: 100 }, (_, at) => ({ field: `parts[${at}]`, description }));
    const details = [{ "@type": "type.example.com/unknown", of: "their sender" }];
    const error = new A2AError("INVALID_PARAMS", "x".repeat(5_000), { violations, details });
    const { message, details: all } = toGrpcError(error, "1.0.1");
    const binary = encodeRpcStatus({ code: 3, message, details: all });
    expect(binary.length).toBeLessThan(4_000);
    expect(truncateStatusMessage(message).length).toBeLessThan(1_000);
    const decoded = roundTripError(error);
    expect(decoded.violations.length).toBeGreaterThan(2);
    expect(decoded.violations).toEqual(violations.slice(0, decoded.violations.length));
  });
});
