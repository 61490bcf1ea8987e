import { A2AService } from "@a2a-js/sdk/server/grpc";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import * as wire from "../v1/index.ts";
import { eventArbitrary, isPreservedByOfficialSdk, taskArbitrary } from "./event-arbitraries.fixture.ts";
import { createMessageCodecs } from "./message-codec.ts";
import { GRPC_SERVICE_V1 } from "./grpc-service.ts";
import { countRuns } from "../../../test/support/count-runs.ts";

const STREAM_RESPONSE = GRPC_SERVICE_V1.methods.SendStreamingMessage!.response;
const TASK = GRPC_SERVICE_V1.methods.GetTask!.response;

describe("a message of 1.0", () => {
  it("is preserved by a binary round trip with any content [E-01]", () => {
    fc.assert(
      fc.property(eventArbitrary, (event) => {
        const read = STREAM_RESPONSE.decode(STREAM_RESPONSE.encode(event));
        expect(read).toEqual(event);
        expect(wire.decodeResult("SubscribeToTask", read)).toEqual(event);
      }),
    );
  });

  it("is interchangeable with the official SDK in both directions [E-01]", () => {
    const { responseDeserialize: read, responseSerialize: write } = A2AService.sendStreamingMessage;
    fc.assert(
      fc.property(eventArbitrary, (event) => {
        fc.pre(isPreservedByOfficialSdk(event));
        const theirs = write(read(Buffer.from(STREAM_RESPONSE.encode(event))));
        expect(STREAM_RESPONSE.decode(theirs)).toEqual(event);
      }),
      { numRuns: countRuns(25, 200) },
    );
    const { responseDeserialize, responseSerialize } = A2AService.getTask;
    fc.assert(
      fc.property(taskArbitrary, (task) => {
        fc.pre(isPreservedByOfficialSdk(task));
        const theirs = responseSerialize(responseDeserialize(Buffer.from(TASK.encode(task))));
        expect(TASK.decode(theirs)).toEqual(task);
      }),
      { numRuns: countRuns(25, 200) },
    );
  });

  it("encodes an agent card with all of its members", () => {
    const card = {
      name: "n",
      description: "d",
      supportedInterfaces: [{ url: "h:1", protocolBinding: "GRPC", tenant: "t", protocolVersion: "1.0" }],
      provider: { url: "u", organization: "o" },
      version: "1",
      documentationUrl: "",
      capabilities: {
        streaming: false,
        pushNotifications: true,
        extensions: [{ uri: "urn:x", description: "x", required: true, params: { a: [null, 1] } }],
        extendedAgentCard: true,
      },
      securitySchemes: {
        key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
        http: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
        oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: "u" } },
        mtls: { mtlsSecurityScheme: { description: "m" } },
        oauth: {
          oauth2SecurityScheme: {
            flows: {
              authorizationCode: {
                authorizationUrl: "a",
                tokenUrl: "t",
                scopes: { r: "read" },
                pkceRequired: true,
              },
            },
            oauth2MetadataUrl: "m",
          },
        },
        code: {
          oauth2SecurityScheme: {
            flows: { deviceCode: { deviceAuthorizationUrl: "d", tokenUrl: "t", scopes: { r: "" } } },
          },
        },
        client: {
          oauth2SecurityScheme: {
            flows: { clientCredentials: { tokenUrl: "t", refreshUrl: "r", scopes: { r: "x" } } },
          },
        },
        implicit: {
          oauth2SecurityScheme: { flows: { implicit: { authorizationUrl: "a", scopes: { r: "x" } } } },
        },
        password: { oauth2SecurityScheme: { flows: { password: { tokenUrl: "t", scopes: { r: "x" } } } } },
      },
      securityRequirements: [{ schemes: { oauth: { list: ["r"] }, key: {} } }],
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [
        {
          id: "s",
          name: "s",
          description: "s",
          tags: ["t"],
          examples: ["e"],
          inputModes: ["text/plain"],
          outputModes: ["text/plain"],
          securityRequirements: [{ schemes: { key: {} } }],
        },
      ],
      signatures: [{ protected: "p", signature: "s", header: { kid: "k" } }],
      iconUrl: "i",
    };
    const type = GRPC_SERVICE_V1.methods.GetExtendedAgentCard!.response;
    const binary = Buffer.from(type.encode(card));
    expect(type.decode(binary)).toEqual(card);
    const { responseDeserialize, responseSerialize } = A2AService.getExtendedAgentCard;
    expect(type.decode(responseSerialize(responseDeserialize(binary)))).toEqual(card);
  });

  it.each([
    [
      "ListTasks",
      "listTasks",
      {
        tenant: "t",
        contextId: "c",
        status: "TASK_STATE_WORKING",
        pageSize: 0,
        pageToken: "p",
        historyLength: 0,
        statusTimestampAfter: "2026-01-31T12:00:00.123Z",
        includeArtifacts: false,
      },
    ],
    ["GetTask", "getTask", { tenant: "t", id: "i", historyLength: 3 }],
    ["CancelTask", "cancelTask", { tenant: "t", id: "i", metadata: { why: null } }],
    ["SubscribeToTask", "subscribeToTask", { tenant: "t", id: "i" }],
    [
      "CreateTaskPushNotificationConfig",
      "createTaskPushNotificationConfig",
      {
        tenant: "t",
        id: "i",
        taskId: "x",
        url: "u",
        token: "k",
        authentication: { scheme: "Bearer", credentials: "c" },
      },
    ],
    ["GetTaskPushNotificationConfig", "getTaskPushNotificationConfig", { tenant: "t", taskId: "x", id: "i" }],
    [
      "DeleteTaskPushNotificationConfig",
      "deleteTaskPushNotificationConfig",
      { tenant: "t", taskId: "x", id: "i" },
    ],
    [
      "ListTaskPushNotificationConfigs",
      "listTaskPushNotificationConfigs",
      { taskId: "x", pageSize: 2, pageToken: "p", tenant: "t" },
    ],
    [
      "SendMessage",
      "sendMessage",
      {
        tenant: "t",
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "" }] },
        configuration: {
          acceptedOutputModes: ["a/b"],
          taskPushNotificationConfig: { url: "u" },
          historyLength: 0,
          returnImmediately: true,
        },
        metadata: { a: 1 },
      },
    ],
  ] as const)(
    "has the path and fields of the official SDK in the request %s [E-01]",
    (operation, name, request) => {
      const method = GRPC_SERVICE_V1.methods[operation]!;
      const sdk = A2AService[name];
      expect([method.path, method.isStreaming]).toEqual([sdk.path, sdk.responseStream]);
      const binary = Buffer.from(method.request.encode(request));
      expect(method.request.decode(binary)).toEqual(request);
      const write = sdk.requestSerialize as (value: unknown) => Buffer;
      expect(method.request.decode(write(sdk.requestDeserialize(binary)))).toEqual(request);
    },
  );
});

