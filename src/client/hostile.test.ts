import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/index.ts";
import { connect } from "./index.ts";
import { type Answer, cardFor, listen, rpc, sendJson, serve } from "./listen.contract.ts";
import { all } from "./remote.contract.ts";

// Whoever serves an agent may send anything. Whatever it is: an A2AError, in bounded time and memory.

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
const BINDINGS = ["JSONRPC", "HTTP+JSON"] as const;

const raw =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, { "content-type": type, ...headers }).end(body);

describe.each(BINDINGS)("a hostile answer over %s", (binding) => {
  it.each<[string, Answer]>([
    ["is of another type", raw("text/html", "<html>")],
    ["is an image", raw("image/png", Buffer.from([0x89, 0x50, 0xff, 0x00]))],
    ["is empty", raw("application/json", "")],
    ["is cut JSON", raw("application/json", `{"jsonrpc":"2.0","result":{"id":`)],
    ["is a list", raw("application/json", "[]")],
    ["is null", raw("application/json", "null")],
    ["is nested without end", raw("application/json", nested)],
    ["is nested where anything may be", raw("application/json", `{"result":{"metadata":{"x":${nested}}}}`)],
    ["is another thing than a task", raw("application/json", `{"jsonrpc":"2.0","result":7,"id":7}`)],
    ["has an error that is none", raw("application/json", `{"jsonrpc":"2.0","error":7}`)],
    ["has a task without a state", raw("application/json", `{"result":{"id":"t"},"id":"t"}`)],
    [
      "is cut before its length",
      (response) => {
        response.writeHead(200, { "content-length": "10" });
        response.write("{}", () => response.socket?.destroy());
      },
    ],
  ])("%s: an A2AError", async (_, answer) => {
    const { remote } = await serve(answer, { binding, retry: { tries: 0 } });
    const failure: unknown = await remote.task.get("t").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
  });

  it("is a stream without end where an answer belongs: it is not waited for", async () => {
    const { remote } = await serve(
      (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
      { binding },
    );
    await expect(remote.task.get("t")).rejects.toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
  });

  it("is small on the wire and huge in memory: the bound is for what it becomes [E14]", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    const { remote } = await serve(raw("application/json", bomb, { "content-encoding": "gzip" }), {
      binding,
      maxResponseBytes: 1_000_000,
    });
    await expect(remote.task.get("t")).rejects.toThrow("larger than 1000000 bytes");
  });

  it("is a line without end in a stream [E14]", async () => {
    const { remote } = await serve(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const more = (): void => void (response.writable && response.write("x".repeat(60_000), more));
        response.write("data: ", more);
      },
      { binding, maxEventBytes: 1_000_000 },
    );
    await expect(all(remote.stream("x"))).rejects.toThrow("more than 1000000 bytes");
  });
});

describe("a hostile card", () => {
  it.each<[string, unknown]>([
    ["is nested without end", `{"name":"x","supportedInterfaces":[],"skills":${nested}}`],
    ["has interfaces that are none", { name: "x", supportedInterfaces: [7, null, {}] }],
    ["has nothing", { name: "x", supportedInterfaces: [] }],
    ["has a URL that is none", cardFor("not a url")],
    ["has a URL of another kind", cardFor("file:///etc")],
  ])("%s: an A2AError before anything is sent", async (_, card) => {
    const { url, seen } = await listen((response) =>
      typeof card === "string" ? response.end(card) : sendJson(response, card),
    );
    const work = async (): Promise<unknown> => (await connect(`${url}/card.json`)).send("hi");
    const failure: unknown = await work().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
    expect(seen).toHaveLength(1);
  });

  it("names schemes that are names of something else", async () => {
    const about = JSON.parse(
      `{"securitySchemes":{"__proto__":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},
        "securityRequirements":[{"schemes":{"__proto__":{"list":[]}}},{"schemes":{"constructor":{"list":[]}}}]}`,
    ) as object;
    const { remote, seen } = await serve(rpc(task), { auth: () => ({ "x-a": "1" }) }, about);
    await remote.task.get("t");
    expect(seen()[0]?.headers["x-a"]).toBe("1");
  });

  it("wants an API key where it would end the header, or be another one", async () => {
    for (const name of ["x\r\ny", "", "a b"]) {
      const about = { securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name } } } };
      const failure: unknown = await serve(rpc(task), { auth: { apiKey: "s3cret" } }, about).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(A2AError);
      expect(String(failure)).not.toContain("s3cret");
    }
  });
});
