import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as ColloquyClient from "../../src/entries/client.ts";
import { agent, createServer, type Server } from "../../src/entries/colloquy.ts";
import { grpcTransport } from "../../src/entries/grpc.ts";
import { bundleForBrowser } from "../support/bundle-for-browser.ts";

describe("a bundled client without gRPC", () => {
  let client: typeof ColloquyClient;
  let bundledFiles: string[];
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const chunks = await bundleForBrowser(`export * from "colloquy/client";`);
    bundledFiles = chunks.flatMap(({ moduleIds }) => moduleIds);
    const script = Buffer.from(chunks[0]?.code ?? "").toString("base64");
    client = (await import(`data:text/javascript;base64,${script}`)) as typeof ColloquyClient;
    const hello = agent({ name: "hello", description: "Greets" }, async function* ({ text }) {
      yield `Hello, ${text}`;
    });
    server = createServer(hello, { store: "memory" });
    ({ url } = await server.listen({ grpc: true }));
  });
  afterAll(() => server.close({ graceMs: 50 }));

  it("has no file of gRPC in its graph", () => {
    expect(bundledFiles.length).toBeGreaterThan(50);
    expect(bundledFiles.filter((file) => /@grpc|@bufbuild|src\/grpc|grpc-transport/.test(file))).toEqual([]);
  });

  it("names the injection if the program requests gRPC", async () => {
    await expect(client.connect(url, { binding: "GRPC" })).rejects.toThrow(
      "{ grpc: grpcTransport() } of colloquy/grpc",
    );
  });

  it("calls an agent with the injected gRPC", async () => {
    const connected = await client.connect(url, { binding: "GRPC", grpc: grpcTransport() });
    expect(connected.agentInterface.protocolBinding).toBe("GRPC");
    const { text, task } = await connected.ask("Ada");
    expect(text).toBe("Hello, Ada");
    expect((await connected.tasks.get(task?.id ?? "")).status.state).toBe("TASK_STATE_COMPLETED");
    const pieces: string[] = [];
    for await (const piece of client.readText(connected.stream("Bob"))) pieces.push(piece);
    expect(pieces.join("")).toBe("Hello, Bob");
  });
});