describe("a reader", () => {
  const types = createMessageCodecs(
    {
      Outer:
        "inner=1:Inner |text=2 |other=3:Inner names=4:{string} at=5:Timestamp state=6:State any=7:Value count=8:int32",
      Inner: "a=1 b=2",
    },
    { State: ["NONE", "ON"] },
  );
  const outer = types("Outer");
  const written = (write: (writer: BinaryWriter) => unknown): Uint8Array => {
    const writer = new BinaryWriter();
    write(writer);
    return writer.finish();
  };

  it("skips unknown fields and fields of another wire type", () => {
    const binary = written((writer) =>
      writer
        .tag(99, WireType.Varint)
        .uint32(1)
        .tag(2, WireType.Varint)
        .uint32(1)
        .tag(98, WireType.Bit64)
        .double(1)
        .raw(outer.encode({ count: 5 })),
    );
    expect(outer.decode(binary)).toEqual({ count: 5 });
  });

  it("merges a message that arrives in pieces, and keeps the last member of a oneof", () => {
    const binary = Buffer.concat([
      outer.encode({ inner: { a: "1" }, text: "t", names: { x: "1" } }),
      outer.encode({ inner: { b: "2" }, other: { a: "o" }, names: { y: "2" } }),
      outer.encode({ other: { b: "p" } }),
    ]);
    expect(outer.decode(binary)).toEqual({
      inner: { a: "1", b: "2" },
      other: { a: "o", b: "p" },
      names: { x: "1", y: "2" },
    });
  });

  it("leaves values that A2A does not allow to the JSON decoder", () => {
    const unknown = written((writer) => writer.tag(6, WireType.Varint).int32(7));
    expect(outer.decode(unknown)).toEqual({ state: 7 });
    const far = written((writer) =>
      writer.tag(5, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64("999999999999999").join(),
    );
    expect(outer.decode(far)).toEqual({ at: "999999999999999s" });
    expect(() => wire.decodeParams("ListTasks", { statusTimestampAfter: "999999999999999s" })).toThrow(
      /must be a time/,
    );
  });

  it("accepts any map key, including __proto__", () => {
    const any = JSON.parse(`{"__proto__":{"a":1},"constructor":2}`) as object;
    const read = outer.decode(outer.encode({ any, names: JSON.parse(`{"__proto__":"x"}`) as object }));
    expect(JSON.stringify(read)).toBe(
      `{"names":{"__proto__":"x"},"any":{"__proto__":{"a":1},"constructor":2}}`,
    );
  });

  it("rejects truncated bytes, invalid UTF-8, and deep nesting", () => {
    const encoded = outer.encode({ inner: { a: "abc" } });
    expect(() => outer.decode(encoded.subarray(0, -1))).toThrow(/beyond the end/);
    expect(() => outer.decode(new Uint8Array([0x12, 0x02, 0xc3, 0x28]))).toThrow(/valid/);
    const invalidLength = new Uint8Array([0x0a, 0x02, 0x0a, 0x05, 0x41, 0x41, 0x41, 0x41, 0x41]);
    expect(() => outer.decode(invalidLength)).toThrow(/beyond the end/);
    const nested = (depth: number): JsonValue => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(outer.decode(outer.encode({ any: nested(100) }))).toEqual({ any: nested(100) });
    expect(() => outer.decode(outer.encode({ any: nested(101) }))).toThrow(/deeper than 100/);
  });

  it("decodes any bytes or throws an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        for (const type of [outer, STREAM_RESPONSE]) {
          try {
            expect(typeof type.decode(bytes)).toBe("object");
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
