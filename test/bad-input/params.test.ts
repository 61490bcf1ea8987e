import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  listViolatedFields,
  createValidMessage,
  startTestEndpoint,
  requireTask,
  type TestEndpoint,
} from "./test-endpoint.ts";

/** Invalid values for `message`, each with the field that the error must name. */
const INVALID_MESSAGES: readonly [what: string, message: unknown, field: string][] = [
  ["no message at all", undefined, "message"],
  ["a message that is null", null, "message"],
  ["a message that is text", "hello", "message"],
  ["a message that is a list", [], "message"],
  ["no messageId", { messageId: undefined }, "message.messageId"],
  ["an empty messageId", { messageId: "" }, "message.messageId"],
  ["a messageId of null", { messageId: null }, "message.messageId"],
  ["a messageId that is a number", { messageId: 5 }, "message.messageId"],
  ["no role", { role: undefined }, "message.role"],
  ["the role of an agent", { role: "ROLE_AGENT" }, "message.role"],
  ["a role of version 0.3", { role: "user" }, "message.role"],
  ["an unspecified role", { role: "ROLE_UNSPECIFIED" }, "message.role"],
  ["a role with an unknown number", { role: 7 }, "message.role"],
  ["no parts", { parts: undefined }, "message.parts"],
  ["an empty list of parts", { parts: [] }, "message.parts"],
  ["parts that are text", { parts: "hello" }, "message.parts"],
  ["a part that is null", { parts: [null] }, "message.parts[0]"],
  ["a part that is text", { parts: ["hello"] }, "message.parts[0]"],
  ["a part without content", { parts: [{}] }, "message.parts[0]"],
  ["a part with metadata alone", { parts: [{ metadata: { a: 1 } }] }, "message.parts[0]"],
  ["a part of version 0.3", { parts: [{ kind: "file", file: { uri: "https://a.b" } }] }, "message.parts[0]"],
  ["a part with two contents", { parts: [{ text: "a", url: "https://a.b" }] }, "message.parts[0]"],
  ["text that is a number", { parts: [{ text: 5 }] }, "message.parts[0].text"],
  ["bytes that are no base64", { parts: [{ raw: "%%%" }] }, "message.parts[0].raw"],
  ["a bad part behind a good one", { parts: [{ text: "a" }, {}] }, "message.parts[1]"],
  ["metadata that is a list", { metadata: [] }, "message.metadata"],
  ["a field under both of its names", { message_id: "other" }, "message.messageId"],
  ["reference ids with a null", { referenceTaskIds: [null] }, "message.referenceTaskIds[0]"],
];

/** Invalid values for `configuration`. */
const INVALID_CONFIGURATIONS: readonly [what: string, configuration: unknown, field: string][] = [
  ["a configuration that is a list", [], "configuration"],
  ["a negative historyLength", { historyLength: -1 }, "configuration.historyLength"],
  ["a fractional historyLength", { historyLength: 5.5 }, "configuration.historyLength"],
  ["a boolean historyLength", { historyLength: true }, "configuration.historyLength"],
  ["a historyLength of more than 32 bits", { historyLength: 2 ** 31 }, "configuration.historyLength"],
  ["a historyLength in words", { historyLength: "many" }, "configuration.historyLength"],
  ["a boolean in quotes", { returnImmediately: "true" }, "configuration.returnImmediately"],
  ["media types with a number", { acceptedOutputModes: [5] }, "configuration.acceptedOutputModes[0]"],
];

/** Invalid parameters of operations whose REST binding uses the query. */
const INVALID_QUERIES: readonly [
  operation: "GetTask" | "ListTasks",
  params: Record<string, unknown>,
  field: string,
][] = [
  ["GetTask", { historyLength: -1 }, "historyLength"],
  ["GetTask", { historyLength: 1.5 }, "historyLength"],
  ["GetTask", { historyLength: "x" }, "historyLength"],
  ["ListTasks", { pageSize: 0 }, "pageSize"],
  ["ListTasks", { pageSize: -5 }, "pageSize"],
  ["ListTasks", { pageSize: 101 }, "pageSize"],
  ["ListTasks", { pageSize: "ten" }, "pageSize"],
  ["ListTasks", { pageToken: "made up" }, "pageToken"],
  ["ListTasks", { status: "TASK_STATE_BORED" }, "status"],
  ["ListTasks", { status: "completed" }, "status"],
  ["ListTasks", { statusTimestampAfter: "yesterday" }, "statusTimestampAfter"],
  ["ListTasks", { statusTimestampAfter: "2026-01-01" }, "statusTimestampAfter"],
  ["ListTasks", { includeArtifacts: "TRUE" }, "includeArtifacts"],
  ["ListTasks", { historyLength: -1 }, "historyLength"],
];

