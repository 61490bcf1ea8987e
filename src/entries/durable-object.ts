/**
 * The `colloquy/durable-object` entry point. `createDurableObjectServer` serves agents in a Cloudflare Durable Object, whose
 * storage keeps the tasks.
 */
export * from "../stores/durable-object/index.ts";
export * from "../server/durable-object/index.ts";
