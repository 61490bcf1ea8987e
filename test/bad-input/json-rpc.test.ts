import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  listViolatedFields,
  createValidMessage,
  startTestEndpoint,
  findErrorReason,
  type TestEndpoint,
} from "./test-endpoint.ts";

const formatJson = (value: unknown): string => JSON.stringify(value);
const getTaskRequest = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } };

const INVALID_ENVELOPES: readonly [what: string, body: string, fields: string[], id: unknown][] = [
  ["an empty body", "", ["request"], null],
  ["white space", " \n", ["request"], null],
  ["a batch", formatJson([getTaskRequest]), ["request"], null],
  ["an empty batch", "[]", ["request"], null],
  ["null", "null", ["request"], null],
  ["a number", "5", ["request"], null],
  ["text", `"GetTask"`, ["request"], null],
  ["no jsonrpc", formatJson({ ...getTaskRequest, jsonrpc: undefined }), ["jsonrpc"], 1],
  ["another jsonrpc", formatJson({ ...getTaskRequest, jsonrpc: "1.0" }), ["jsonrpc"], 1],
  ["a jsonrpc that is a number", formatJson({ ...getTaskRequest, jsonrpc: 2 }), ["jsonrpc"], 1],
  ["no method", formatJson({ ...getTaskRequest, method: undefined }), ["method"], 1],
  ["a method that is a number", formatJson({ ...getTaskRequest, method: 5 }), ["method"], 1],
  ["a method that is null", formatJson({ ...getTaskRequest, method: null }), ["method"], 1],
  ["an id that is an object", formatJson({ ...getTaskRequest, id: {} }), ["id"], null],
  ["an id that is a list", formatJson({ ...getTaskRequest, id: [1] }), ["id"], null],
  ["an id that is a boolean", formatJson({ ...getTaskRequest, id: true }), ["id"], null],
  ["nothing that is right", "{}", ["jsonrpc", "method"], null],
];

