import { Agent as HttpAgent, type AgentOptions } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";

/**
 * Maximum number of idle connections of a pool. Without this limit, callers with many host names could fill the pool
 * with idle connections, and other deliveries would wait for a connection.
 */
const MAX_IDLE_CONNECTIONS = 256;

const CONNECTION_POOL_OPTIONS: AgentOptions = {
  keepAlive: true,
  maxSockets: 32,
  maxTotalSockets: 512,
  maxFreeSockets: 64,
  timeout: 30_000,
};

/** A pool of HTTP connections to webhooks. If too many connections are idle, the pool closes a used connection. */
export class WebhookHttpAgent extends HttpAgent {
  constructor() {
    super(CONNECTION_POOL_OPTIONS);
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return hasRoomForIdleConnection(this) && Boolean(super.keepSocketAlive(socket) as unknown);
  }
}

/** A pool of HTTPS connections to webhooks. If too many connections are idle, the pool closes a used connection. */
export class WebhookHttpsAgent extends HttpsAgent {
  constructor() {
    super(CONNECTION_POOL_OPTIONS);
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return hasRoomForIdleConnection(this) && Boolean(super.keepSocketAlive(socket) as unknown);
  }
}

function hasRoomForIdleConnection({ freeSockets }: HttpAgent): boolean {
  let idleCount = 0;
  for (const sockets of Object.values(freeSockets)) idleCount += sockets?.length ?? 0;
  return idleCount < MAX_IDLE_CONNECTIONS;
}
