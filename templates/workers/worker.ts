import { DurableObject } from "cloudflare:workers";
import { createDurableObjectServer } from "colloquy/durable-object";
import assistant from "./agent.ts";

interface Env {
  readonly AGENT_HOST: DurableObjectNamespace<AgentHost>;
}

/**
 * Serves the agents in one Durable Object, whose storage keeps the tasks. The alarm continues the tasks after Cloudflare
 * has ended the process.
 */
export class AgentHost extends DurableObject<Env> {
  readonly #server = createDurableObjectServer(this.ctx, { assistant }, { basePath: "/agents" });

  override async fetch(request: Request): Promise<Response> {
    return await this.#server.fetch(request);
  }

  override async alarm(): Promise<void> {
    await this.#server.alarm();
  }
}

/** The files of `public/` are served without this worker. */
export default {
  async fetch(request, env): Promise<Response> {
    return await env.AGENT_HOST.getByName("agents").fetch(request);
  },
} satisfies ExportedHandler<Env>;
