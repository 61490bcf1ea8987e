import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bundleForBrowser } from "../support/bundle-for-browser.ts";

/** Bundles code, and returns the scripts that a page loads at once, without those that the code imports on first use. */
async function bundleFirstScripts(code: string): Promise<string[]> {
  const chunks = await bundleForBrowser(code, { minify: true, hasChunks: true });
  const first = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const fileName of first)
    for (const imported of chunks.find((chunk) => chunk.fileName === fileName)?.imports ?? [])
      first.add(imported);
  return chunks.filter(({ fileName }) => first.has(fileName)).map(({ code }) => code);
}

function countGzipBytes(scripts: readonly string[]): number {
  return scripts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
}

describe("a bundle for browsers and workers, without aliases and with the sources of Node.js left out", () => {
  it.each([
    ["connect", `export { connect } from "colloquy/client";`, 30_850],
    ["a chat with connect", `export { createChat } from "colloquy/ui";`, 37_000],
    ["a transport for useChat", `export { A2AChatTransport } from "colloquy/ui/ai-sdk";`, 38_000],
    ["an AG-UI endpoint", `export { createAgUiHandler } from "colloquy/ag-ui";`, 39_000],
    ["a server with the memory store", `export { agent, createServer } from "colloquy";`, 88_600],
  ])("of %s is within its budget", async (_, code, maxGzipBytes) => {
    const scripts = await bundleFirstScripts(code);
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.join("\n")).not.toMatch(/["']node:|grpc-js/);
    expect(countGzipBytes(scripts)).toBeLessThanOrEqual(maxGzipBytes);
  });

  it("serves and calls an agent with web standards only, without Buffer, process, and setImmediate", async () => {
    const [script] = await bundleForBrowser(
      `import { agent, connect, createServer, readText } from "colloquy";
      export async function run() {
        const hello = agent({ name: "hello", description: "Greets" }, async function* ({ text }) {
          yield "Hello, "; yield text + "!";
        });
        const server = createServer(hello, { store: "memory" });
        const fetch = (url, init) => server.fetch(new Request(url, init));
        const client = await connect("http://agents.test", { fetch });
        let answer = "";
        for await (const part of readText(client.stream("Ada"))) answer += part;
        await server.close();
        return answer;
      }`,
      { format: "iife", name: "bundle", minify: true },
    );
    const context = createContext({
      AbortController,
      AbortSignal,
      atob,
      btoa,
      clearInterval,
      clearTimeout,
      console,
      crypto,
      DOMException,
      Headers,
      performance,
      ReadableStream,
      Request,
      Response,
      setInterval: (callback: () => void, ms?: number) => Number(setInterval(callback, ms)),
      setTimeout: (callback: () => void, ms?: number) => Number(setTimeout(callback, ms)),
      TextDecoder,
      TextDecoderStream,
      TextEncoder,
      TransformStream,
      Uint8Array,
      URL,
      URLSearchParams,
    });
    expect(await runInContext(`${script?.code ?? ""}\nbundle.run()`, context)).toBe("Hello, Ada!");
  });
});
