/**
 * Mounts agents in an Express app under a path, with or without body parsing (`express.json()`).
 *
 *     node examples/hosts/express.ts
 */
import type { AddressInfo } from "node:net";
import { createServer } from "colloquy";
import express from "express";
import hello from "../01-hello.ts";

const agents = createServer({ hello }, { basePath: "/agents" });
const app = express();
app.get("/", (_request, response) => void response.send("The agents are at /agents."));
app.use("/agents", agents.listener);

const http = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/agents`);
});
