import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express, { type Express } from "express";
import { Hono } from "hono";
import { toNodeListener, type Server } from "../../src/server/index.ts";

/** A framework on its own port with a server mounted at `/agents`. */
export interface MountedHost {
  readonly origin: string;
  close(): Promise<void>;
}

/** The members of a server that a host uses. */
export type MountableServer = Pick<Server, "fetch" | "listener">;
/** Mounts a server in an app of the framework, and listens. */
export type HostFrameworkMount = (server: MountableServer) => Promise<MountedHost>;

function createExpressMount(mount: (app: Express, server: MountableServer) => void): HostFrameworkMount {
  return (server) =>
    new Promise((resolve) => {
      const app = express();
      mount(app, server);
      const http = app.listen(0, "127.0.0.1", () => resolve(toMountedHost(http)));
    });
}

/** The setups from `examples/hosts/` and other common ones. */
export const HOST_FRAMEWORKS: Readonly<Record<string, HostFrameworkMount>> = {
  Hono: (server) =>
    new Promise((resolve) => {
      const app = new Hono();
      app.all("/agents/*", (context) => server.fetch(context.req.raw));
      const http = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, () =>
        resolve(toMountedHost(http as import("node:http").Server)),
      );
    }),
  Express: createExpressMount((app, server) => app.use("/agents", server.listener)),
  "Express, by all()": createExpressMount((app, server) => app.all("/agents{/*path}", server.listener)),
  "Express, behind express.json()": createExpressMount((app, server) =>
    app.use(express.json(), express.text({ type: "application/a2a+json" })).use("/agents", server.listener),
  ),
  // Emulates how Next.js calls a route handler: complete paths, `Request` in, and `Response` out.
  "a route handler": (server) =>
    new Promise((resolve) => {
      const http = createHttpServer(toNodeListener(server.fetch)).listen(0, "127.0.0.1", () =>
        resolve(toMountedHost(http)),
      );
    }),
};

function toMountedHost(http: import("node:http").Server): MountedHost {
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