const UNPARSABLE_BODIES: readonly [what: string, body: string | Uint8Array<ArrayBuffer>][] = [
  ["half an object", `{"jsonrpc":"2.0"`],
  ["words", "hello"],
  ["JavaScript", "{jsonrpc:'2.0'}"],
  ["a byte order mark", `\uFEFF${formatJson(getTaskRequest)}`],
  ["bytes that are no UTF-8", new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
];

describe("an invalid JSON-RPC request", () => {
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startTestEndpoint({ limits: { maxBodyBytes: 1024 * 1024 } });
  });
  afterAll(() => endpoint.server.close());

  it.each(INVALID_ENVELOPES)(
    "is an invalid request: %s [C-04, C-06, C-07, C-08]",
    async (_, body, fields, id) => {
      const answer = await endpoint.postRaw(body);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ jsonrpc: "2.0", id, error: { code: -32600 } });
      expect(listViolatedFields(answer.body)).toEqual(fields);
      await endpoint.assertStillAnswers();
    },
  );

  it.each(UNPARSABLE_BODIES)("can not be parsed: %s [C-04, C-06, C-07]", async (_, body) => {
    const answer = await endpoint.postRaw(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    await endpoint.assertStillAnswers();
  });

  it.each([
    "message/send",
    "tasks/get",
    "sendMessage",
    "SendMessage ",
    "",
    "__proto__",
    "constructor",
    "toString",
  ])("has no method of A2A 1.0: %j [B-06, C-02, C-06]", async (method) => {
    const { status, body } = await endpoint.callJsonRpc(method, {});
    expect({ status, code: body.error?.code }).toEqual({ status: 200, code: -32601 });
    await endpoint.assertStillAnswers();
  });

  it.each([[[]], [["x"]], ["text"], [5], [true]])(
    "has params that are not an object: %j [C-09]",
    async (params) => {
      const { body } = await endpoint.callJsonRpc("ListTasks", params);
      expect(body.error?.code).toBe(-32602);
      expect(listViolatedFields(body)).toEqual(["params"]);
      await endpoint.assertStillAnswers();
    },
  );

  it.each([undefined, null, {}])(
    "may omit params where none are required: %j [C-09, F-34]",
    async (params) => {
      const { body } = await endpoint.callJsonRpc("ListTasks", params);
      expect(body.result).toMatchObject({ nextPageToken: "", pageSize: 50 });
    },
  );

  it.each(["7", 7, "", 0, -1.5, null])("receives its id unchanged: %j [C-04]", async (id) => {
    const good = await endpoint.postRaw(formatJson({ jsonrpc: "2.0", id, method: "ListTasks" }));
    const bad = await endpoint.postRaw(
      formatJson({ jsonrpc: "2.0", id, method: "GetTask", params: { id: "none" } }),
    );
    expect([good.body.id, bad.body.id]).toEqual([id, id]);
  });

  it.each([
    ["lists", 20_000, [-32600, -32602, -32700]],
    ["objects", 20_000, [-32600, -32602, -32700]],
    // More than 50,000 values are refused before the parser sees them.
    ["lists", 100_000, [-32000]],
    ["objects", 100_000, [-32000]],
  ])("is refused when it nests %s %i deep, and nothing crashes", async (kind, depth, codes) => {
    const [open, close] = kind === "lists" ? ["[", "]"] : [`{"a":`, "}"];
    const deep = `${open.repeat(depth)}1${close.repeat(depth)}`;
    const message = formatJson({ ...createValidMessage(), parts: ["here"] }).replace(
      `"here"`,
      `{"data":${deep}}`,
    );
    const { body } = await endpoint.postRaw(
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${message}}}`,
    );
    expect(codes).toContain(body.error?.code);
    await endpoint.assertStillAnswers();
  });

  it("is refused with 413 when it is too large, in JSON [C-07, M-08, E14]", async () => {
    const { status, headers, body } = await endpoint.postRaw("x".repeat(1024 * 1024 + 1));
    expect(status).toBe(413);
    expect(headers.get("content-type")).toBe("application/json");
    expect(body.error?.message).toContain("1,048,576 bytes");
    await endpoint.assertStillAnswers();
  });

  it.each(["GET", "PUT", "DELETE", "PATCH"])(
    "is refused with 405 by another verb: %s [C-01, C-07]",
    async (method) => {
      const { status, headers, body } = await endpoint.callRest(method, "");
      expect({ status, allow: headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
      expect(body.error?.message).toContain("POST");
    },
  );

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ])("is refused as %s [C-11]", async (type) => {
    const { status, body } = await endpoint.postRaw(formatJson(getTaskRequest), { "content-type": type });
    expect({ status, code: body.error?.code }).toEqual({ status: 200, code: -32005 });
    expect(findErrorReason(body)).toBe("CONTENT_TYPE_NOT_SUPPORTED");
    await endpoint.assertStillAnswers();
  });

  it.each(["application/json; charset=utf-8", "Application/JSON", "application/a2a+json"])(
    "is read as %s [C-11]",
    async (type) => {
      const { body } = await endpoint.postRaw(formatJson(getTaskRequest), { "content-type": type });
      expect(findErrorReason(body)).toBe("TASK_NOT_FOUND");
    },
  );

  it("is answered with and without a slash at the end of the URL [C-13]", async () => {
    for (const path of ["", "/"]) {
      const { body } = await endpoint.callRest("POST", path, getTaskRequest);
      expect(body.error?.code).toBe(-32001);
    }
  });
});

describe("a version of A2A that is not served", () => {
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startTestEndpoint({ versions: ["1.0"], missingVersionPolicy: "0.3" });
  });
  afterAll(() => endpoint.server.close());

  it.each(["0.3", "2.0", "1.1", "1", "01.0", "v1.0", "abc", "1.0, 0.3", "1.0.x", ""])(
    "is refused before the operation is looked at: %j [B-04, B-05, B-08]",
    async (version) => {
      const headers = { "a2a-version": version };
      const rpc = await endpoint.callJsonRpc("GetTask", {}, headers);
      expect(rpc.body.error?.code).toBe(-32009);
      const rest = await endpoint.callRest("GET", "/tasks/none", undefined, headers);
      expect(rest.body.error).toMatchObject({ code: 400, status: "FAILED_PRECONDITION" });
      for (const { body } of [rpc, rest]) {
        expect(findErrorReason(body)).toBe("VERSION_NOT_SUPPORTED");
        expect(body.error?.message).toContain("1.0");
      }
      await endpoint.assertStillAnswers();
    },
  );

  it.each(["1.0", "1.0.0", "1.0.1", " 1.0 "])("is not this one: %j [B-03, B-08]", async (version) => {
    const { body } = await endpoint.callJsonRpc("GetTask", { id: "none" }, { "a2a-version": version });
    expect(findErrorReason(body)).toBe("TASK_NOT_FOUND");
  });

  it("may be in the query on every binding; the header takes precedence [B-02, C-10]", async () => {
    const listReasons = async (query: string, headers: Record<string, string>): Promise<unknown[]> => {
      const rpc = await fetch(`${endpoint.url}?${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: formatJson(getTaskRequest),
      });
      const rest = await fetch(`${endpoint.url}/tasks/x?${query}`, { headers });
      return Promise.all(
        [rpc, rest].map(async (response) => findErrorReason((await response.json()) as object)),
      );
    };
    expect(await listReasons("A2A-Version=1.0", {})).toEqual(["TASK_NOT_FOUND", "TASK_NOT_FOUND"]);
    expect(await listReasons("A2A-Version=9.0", {})).toEqual([
      "VERSION_NOT_SUPPORTED",
      "VERSION_NOT_SUPPORTED",
    ]);
    expect(await listReasons("A2A-Version=9.0", { "A2A-VERSION": "1.0" })).toEqual([
      "TASK_NOT_FOUND",
      "TASK_NOT_FOUND",
    ]);
  });
});
