import { describe, expect, it } from "vitest";
import { A2AError } from "../../protocol/index.ts";
import { decodeParams } from "./index.ts";

const hello = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] };

function decodeSend(message: unknown, rest: object = {}): unknown {
  return decodeParams("SendMessage", { message, ...rest });
}

function decodePart(json: unknown): unknown {
  return decodeParams("SendMessage", { message: { ...hello, parts: [json] } }).message.parts[0];
}

function nestArrays(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

function collectViolations(run: () => unknown): Record<string, string> {
  try {
    run();
  } catch (error) {
    if (error instanceof A2AError && error.reason === "INVALID_PARAMS") {
      return Object.fromEntries(error.violations.map(({ field, description }) => [field, description]));
    }
    throw error;
  }
  return {};
}

describe("a message from a client", () => {
  it("is decoded unchanged when it is valid", () => {
    expect(decodeSend(hello, { configuration: { returnImmediately: true, historyLength: 0 } })).toEqual({
      message: hello,
      configuration: { returnImmediately: true, historyLength: 0 },
    });
  });

  it("is rejected with every violation and its path [F-10] [D-04]", () => {
    expect(
      collectViolations(() =>
        decodeParams("SendMessage", {
          message: {
            messageId: "",
            role: "user",
            parts: [{}, { text: "a", raw: "AA==" }, { raw: "?" }, null],
          },
          configuration: { historyLength: -1 },
        }),
      ),
    ).toEqual({
      "message.messageId": "must not be empty",
      "message.role": 'must be one of ROLE_USER, ROLE_AGENT, not "user"; did you mean ROLE_USER?',
      "message.parts[0]": "must have exactly one of text, raw, url, data",
      "message.parts[1]": "has both text and raw; send exactly one of text, raw, url, data",
      "message.parts[2].raw": "is not base64; encode the bytes with A–Z a–z 0–9 + / and =",
      "message.parts[3]": "must not be null; leave the element out",
      "configuration.historyLength": "must be 0 or more, not -1; leave it out for the entire history",
    });
  });

  it("must be present, with an id, a role, and at least one part [F-10]", () => {
    expect(collectViolations(() => decodeParams("SendMessage", {}))).toEqual({ message: "is required" });
    expect(collectViolations(() => decodeSend({}))).toEqual({
      "message.messageId": "is required",
      "message.role": "is required",
      "message.parts": "is required",
    });
    expect(collectViolations(() => decodeSend({ ...hello, parts: [] }))).toEqual({
      "message.parts": "must have at least one element",
    });
  });

  it("must have the role of the user, not of the agent [F-10]", () => {
    expect(collectViolations(() => decodeSend({ ...hello, role: "ROLE_AGENT" }))).toHaveProperty(
      "message.role",
    );
    expect(collectViolations(() => decodeSend({ ...hello, role: 2 }))).toHaveProperty("message.role");
    expect(collectViolations(() => decodeSend({ ...hello, role: "ROLE_UNSPECIFIED" }))).toEqual({
      "message.role": "is required",
    });
  });

  it("must be an object", () => {
    expect(collectViolations(() => decodeSend("hello"))).toEqual({
      message: 'must be an object with named members, not "hello"',
    });
    expect(collectViolations(() => decodeParams("SendMessage", []))).toEqual({
      params: "must be an object with named members, not an array",
    });
  });
});

describe("ProtoJSON", () => {
  it("accepts snake_case names and integer enums [C-02]", () => {
    const snake = {
      message: { message_id: "m-1", role: 1, parts: [{ text: "x", media_type: "text/plain" }] },
      configuration: { history_length: "5", return_immediately: true },
    };
    expect(decodeParams("SendMessage", snake)).toEqual({
      message: { ...hello, parts: [{ text: "x", mediaType: "text/plain" }] },
      configuration: { historyLength: 5, returnImmediately: true },
    });
  });

  it("rejects a member under both of its names", () => {
    expect(collectViolations(() => decodeSend({ ...hello, message_id: "m-2" }))).toEqual({
      "message.messageId": "is present twice, as messageId and as message_id; send only one",
    });
  });

  it("treats null as not set, except in data, where it is a value", () => {
    expect(decodeSend({ ...hello, contextId: null, metadata: null })).toEqual({ message: hello });
    expect(collectViolations(() => decodeSend({ ...hello, messageId: null }))).toEqual({
      "message.messageId": "is required",
    });
    expect(decodePart({ data: null })).toEqual({ data: null });
    expect(decodePart({ text: "a", url: null })).toEqual({ text: "a" });
    expect(collectViolations(() => decodePart({ text: "a", data: null }))).toHaveProperty("message.parts[0]");
  });

  it("accepts empty text and empty bytes as content", () => {
    expect(decodePart({ text: "" })).toEqual({ text: "" });
    expect(decodePart({ raw: "" })).toEqual({ raw: "" });
  });

  it("omits empty optional members", () => {
    expect(decodeSend({ ...hello, contextId: "", taskId: "", extensions: [] }, { tenant: "" })).toEqual({
      message: hello,
    });
  });

  it("ignores unknown members", () => {
    expect(
      decodeSend({ ...hello, kind: "message", parts: [{ kind: "text", text: "hello" }] }, { x: 1 }),
    ).toEqual({
      message: hello,
    });
  });

  it.each([5, 5.0, "5", "5.0"])("decodes %j as the number 5", (historyLength) => {
    expect(decodeParams("GetTask", { id: "t", historyLength })).toEqual({ id: "t", historyLength: 5 });
  });

  it.each([5.5, true, "five", "", "5.5", 2 ** 31, -(2 ** 31) - 1, Infinity, [], {}, "0x5", " 5"])(
    "rejects %j as a number",
    (historyLength) => {
      const wrong = () => decodeParams("GetTask", { id: "t", historyLength });
      expect(collectViolations(wrong)).toHaveProperty("historyLength");
    },
  );

  it("accepts only true and false as a boolean", () => {
    expect(
      collectViolations(() => decodeSend(hello, { configuration: { returnImmediately: "true" } })),
    ).toEqual({
      "configuration.returnImmediately": 'must be true or false, not "true"',
    });
    expect(collectViolations(() => decodeParams("ListTasks", { includeArtifacts: 1 }))).toHaveProperty(
      "includeArtifacts",
    );
  });

  it.each([
    ["+/+/", "+/+/"],
    ["-_-_", "+/+/"],
    ["YWI=", "YWI="],
    ["YWI", "YWI="],
    ["YQ", "YQ=="],
    ["_w", "/w=="],
    ["_w==", "/w=="],
  ])("decodes base64 %s as %s", (raw, standard) => {
    expect(decodePart({ raw })).toEqual({ raw: standard });
  });

  it.each(["!", "a", "YWI==", "Y=WI", "====", "YQ=", "YW I=", "YWJj=", "é"])(
    "rejects %s as base64",
    (raw) => {
      expect(collectViolations(() => decodePart({ raw }))).toHaveProperty(["message.parts[0].raw"]);
    },
  );

  it("decodes megabytes of base64", () => {
    const raw = "QUJD".repeat(2_000_000);
    expect(decodePart({ raw })).toEqual({ raw });
  });

  it.each([
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500Z"],
    ["2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.123Z"],
    ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z"],
    ["2026-01-31T23:30:00-01:30", "2026-02-01T01:00:00.000Z"],
  ])("decodes the time %s as %s", (statusTimestampAfter, utc) => {
    expect(decodeParams("ListTasks", { statusTimestampAfter })).toEqual({ statusTimestampAfter: utc });
  });

  it.each([
    "2026-01-31",
    "2026-02-30T00:00:00Z",
    "2026-01-31T25:00:00Z",
    "2026-01-31T12:00:00",
    // In UTC, the years would be 10000 and -1, which RFC 3339 cannot express.
    "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00+01:00",
    "yesterday",
    5,
  ])("rejects %j as a time", (statusTimestampAfter) => {
    const wrong = () => decodeParams("ListTasks", { statusTimestampAfter });
    expect(collectViolations(wrong)).toHaveProperty("statusTimestampAfter");
  });

  it("rejects unpaired surrogates in any place", () => {
    expect(collectViolations(() => decodePart({ text: "\ud800" }))).toHaveProperty(["message.parts[0].text"]);
    expect(collectViolations(() => decodePart({ data: { a: ["\udc00"] } }))).toHaveProperty([
      "message.parts[0].data.a[0]",
    ]);
    expect(decodePart({ text: "🙂" })).toEqual({ text: "🙂" });
  });

  it("rejects numbers that exceed a double", () => {
    const json: unknown = JSON.parse('{"data": {"big": 1e999}}');
    expect(collectViolations(() => decodePart(json))).toHaveProperty(["message.parts[0].data.big"]);
  });

  it("rejects deep nesting without a stack overflow [M-08]", () => {
    expect(decodePart({ data: nestArrays(100) })).toEqual({ data: nestArrays(100) });
    expect(Object.values(collectViolations(() => decodePart({ data: nestArrays(101) })))).toEqual([
      "is nested deeper than 100 levels; flatten it",
    ]);
    expect(collectViolations(() => decodePart({ data: nestArrays(200_000) }))).not.toEqual({});
  });

  it("keeps __proto__ and constructor in metadata as plain keys", () => {
    const json = '{"__proto__":{"polluted":true},"constructor":1}';
    const { message } = decodeParams("SendMessage", {
      message: { ...hello, metadata: JSON.parse(json) as unknown },
    });
    expect(JSON.stringify(message.metadata)).toBe(json);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const envelope: unknown = JSON.parse('{"__proto__":{"id":"stolen"},"toString":1}');
    expect(collectViolations(() => decodeParams("GetTask", envelope))).toEqual({ id: "is required" });
  });

  it("reports at most 20 violations, and the number of the others", () => {
    const parts = Array.from({ length: 1_000 }, () => ({}));
    expect(Object.keys(collectViolations(() => decodeSend({ ...hello, parts })))).toHaveLength(20);
    expect(() => decodeSend({ ...hello, parts })).toThrow("(and 999 more)");
  });

  it("rejects a message with more than 1,000 parts, without a look at the parts", () => {
    const createParts = (length: number): object[] => Array.from({ length }, () => ({ text: "a" }));
    expect(decodeSend({ ...hello, parts: createParts(1_000) })).toMatchObject({
      message: { parts: createParts(1_000) },
    });
    const unreadPart = {
      get text(): string {
        throw new Error("The part was read.");
      },
    };
    const parts = Array.from({ length: 1_001 }, () => unreadPart);
    expect(collectViolations(() => decodeSend({ ...hello, parts }))).toEqual({
      "message.parts": "has 1001 elements; send at most 1000",
    });
  });
});

describe("a list request", () => {
  it("needs no parameters [C-09]", () => {
    expect(decodeParams("ListTasks", {})).toEqual({});
  });

  it.each([0, -1, 101])("rejects a page size of %d [F-33]", (pageSize) => {
    expect(collectViolations(() => decodeParams("ListTasks", { pageSize }))).toEqual({
      pageSize: `must be 1 to 100, not ${pageSize}`,
    });
  });

  it("treats an unspecified status as no filter [F-36]", () => {
    expect(decodeParams("ListTasks", { status: "TASK_STATE_UNSPECIFIED" })).toEqual({});
    expect(decodeParams("ListTasks", { status: 0 })).toEqual({});
    expect(decodeParams("ListTasks", { status: 6 })).toEqual({ status: "TASK_STATE_INPUT_REQUIRED" });
  });

  it("rejects an unknown status [F-38]", () => {
    expect(collectViolations(() => decodeParams("ListTasks", { status: "input-required" })).status).toContain(
      "did you mean TASK_STATE_INPUT_REQUIRED?",
    );
    expect(collectViolations(() => decodeParams("ListTasks", { status: 9 }))).toHaveProperty("status");
  });
});

it("rejects a negative history length and an empty id together [F-31]", () => {
  expect(collectViolations(() => decodeParams("GetTask", { id: "", historyLength: -1 }))).toEqual({
    id: "must not be empty",
    historyLength: "must be 0 or more, not -1; leave it out for the entire history",
  });
});
