/**
 * The `colloquy/durable-object` entry point. `createDurableObjectServer` serves agents in a Cloudflare Durable Object, whose
 * storage keeps the tasks.
 */
export type { DurableObjectStorage, DurableObjectStoreOptions } from "../stores/durable-object/index.ts";
export { DurableObjectStore } from "../stores/durable-object/index.ts";
export type {
  DurableObjectContext,
  DurableObjectServer,
  DurableObjectServerOptions,
} from "../server/durable-object/index.ts";
export { createDurableObjectServer } from "../server/durable-object/index.ts";
