import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, Run } from "../engine/index.ts";
import type { Task } from "../protocol/index.ts";
import {
  V1_JSON_TEST_HEADERS,
  buildTestMessage,
  readServerSentTestEvents,
  V1_TEST_HEADERS,
  type TestEndpoint,
  type TestServerFactory,
  type JsonRpcTestResponse,
} from "./server.fixture.ts";

const OPTIONAL_TEST_EXTENSION_URI = "urn:x:polite/v1";
const REQUIRABLE_TEST_EXTENSION_URI = "urn:x:strict";

/** An agent that returns the active extensions and marks its output with them. */
const createExtensionTestAgent = (required: boolean): Agent => ({
  describe: () => ({
    name: "polite",
    description: "Says which extensions are active.",
    capabilities: {
      extensions: [{ uri: OPTIONAL_TEST_EXTENSION_URI }, { uri: REQUIRABLE_TEST_EXTENSION_URI, required }],
    },
  }),
  async *execute({ extensions }: Run): AsyncGenerator<AgentEvent> {
    const marks = extensions.length > 0 ? { extensions: [...extensions] } : {};
    yield { artifact: { artifactId: "a", parts: [{ data: [...extensions] }], ...marks } };
    yield { status: { state: "TASK_STATE_COMPLETED", message: { parts: [{ text: "done" }], ...marks } } };
  },
});

