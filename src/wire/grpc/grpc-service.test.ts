import { A2AService } from "a2a-js-sdk-0.3/server/grpc";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as wire from "../v0_3/index.ts";
import { eventArbitrary, isPreservedByOfficialSdk } from "./event-arbitraries.fixture.ts";
import { GRPC_SERVICE_V0_3 } from "./grpc-service.ts";
import { countRuns } from "../../../test/support/count-runs.ts";

const { protoDialect: proto } = wire;

describe("a message of 0.3", () => {
  it("is interchangeable with the official SDK in both directions", () => {
    const { response } = GRPC_SERVICE_V0_3.methods.SendStreamingMessage!;
    const { responseDeserialize: read, responseSerialize: write } = A2AService.sendStreamingMessage;
    // The official SDK converts `null` to 0.
    const preservedEvents = eventArbitrary.filter(
      (event) => isPreservedByOfficialSdk(event) && !JSON.stringify(event).includes("null"),
    );
    fc.assert(
      fc.property(preservedEvents, (event) => {
        const json = proto.toProtoResponseMessage("SendStreamingMessage", event);
        const ours = Buffer.from(response.encode(json));
        const theirs = response.decode(write(read(ours)));
        expect(theirs).toEqual(response.decode(ours));
        // Members that 0.3 does not have are dropped, as in its ProtoJSON.
        expect(proto.decodeResult("SendStreamingMessage", theirs)).toEqual(
          proto.decodeResult("SendStreamingMessage", JSON.parse(JSON.stringify(json))),
        );
      }),
      { numRuns: countRuns(10, 300) },
    );
  });

  it.each([
    [
      "SendMessage",
      "sendMessage",
      {
        message: {
          messageId: "m",
          role: "ROLE_USER",
          content: [{ file: { fileWithUri: "u", mimeType: "a/b" } }],
        },
        configuration: {
          acceptedOutputModes: ["a/b"],
          pushNotification: {
            id: "i",
            url: "u",
            token: "t",
            authentication: { schemes: ["Bearer"], credentials: "c" },
          },
          historyLength: 2,
          blocking: true,
        },
        metadata: { a: 1 },
      },
    ],
    ["GetTask", "getTask", { name: "tasks/t", historyLength: 3 }],
    ["CancelTask", "cancelTask", { name: "tasks/t" }],
    ["SubscribeToTask", "taskSubscription", { name: "tasks/t" }],
    ["GetExtendedAgentCard", "getAgentCard", {}],
    [
      "CreateTaskPushNotificationConfig",
      "createTaskPushNotificationConfig",
      {
        parent: "tasks/t",
        configId: "c",
        config: { name: "tasks/t/pushNotificationConfigs/c", pushNotificationConfig: { url: "u" } },
      },
    ],
    [
      "GetTaskPushNotificationConfig",
      "getTaskPushNotificationConfig",
      { name: "tasks/t/pushNotificationConfigs/c" },
    ],
    [
      "ListTaskPushNotificationConfigs",
      "listTaskPushNotificationConfig",
      { parent: "tasks/t", pageSize: 2, pageToken: "p" },
    ],
    [
      "DeleteTaskPushNotificationConfig",
      "deleteTaskPushNotificationConfig",
      { name: "tasks/t/pushNotificationConfigs/c" },
    ],
  ] as const)("has the path and fields of the official SDK in the request %s", (operation, name, request) => {
    const method = GRPC_SERVICE_V0_3.methods[operation]!;
    const sdk = A2AService[name];
    expect([method.path, method.isStreaming]).toEqual([sdk.path, sdk.responseStream]);
    const binary = Buffer.from(method.request.encode(request));
    expect(method.request.decode(binary)).toEqual(request);
    const write = sdk.requestSerialize as (value: unknown) => Buffer;
    expect(method.request.decode(write(sdk.requestDeserialize(binary)))).toEqual(request);
  });

  it("encodes an agent card in the fields of the official SDK", () => {
    const { response } = GRPC_SERVICE_V0_3.methods.GetExtendedAgentCard!;
    const card = {
      protocolVersion: "0.3.0",
      name: "n",
      description: "d",
      url: "u",
      preferredTransport: "GRPC",
      additionalInterfaces: [{ url: "u", transport: "GRPC" }],
      provider: { url: "u", organization: "o" },
      version: "1",
      documentationUrl: "u",
      capabilities: {
        streaming: true,
        pushNotifications: true,
        extensions: [{ uri: "urn:x", description: "x", required: true, params: { a: 1 } }],
      },
      securitySchemes: {
        key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
        oauth: {
          oauth2SecurityScheme: {
            flows: { authorizationCode: { authorizationUrl: "a", tokenUrl: "t", scopes: { r: "read" } } },
          },
        },
      },
      security: [{ schemes: { oauth: { list: ["r"] } } }],
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "s", name: "s", description: "s", tags: ["t"], security: [{ schemes: { key: {} } }] }],
      supportsAuthenticatedExtendedCard: true,
      signatures: [{ protected: "p", signature: "s", header: { kid: "k" } }],
    };
    const binary = Buffer.from(response.encode(card));
    expect(response.decode(binary)).toEqual(card);
    const { responseDeserialize, responseSerialize } = A2AService.getAgentCard;
    expect(response.decode(responseSerialize(responseDeserialize(binary)))).toEqual(card);
  });

  it("decodes a configuration without `blocking` as non-blocking", () => {
    const { request } = GRPC_SERVICE_V0_3.methods.SendMessage!;
    const sent = { message: { messageId: "m", role: "ROLE_USER", content: [{ text: "x" }] } };
    const decode = (json: object): unknown =>
      proto.decodeParams("SendMessage", request.decode(request.encode(json))).configuration;
    expect(decode(sent)).toBeUndefined();
    expect(decode({ ...sent, configuration: {} })).toMatchObject({ returnImmediately: true });
    expect(decode({ ...sent, configuration: { blocking: true } })).not.toMatchObject({
      returnImmediately: true,
    });
  });
});
