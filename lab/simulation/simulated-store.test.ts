import { defineTaskStoreContract } from "../../src/stores/task-store.contract.ts";
import { FakeClock } from "../../src/engine/engine.fixture.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { runStatementAtOnce, SimulatedStore } from "./simulated-store.ts";

defineTaskStoreContract(
  "SimulatedStore",
  () => {
    const clock = new FakeClock();
    const database = new SimulatedDatabase(() => clock.time);
    return new SimulatedStore(database, runStatementAtOnce, clock, {
      leaseMs: 15_000,
      waitingTurnPollMs: 250,
    });
  },
  { hasOverview: false },
);
