import { agent } from "../../../src/agents/adapters/index.ts";
import { connect } from "../../../src/client/index.ts";
import { createServer } from "../../../src/server/index.ts";
import type { TaskStore } from "../../../src/engine/index.ts";

/** Time in milliseconds that a step adds to the work of its function. */
export interface StepCost {
  readonly steps: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** Measures steps that return a small object, one after the other, in one turn on the store. */
export async function measureStepCost(store: TaskStore, steps: number): Promise<StepCost> {
  const warmupSteps = Math.ceil(steps / 10);
  const timesMs: number[] = [];
  const worker = agent(
    { name: "worker", description: "Executes steps" },
    async function* ({ once }) {
      for (let number = 0; number < warmupSteps + steps; number++) {
        const startedAt = performance.now();
        await once(`step ${number}`, () => ({ number, receipt: "r".repeat(100) }));
        if (number >= warmupSteps) timesMs.push(performance.now() - startedAt);
      }
      yield "done";
    },
    { afterRestart: "restart" },
  );
  const server = createServer({ worker }, { store, observer: false });
  const { url } = await server.listen({ port: 0 });
  await (await connect(url)).send("go");
  await server.close({ graceMs: 0 });
  timesMs.sort((a, b) => a - b);
  const getPercentile = (share: number): number =>
    Number((timesMs[Math.floor(timesMs.length * share)] ?? Number.NaN).toFixed(3));
  return { steps, medianMs: getPercentile(0.5), p99Ms: getPercentile(0.99) };
}
