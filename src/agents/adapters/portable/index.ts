/** The adapters that need no Node.js, for workers. */
export { artifact, authRequired, chunk, failed, inputRequired, reply, status } from "../agent-yield.ts";
export { agent } from "../generator-agent.ts";
