import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { loadMcpPackage } from "./load-mcp-package.ts";

/** Serves one host, of today or of 2025, until it closes stdin or `ends` aborts. */
export async function serveStdio(
  instance: () => Server,
  {
    stdin = process.stdin,
    stdout = process.stdout,
  }: { readonly stdin?: Readable; readonly stdout?: Writable },
  ends: AbortSignal,
): Promise<void> {
  const sdk = await loadMcpPackage("server", import("@modelcontextprotocol/server/stdio"));
  const over = new Promise<void>((resolve) => {
    for (const event of ["end", "close"] as const) stdin.once(event, () => resolve());
    stdout.once("close", () => resolve());
    ends.addEventListener("abort", () => resolve(), { once: true });
    if (ends.aborted || stdin.readableEnded) resolve();
  });
  const transport = new sdk.StdioServerTransport(stdin, stdout);
  const handle = sdk.serveStdio(instance, { transport });
  await over;
  await handle.close();
}
