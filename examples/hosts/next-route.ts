/**
 * Mounts agents in a Next app. Save this file as `app/agents/[[...path]]/route.ts`. Add
 * `serverExternalPackages: ["colloquy"]` to `next.config.ts`, because a bundler would try to include optional
 * packages.
 *
 * In development, Next reloads this module after a change. The server is stored globally, because a store
 * must not be opened by two servers in one process.
 */
import { agent, createServer, type Server } from "colloquy";

const hello = agent({ name: "hello", description: "Greets people" }, async function* ({ text }) {
  for (const word of ["Hello, ", text, "!"]) yield word;
});

declare global {
  var agents: Server | undefined;
}
globalThis.agents ??= createServer({ hello }, { basePath: "/agents" });
export const { fetch: GET, fetch: POST, fetch: DELETE, fetch: OPTIONS } = globalThis.agents;
/** The Node runtime is required, because tasks outlive their requests in a local store. */
export const runtime = "nodejs";
export const dynamic = "force-dynamic";
