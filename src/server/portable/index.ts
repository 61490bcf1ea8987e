/** The server for workers, which imports no module of Node.js. Its hosts call `server.fetch`. */
export { signCard } from "../card/agent-card-publisher.ts";
export { createServer } from "./create-server.ts";
