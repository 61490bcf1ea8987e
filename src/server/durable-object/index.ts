/** The server for Cloudflare Durable Objects. Its tasks survive the process of the object. */
export {
  createDurableObjectServer,
  type DurableObjectContext,
  type DurableObjectServer,
  type DurableObjectServerOptions,
} from "./create-durable-object-server.ts";
