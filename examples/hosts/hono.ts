/**
 * Mounts agents in a Hono app under a path. Deno, Bun, and workers also use `app.fetch`, and have their own
 * `getConnInfo` in `hono/deno`, `hono/bun`, and `hono/cloudflare-workers`.
 *
 *     node examples/hosts/hono.ts
 */
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { createServer } from "colloquy";
import { Hono } from "hono";
import hello from "../01-hello.ts";

const agents = createServer({ hello }, { basePath: "/agents" });
const app = new Hono();
app.get("/", (context) => context.text("The agents are at /agents."));
app.all("/agents/*", (context) =>
  agents.fetch(context.req.raw, { remoteAddress: getConnInfo(context).remote.address }),
);

const port = Number(process.env["PORT"] ?? 3000);
serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (address) => {
  console.log(`http://127.0.0.1:${address.port}/agents`);
});
