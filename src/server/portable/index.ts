/** The server for workers, which imports no module of Node.js. Its hosts call `server.fetch`. */
export { signCard } from "../card/sign-card.ts";
export { createServer } from "./create-server.ts";
