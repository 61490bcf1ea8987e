/**
 * A worker with two agents in Durable Objects. The header `x-object` selects the object, so that the driver can leave an
 * object alone. The path `/abort` resets the object.
 */
import { agent } from "../../src/agents/adapters/portable/index.ts";
import {
  createDurableObjectServer,
  type DurableObjectContext,
  type DurableObjectServer,
} from "../../src/server/durable-object/index.ts";
import { COUNTED_CHUNKS } from "../../test/resilience/counted-chunks.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Never repeats text, so that the driver finds lost and repeated events. */
const counter = agent(
  { name: "counter", description: "Counts" },
  async function* () {
    for (const chunk of COUNTED_CHUNKS) {
      yield chunk;
      await pause(1);
    }
  },
  { artifacts: "pieces" },
);

/** Takes about a second, and starts again after its process has died. */
const phoenix = agent(
  { name: "phoenix", description: "Counts again after a restart" },
  async function* () {
    for (const chunk of COUNTED_CHUNKS) {
      yield chunk;
      await pause(15);
    }
  },
  { afterRestart: "restart" },
);

/** Kills must not exhaust the attempts of a turn, because each kill is the fault of the driver. */
const TURN_ATTEMPTS = 1000;

export class AgentHost {
  readonly #context: DurableObjectContext & { abort(reason?: string): void };
  readonly #server: DurableObjectServer;

  constructor(context: DurableObjectContext & { abort(reason?: string): void }) {
    this.#context = context;
    this.#server = createDurableObjectServer(
      context,
      { counter, phoenix },
      {
        store: { recoveryIntervalMs: 500 },
        push: { allowPrivate: true, retry: { initialDelayMs: 100, maxDelayMs: 500 } },
        limits: { turnAttempts: TURN_ATTEMPTS },
        observer: false,
      },
    );
  }

  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === "/abort") this.#context.abort("The driver resets the object.");
    return await this.#server.fetch(request);
  }

  async alarm(): Promise<void> {
    await this.#server.alarm();
  }
}

interface AgentHostEnvironment {
  readonly AGENT_HOST: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const handler = {
  fetch: (request: Request, { AGENT_HOST }: AgentHostEnvironment): Promise<Response> =>
    AGENT_HOST.getByName(request.headers.get("x-object") ?? "agents").fetch(request),
};
export default handler;
