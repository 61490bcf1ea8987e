/** Files over HTTP+JSON of 0.3, in the form that the SDK of each client expects (decision 018). */
import { describe, expect, it } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { file, fromBase64, toBase64, type Part } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const BYTES = new Uint8Array([0xff, 0xd8, 0x00, 0x10]);
const ASCII = new TextEncoder();

describe("a client of 0.3 over HTTP+JSON", () => {
  it.each([
    ["python-httpx/0.28.1", toBase64(ASCII.encode(toBase64(BYTES)))],
    ["Java-http-client/17.0.2", toBase64(ASCII.encode(toBase64(BYTES)))],
    ["node", toBase64(BYTES)],
  ])("with the user agent %s sends and receives a file in one form [V-23]", async (userAgent, wireBytes) => {
    const received: Part[] = [];
    const echo = agent({ name: "echo", description: "Returns the file" }, async function* ({ message }) {
      received.push(...message.parts);
      yield file(BYTES, { mediaType: "image/jpeg" });
    });
    const server = createServer({ echo }, { store: "memory", inputModePolicy: "ignore" });
    const content = [{ file: { fileWithBytes: wireBytes, mimeType: "image/jpeg" } }];
    const response = await server.fetch(
      new Request("http://localhost/a2a/echo/v1/message:send", {
        method: "POST",
        headers: { "content-type": "application/json", "user-agent": userAgent },
        body: JSON.stringify({
          request: { messageId: "m", role: "ROLE_USER", content },
          configuration: { blocking: true },
        }),
      }),
    );
    expect(received.map((part) => ("raw" in part ? fromBase64(part.raw) : part))).toEqual([BYTES]);
    expect(await response.json()).toMatchObject({
      task: { artifacts: [{ parts: [{ file: { fileWithBytes: wireBytes, mimeType: "image/jpeg" } }] }] },
    });
    await server.close();
  });
});
