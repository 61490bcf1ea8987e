import { createServer, type Server } from "colloquy";
import assistant from "./agent.ts";

export const agents: Server = createServer(
  { assistant },
  { basePath: "/agents", store: "sqlite:.colloquy/tasks.db" },
);