describe("parameters that are not valid", () => {
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startTestEndpoint();
  });
  afterAll(() => endpoint.server.close());

  const requests = [
    ...INVALID_MESSAGES.map(
      ([name, message, field]) => [name, { message: mergeWithMessage(message) }, field] as const,
    ),
    ...INVALID_CONFIGURATIONS.map(
      ([name, configuration, field]) =>
        [name, { message: createValidMessage(), configuration }, field] as const,
    ),
  ];

  describe.each(["SendMessage", "SendStreamingMessage"])("of %s", (operation) => {
    it.each(requests)(
      "are refused with their field over JSON-RPC: %s [F-10, C-05, C-06, C-12]",
      async (_, params, field) => {
        const { status, headers, body } = await endpoint.callJsonRpc(operation, params);
        expect({ status, type: headers.get("content-type"), code: body.error?.code }).toEqual({
          status: 200,
          type: "application/json",
          code: -32602,
        });
        expect(listViolatedFields(body)).toContain(field);
        await endpoint.assertStillAnswers();
      },
    );

    it.each(requests)(
      "are refused with their field over HTTP+JSON: %s [F-10, D-03, D-04]",
      async (_, params, field) => {
        const path = operation === "SendMessage" ? "/message:send" : "/message:stream";
        const { status, body } = await endpoint.callRest("POST", path, params);
        expect({ status, error: body.error }).toMatchObject({
          status: 400,
          error: { code: 400, status: "INVALID_ARGUMENT" },
        });
        expect(listViolatedFields(body)).toContain(field);
        await endpoint.assertStillAnswers();
      },
    );
  });

  it.each(INVALID_QUERIES)(
    "of %s are refused with their field: %j [F-31, F-33, F-37, F-38, D-02]",
    async (operation, params, field) => {
      const requestParams = operation === "GetTask" ? { id: "none", ...params } : params;
      const rpc = await endpoint.callJsonRpc(operation, requestParams);
      expect(rpc.body.error?.code).toBe(-32602);
      expect(listViolatedFields(rpc.body)).toEqual([field]);

      const query = new URLSearchParams(
        Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
      );
      const rest = await endpoint.callRest(
        "GET",
        `${operation === "GetTask" ? "/tasks/none" : "/tasks"}?${query.toString()}`,
      );
      expect(rest.status).toBe(400);
      expect(listViolatedFields(rest.body)).toEqual([field]);
      await endpoint.assertStillAnswers();
    },
  );

  it.each(["GetTask", "CancelTask", "SubscribeToTask"])(
    "of %s are refused without an id [F-10]",
    async (operation) => {
      for (const params of [undefined, {}, { id: "" }, { id: null }]) {
        const { body } = await endpoint.callJsonRpc(operation, params);
        expect(body.error?.code).toBe(-32602);
        expect(listViolatedFields(body)).toEqual(["id"]);
      }
      await endpoint.assertStillAnswers();
    },
  );

  it("are all named at once [D-04]", async () => {
    const params = { message: { parts: [{}, { raw: "%" }] }, configuration: { historyLength: -1 } };
    const fields = [
      "message.messageId",
      "message.role",
      "message.parts[0]",
      "message.parts[1].raw",
      "configuration.historyLength",
    ];
    const rpc = await endpoint.callJsonRpc("SendMessage", params);
    const rest = await endpoint.callRest("POST", "/message:send", params);
    expect(listViolatedFields(rpc.body).toSorted()).toEqual(fields.toSorted());
    expect(listViolatedFields(rest.body).toSorted()).toEqual(fields.toSorted());
  });

  it("with hostile keys never pollute prototypes", async () => {
    const metadata = JSON.parse(`{"__proto__":{"polluted":true},"constructor":{"a":1}}`) as object;
    const { body } = await endpoint.callJsonRpc("SendMessage", {
      message: { ...createValidMessage(), metadata },
    });
    expect(JSON.stringify(requireTask(body).history?.[0]?.metadata)).toBe(JSON.stringify(metadata));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("unusual but valid input", () => {
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startTestEndpoint();
  });
  afterAll(() => endpoint.server.close());

  it.each([
    ["a data part of null, which stays", { data: null }, { data: null }],
    ["a second content of null", { text: "a", url: null }, { text: "a" }],
    ["empty text", { text: "" }, { text: "" }],
    ["base64 for URLs, without padding", { raw: "_-8" }, { raw: "/+8=" }],
    ["unknown fields", { text: "a", kind: "text", later: 1 }, { text: "a" }],
    [
      "names in snake case",
      { url: "https://a.b/c", media_type: "text/plain" },
      { url: "https://a.b/c", mediaType: "text/plain" },
    ],
  ])("is accepted in a part: %s", async (_, part, kept) => {
    for (const answer of [
      await endpoint.callJsonRpc("SendMessage", { message: { ...createValidMessage(), parts: [part] } }),
      await endpoint.callRest("POST", "/message:send", {
        message: { ...createValidMessage(), parts: [part] },
      }),
    ]) {
      expect(requireTask(answer.body).history?.[0]?.parts).toEqual([kept]);
    }
  });

  it("is accepted in numbers, enums and names of fields", async () => {
    const { messageId, parts } = createValidMessage();
    const message = { message_id: messageId, role: 1, parts };
    const configuration = { history_length: "0", return_immediately: false };
    const { body } = await endpoint.callJsonRpc("SendMessage", { message, configuration });
    expect(requireTask(body)).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    expect(requireTask(body)).not.toHaveProperty("history");
  });
});

/** Merges fields into a valid message. A value that is not an object replaces the entire message. */
function mergeWithMessage(fields: unknown): unknown {
  return typeof fields === "object" && fields !== null && !Array.isArray(fields)
    ? { ...createValidMessage(), ...fields }
    : fields;
}
