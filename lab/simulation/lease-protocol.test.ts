import { expect, it } from "vitest";
import { ALL_RULES, exploreProtocol } from "./lease-protocol.ts";

it("no interleaving of two nodes and two tasks breaks the lease protocol, or leaves a turn that cannot end [E11, E21]", () => {
  const { stateCount, violation, stuckCount } = exploreProtocol();
  expect({ violation, stuckCount }).toEqual({ violation: undefined, stuckCount: 0 });
  expect(stateCount).toBeGreaterThan(1000);
});

it.each([{ checksEpoch: false }, { checksNodes: false }])("the exploration notices %j", (missing) => {
  expect(exploreProtocol({ ...ALL_RULES, ...missing }).violation).toBeDefined();
});
