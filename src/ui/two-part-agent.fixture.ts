import { agent } from "../agents/adapters/index.ts";
import type { Agent } from "../engine/index.ts";

/** Creates a test agent that answers `first `, and then `second` after `gate` has resolved. */
export function createTwoPartTestAgent(gate: Promise<void>): Agent {
  return agent({ name: "helper", description: "Helps" }, async function* () {
    yield "first ";
    await gate;
    yield "second";
  });
}
