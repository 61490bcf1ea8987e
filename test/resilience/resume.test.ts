import { setTimeout } from "node:timers/promises";
import { describe, it, onTestFinished } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";
import { countRuns } from "../support/count-runs.ts";
import { STORE_FACTORIES } from "../support/store-factories.ts";
import { COUNTED_CHUNKS } from "./counted-chunks.ts";
import { expectWholeStreams } from "./cut-streams.ts";

const CLIENTS = countRuns(40, 200);
/** Merging changes the size of events and not how streams resume, so that fewer streams suffice. */
const CLIENTS_OF_MERGED_CHUNKS = countRuns(20, 50);
const CUTS_PER_CLIENT = 5;

// The agent never repeats text, so the test finds lost and repeated events.
const counter = agent(
  { name: "counter", description: "Counts" },
  async function* () {
    for (const chunk of COUNTED_CHUNKS) {
      yield chunk;
      await setTimeout(1);
    }
  },
  { artifacts: "pieces" },
);

const SERVERS = STORE_FACTORIES.flatMap(({ name, openStore }) => [
  { name, merge: false, openStore },
  { name: `${name}, with ${CLIENTS_OF_MERGED_CHUNKS} streams of merged chunks`, merge: true, openStore },
]);

describe(`${CLIENTS} streams at once, each cut ${CUTS_PER_CLIENT} times at random points and resumed`, () => {
  it.each(SERVERS)(
    "lose no event and receive none twice with $name [E3, E4, F-53, G-03]",
    async ({ openStore, merge }) => {
      const { store, remove } = await openStore();
      onTestFinished(remove);
      const server = createServer({ counter }, { store, mergeChunks: merge });
      onTestFinished(() => server.close());
      const { agents } = await server.listen();
      const clients = merge ? CLIENTS_OF_MERGED_CHUNKS : CLIENTS;
      await expectWholeStreams(agents[0]?.url ?? "", { clients, cuts: CUTS_PER_CLIENT });
    },
  );
});
