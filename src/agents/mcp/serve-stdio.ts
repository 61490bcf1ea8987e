import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { loadMcpPackage } from "./load-mcp-package.ts";

/**
 * Serves one host of MCP 2026 or 2025 over stdin and stdout, until the host closes stdin or `closeSignal`
 * aborts.
 */
export async function serveStdio(
  createSdkServer: () => Server,
  {
    stdin = process.stdin,
    stdout = process.stdout,
  }: { readonly stdin?: Readable; readonly stdout?: Writable },
  closeSignal: AbortSignal,
): Promise<void> {
  const sdk = await loadMcpPackage("server", import("@modelcontextprotocol/server/stdio"));
  const closed = new Promise<void>((resolve) => {
    for (const event of ["end", "close"] as const) stdin.once(event, () => resolve());
    stdout.once("close", () => resolve());
    closeSignal.addEventListener("abort", () => resolve(), { once: true });
    if (closeSignal.aborted || stdin.readableEnded) resolve();
  });
  const transport = new sdk.StdioServerTransport(stdin, stdout);
  const handle = sdk.serveStdio(createSdkServer, { transport });
  await closed;
  await handle.close();
}
