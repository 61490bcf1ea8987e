/** A worker with the memory store, whose agent sends chunks that never repeat. */
import { agent } from "../../../src/agents/adapters/portable/index.ts";
import { createServer } from "../../../src/server/portable/index.ts";
import { COUNTED_CHUNKS } from "../../../test/resilience/counted-chunks.ts";

const counter = agent(
  { name: "counter", description: "Counts" },
  async function* () {
    for (const chunk of COUNTED_CHUNKS) {
      yield chunk;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
  { artifacts: "pieces" },
);
let server: ReturnType<typeof createServer> | undefined;

const handler = {
  fetch(request: Request, _environment: unknown, context: object): Promise<Response> {
    // Workers create no random values before a request.
    server ??= createServer({ counter }, { store: "memory", observer: false });
    return server.fetch(request, context);
  },
};
export default handler;
