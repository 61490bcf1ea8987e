import { afterEach, describe, expect, it } from "vitest";
import type { Agent } from "../engine/index.ts";
import type { ServerOptions } from "./index.ts";
import {
  V1_JSON_TEST_HEADERS,
  buildTestMessage,
  messageCommandTestAgent,
  type TestEndpoint,
  type TestServerFactory,
  type JsonRpcTestResponse,
} from "./server.fixture.ts";

const pngTestPart = { raw: "AQI=", mediaType: "image/png" };
const pdfTestPart = { url: "https://a.example/a.pdf", mediaType: "application/pdf" };

/** Defines the tests of unsupported media types for one kind of endpoint. */
export function defineInputModesContract(open: TestServerFactory): void {
  describe("media types", () => {
    let endpoint: TestEndpoint | undefined;
    afterEach(() => endpoint?.close());

    /** Returns a function that sends parts to an agent with this description, and returns the error code. */
    const sender = async (
      described: Partial<Awaited<ReturnType<Agent["describe"]>>>,
      options: ServerOptions = {},
    ): Promise<(method: string, parts: object[]) => Promise<JsonRpcTestResponse>> => {
      const agent: Agent = {
        ...messageCommandTestAgent,
        describe: async () => ({ ...(await messageCommandTestAgent.describe()), ...described }),
      };
      ({ endpoint } = await open({ parrot: agent }, { store: "memory", ...options }));
      const own = endpoint;
      return async (method, parts) => {
        const params = { message: buildTestMessage("", { parts }) };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
        const answer = await own.send("/", { method: "POST", headers: V1_JSON_TEST_HEADERS, body });
        return (await answer.json()) as JsonRpcTestResponse;
      };
    };

    it("that the agent does not declare are rejected before a stream starts, with the part in the error [F-09]", async () => {
      const send = await sender({ defaultInputModes: ["text/plain", "image/*"] });
      for (const method of ["SendMessage", "SendStreamingMessage"]) {
        const { error } = await send(method, [{ text: "echo" }, pdfTestPart, pngTestPart, { data: 1 }]);
        expect(error?.code).toBe(-32005);
        expect(error?.message).toBe(
          'message.parts[1] is "application/pdf"; this agent accepts text/plain, image/* (and 1 more).',
        );
        const violations = error?.data?.flatMap(({ fieldViolations = [] }) => fieldViolations) ?? [];
        expect(violations.map(({ field }) => field)).toEqual(["message.parts[1]", "message.parts[3]"]);
      }
      const sent = await endpoint?.send("/message:send", {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body: JSON.stringify({ message: buildTestMessage("", { parts: [pdfTestPart] }) }),
      });
      expect([sent?.status, await sent?.text()]).toEqual([
        400,
        expect.stringContaining("CONTENT_TYPE_NOT_SUPPORTED"),
      ]);
      expect((await send("ListTasks", [])).result).toMatchObject({ totalSize: 0 });
    });

    it("that the agent or one of its skills declares are accepted, and files of unknown type [F-09, A-11]", async () => {
      const skill = { id: "see", name: "See", description: "Sees.", tags: ["t"], inputModes: ["image/png"] };
      const send = await sender({ skills: [skill] });
      const { result } = await send("SendMessage", [{ text: "echo" }, pngTestPart, { raw: "AQI=" }]);
      expect(result?.task?.status.state).toBe("TASK_STATE_COMPLETED");
      expect((await send("SendMessage", [pdfTestPart])).error?.code).toBe(-32005);
    });

    it("are all accepted by an agent that declares none [F-09]", async () => {
      const send = await sender({});
      expect((await send("SendMessage", [{ text: "echo" }, pdfTestPart, { data: 1 }])).error).toBeUndefined();
    });

    it("are not checked when the server ignores them [F-09]", async () => {
      const send = await sender({ defaultInputModes: ["text/plain"] }, { inputModePolicy: "ignore" });
      expect((await send("SendMessage", [{ text: "echo" }, pdfTestPart])).error).toBeUndefined();
    });
  });
}
