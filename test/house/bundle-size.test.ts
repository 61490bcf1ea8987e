import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, Record<string, string>>;
};

/** Resolves the package's own name to its sources, as a bundler for browsers resolves it to `dist/`. */
const colloquySources: Plugin = {
  name: "colloquy-sources",
  setup(bundler) {
    bundler.onResolve({ filter: /^colloquy(\/|$)/ }, ({ path }) => {
      const target = exports[`.${path.slice("colloquy".length)}`]?.["default"] ?? "";
      return {
        path: join(root, target.replace(/^\.\/dist/, "src").replace(/\.js$/, ".ts")),
        sideEffects: false,
      };
    });
  },
};

const BUILD_OPTIONS = {
  bundle: true as const,
  minify: true,
  platform: "browser" as const,
  target: "es2024",
  write: false as const,
  logLevel: "silent" as const,
  plugins: [colloquySources],
} satisfies BuildOptions;

/** Bundles code, and returns the scripts that a page loads at once, without those that the code imports on first use. */
async function bundleFirstScripts(code: string): Promise<string[]> {
  const { outputFiles, metafile, warnings } = await build({
    ...BUILD_OPTIONS,
    stdin: { contents: code, resolveDir: root },
    format: "esm",
    splitting: true,
    metafile: true as const,
    outdir: root,
  });
  expect(warnings).toEqual([]);
  const first = new Set(
    Object.keys(metafile.outputs).filter((path) => metafile.outputs[path]?.entryPoint === "<stdin>"),
  );
  for (const path of first)
    for (const imported of metafile.outputs[path]?.imports ?? [])
      if (imported.kind === "import-statement") first.add(imported.path);
  return outputFiles.filter(({ path }) => first.has(relative(process.cwd(), path))).map(({ text }) => text);
}

function countGzipBytes(scripts: readonly string[]): number {
  return scripts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
}

describe("a bundle for browsers and workers, without aliases and with the sources of Node.js left out", () => {
  it.each([
    ["connect", `export { connect } from "colloquy/client";`, 30_000],
    ["a chat with connect", `export { createChat } from "colloquy/ui";`, 37_000],
    ["a transport for useChat", `export { A2AChatTransport } from "colloquy/ui/ai-sdk";`, 38_000],
    ["an AG-UI endpoint", `export { createAgUiHandler } from "colloquy/ag-ui";`, 39_000],
    ["a server with the memory store", `export { agent, createServer } from "colloquy";`, 81_000],
  ])("of %s is within its budget", async (_, code, maxGzipBytes) => {
    const scripts = await bundleFirstScripts(code);
    expect(scripts.length).toBeGreaterThan(0);
    expect(scripts.join("\n")).not.toMatch(/["']node:|grpc-js/);
    expect(countGzipBytes(scripts)).toBeLessThanOrEqual(maxGzipBytes);
  });

  it("serves and calls an agent with web standards only, without Buffer, process, and setImmediate", async () => {
    const { outputFiles } = await build({
      ...BUILD_OPTIONS,
      format: "iife",
      globalName: "bundle",
      stdin: {
        resolveDir: root,
        contents: `import { agent, connect, createServer, readText } from "colloquy";
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
      },
    });
    const text = outputFiles[0]?.text ?? "";
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
    expect(await runInContext(`${text}\nbundle.run()`, context)).toBe("Hello, Ada!");
  });
});
