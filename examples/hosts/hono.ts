/**
 * Mounts agents in a Hono app under a path. The same code works in Deno, Bun, and workers, which also use
 * `app.fetch`.
 *
 *     node examples/hosts/hono.ts
 */
import { serve } from "@hono/node-server";
import { createServer } from "colloquy";
import { Hono } from "hono";
import hello from "../01-hello.ts";

const agents = createServer({ hello }, { basePath: "/agents" });
const app = new Hono();
app.get("/", (context) => context.text("The agents are at /agents."));
app.all("/agents/*", (context) => agents.fetch(context.req.raw));

const port = Number(process.env["PORT"] ?? 3000);
serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (address) => {
  console.log(`http://127.0.0.1:${address.port}/agents`);
});
