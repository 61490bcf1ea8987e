import { DurableObject } from "cloudflare:workers";
import { createServer } from "colloquy";
import assistant from "./agent.ts";

interface Env {
  readonly AGENT_HOST: DurableObjectNamespace<AgentHost>;
}

/**
 * Serves the agents in one Durable Object, so that each request reaches the tasks of the others. The memory store keeps
 * tasks as long as the object lives.
 */
export class AgentHost extends DurableObject<Env> {
  readonly #server = createServer({ assistant }, { basePath: "/agents", store: "memory" });

  override async fetch(request: Request): Promise<Response> {
    const remoteAddress = request.headers.get("cf-connecting-ip") ?? undefined;
    return await this.#server.fetch(request, {
      remoteAddress,
      waitUntil: (work: Promise<unknown>) => this.ctx.waitUntil(work),
    });
  }
}

/** The files of `public/` are served without this worker. */
export default {
  async fetch(request, env): Promise<Response> {
    return await env.AGENT_HOST.getByName("agents").fetch(request);
  },
} satisfies ExportedHandler<Env>;