/** Defines the tests of extensions for one kind of endpoint. */
export function defineExtensionsContract(open: TestServerFactory): void {
  describe("extensions", () => {
    let endpoint: TestEndpoint;
    beforeEach(async () => {
      ({ endpoint } = await open(
        { polite: createExtensionTestAgent(false), strict: createExtensionTestAgent(true) },
        { store: "memory" },
      ));
    });
    afterEach(() => endpoint.close());

    const post = (path: string, body: object, requested?: string): Promise<Response> =>
      endpoint.send(path, {
        method: "POST",
        headers: {
          ...V1_JSON_TEST_HEADERS,
          ...(requested === undefined ? {} : { "A2A-Extensions": requested }),
        },
        body: JSON.stringify(body),
      });
    const rpc = (method: string, params: object): object => ({ jsonrpc: "2.0", id: 1, method, params });

    it("are inactive unless requested [J-04]", async () => {
      const sent = await post("/message:send", { message: buildTestMessage("x") });
      expect(sent.headers.get("a2a-extensions")).toBeNull();
      const { task } = (await sent.json()) as { task: Task };
      expect(task.artifacts).toEqual([{ artifactId: "a", parts: [{ data: [] }] }]);
      expect(task.status.message).not.toHaveProperty("extensions");
    });

    it("that are declared and requested are active, and listed in the reply [J-01, J-02]", async () => {
      const requested = `urn:x:unknown, ${OPTIONAL_TEST_EXTENSION_URI}`;
      const sent = await post("/message:send", { message: buildTestMessage("x") }, requested);
      expect(sent.headers.get("a2a-extensions")).toBe(OPTIONAL_TEST_EXTENSION_URI);
      const { task } = (await sent.json()) as { task: Task };
      expect(task.artifacts?.[0]?.parts).toEqual([{ data: [OPTIONAL_TEST_EXTENSION_URI] }]);
      for (const answer of [
        await post("/", rpc("SendMessage", { message: buildTestMessage("x") }), requested),
        await post("/", rpc("SendStreamingMessage", { message: buildTestMessage("x") }), requested),
        await post("/message:stream", { message: buildTestMessage("x") }, requested),
        await endpoint.send("/tasks", { headers: { ...V1_TEST_HEADERS, "a2a-extensions": requested } }),
      ]) {
        expect(answer.headers.get("a2a-extensions")).toBe(OPTIONAL_TEST_EXTENSION_URI);
        await answer.text();
      }
    });

    it("are listed in the messages and artifacts to which they contributed [J-05]", async () => {
      const marked = buildTestMessage("x", { extensions: [OPTIONAL_TEST_EXTENSION_URI, "urn:x:anything"] });
      const events = await readServerSentTestEvents(
        await post("/message:stream", { message: marked }, OPTIONAL_TEST_EXTENSION_URI),
      );
      const { task } = (events[0] as { data: { task: Task } }).data;
      expect(task.history?.[0]?.extensions).toEqual([OPTIONAL_TEST_EXTENSION_URI, "urn:x:anything"]);
      expect(events[1]?.data).toMatchObject({
        artifactUpdate: { artifact: { extensions: [OPTIONAL_TEST_EXTENSION_URI] } },
      });
      const now = await (await endpoint.send(`/tasks/${task.id}`, { headers: V1_TEST_HEADERS })).json();
      expect(now).toMatchObject({
        artifacts: [{ extensions: [OPTIONAL_TEST_EXTENSION_URI] }],
        status: { message: { extensions: [OPTIONAL_TEST_EXTENSION_URI] } },
        history: [{ extensions: [OPTIONAL_TEST_EXTENSION_URI, "urn:x:anything"] }],
      });
    });

    it("use the 0.3 header or the 1.0 header for 0.3 clients [J-01, J-02, J-04]", async () => {
      const parts = [{ kind: "text", text: "x" }];
      const old = (): object => ({ messageId: crypto.randomUUID(), role: "user", kind: "message", parts });
      const post03 = (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
        endpoint.send(path, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        });
      for (const [path, body] of [
        ["/", rpc("message/send", { message: old() })],
        ["/", rpc("message/stream", { message: old() })],
        [
          "/v1/message:send",
          { message: { messageId: "m-rest", role: "ROLE_USER", content: [{ text: "x" }] } },
        ],
      ] as const) {
        for (const name of ["X-A2A-Extensions", "A2A-Extensions"]) {
          const answer = await post03(path, body, {
            [name]: `${OPTIONAL_TEST_EXTENSION_URI}, urn:x:unknown`,
          });
          expect([path, answer.status, answer.headers.get("x-a2a-extensions")]).toEqual([
            path,
            200,
            OPTIONAL_TEST_EXTENSION_URI,
          ]);
          expect(await answer.text()).toContain(`"extensions":["${OPTIONAL_TEST_EXTENSION_URI}"]`);
        }
        const plain = await post03(path, body, {});
        expect(plain.headers.get("x-a2a-extensions")).toBeNull();
        await plain.text();
      }
      const strict = await post03("/a2a/strict", rpc("tasks/get", { id: "nope" }), {
        "x-a2a-extensions": OPTIONAL_TEST_EXTENSION_URI,
      });
      const { error } = (await strict.json()) as JsonRpcTestResponse;
      expect(error?.message).toContain(`send "x-a2a-extensions: ${REQUIRABLE_TEST_EXTENSION_URI}"`);
    });

    it("that are required apply to every operation, before its parameters are decoded [H-04, J-03]", async () => {
      for (const [method, params] of [
        ["SendMessage", { message: buildTestMessage("x") }],
        ["SendStreamingMessage", { message: buildTestMessage("x") }],
        ["GetTask", {}],
        ["ListTasks", { pageSize: -1 }],
        ["CancelTask", { id: "nope" }],
        ["SubscribeToTask", { id: "nope" }],
      ] as const) {
        const response = await post(
          "/a2a/strict",
          rpc(method, params),
          `${OPTIONAL_TEST_EXTENSION_URI}, urn:x:strict/v2`,
        );
        const { error } = (await response.json()) as JsonRpcTestResponse;
        expect([method, error?.code]).toEqual([method, -32008]);
        expect(error?.message).toContain(`send "a2a-extensions: ${REQUIRABLE_TEST_EXTENSION_URI}"`);
      }
      const rest = await endpoint.send("/a2a/strict/tasks/nope", { headers: V1_TEST_HEADERS });
      expect([rest.status, await rest.text()]).toEqual([
        400,
        expect.stringContaining("EXTENSION_SUPPORT_REQUIRED"),
      ]);
      const sent = await post(
        "/a2a/strict/message:send",
        { message: buildTestMessage("x") },
        REQUIRABLE_TEST_EXTENSION_URI,
      );
      expect([sent.status, sent.headers.get("a2a-extensions")]).toEqual([200, REQUIRABLE_TEST_EXTENSION_URI]);
      expect((await endpoint.send("/a2a/strict/.well-known/agent-card.json")).status).toBe(200);
    });
  });
}
