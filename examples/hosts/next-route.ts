/**
 * Agents in a Next app: this file as `app/agents/[[...path]]/route.ts`, and `serverExternalPackages: ["colloquy"]` in
 * `next.config.ts`, because a bundler wants packages that are optional. Next loads it again after a change
 * while it develops, so the server is kept where that does not reach: one process has one server per store.
 */
import { agent, createServer, type Server } from "colloquy";

const hello = agent({ name: "hello", description: "Greets people" }, async function* ({ text }) {
  for (const word of ["Hello, ", text, "!"]) yield word;
});

declare global {
  var agents: Server | undefined;
}
globalThis.agents ??= createServer({ hello }, { basePath: "/agents" });
export const { fetch: GET, fetch: POST, fetch: DELETE } = globalThis.agents;
/** Tasks live longer than a request, in a store of this machine. */
export const runtime = "nodejs";
export const dynamic = "force-dynamic";
