import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { agents } from "./agents.ts";

const app = new Hono();
app.all("/agents/*", (context) =>
  agents.fetch(context.req.raw, { remoteAddress: getConnInfo(context).remote.address }),
);
app.use("*", serveStatic({ root: "./dist" }));

const port = Number(process.env["PORT"] ?? 3000);
const http = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, () => {
  console.log(`http://127.0.0.1:${port}`);
});
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    http.close();
    void agents.close();
  });
