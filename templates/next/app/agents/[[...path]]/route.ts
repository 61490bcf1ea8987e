import { createServer, type Server } from "colloquy";
import { after } from "next/server";
import assistant from "../../../agent";

declare global {
  var agents: Server | undefined;
}
// In development, Next reloads this module after a change. Only one server may open the store.
globalThis.agents ??= createServer(
  { assistant },
  { basePath: "/agents", store: "sqlite:.colloquy/tasks.db" },
);
const { agents } = globalThis;

function handle(request: Request): Promise<Response> {
  // A serverless host keeps the function running until the agent ends, also if the browser has disconnected.
  return agents.fetch(request, { waitUntil: after });
}

export { handle as GET, handle as POST, handle as DELETE, handle as OPTIONS };
export const runtime = "nodejs";
export const dynamic = "force-dynamic";
