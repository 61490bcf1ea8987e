import { LlmAgent } from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { connect } from "../../client/index.ts";
import type { Server } from "../../server/index.ts";
import { ScriptedLlm } from "./models/index.ts";
import { PostgresSessionService } from "./sessions/postgres-session-service.ts";
import { toA2a } from "./to-a2a.ts";

const { url, reason } = await findTestDatabase();

function createCounterAgent(): LlmAgent {
  const model = new ScriptedLlm(({ request }) => `Messages: ${request.contents.length}`);
  return new LlmAgent({ name: "counter", description: "Counts", model });
}

describe.skipIf(reason)("toA2a with a PostgreSQL store", () => {
  const servers: Server[] = [];

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close({ graceMs: 50 })));
  });

  it("shares the sessions between two servers, which clients can call in turn", async () => {
    const texts: string[] = [];
    for (let at = 0; at < 2; at++)
      servers.push(toA2a(createCounterAgent(), { store: url as `postgres://${string}` }));
    const clients = await Promise.all(
      servers.map(async (server) => await connect((await server.listen({ port: 0 })).url)),
    );
    for (let round = 0; round < 4; round++)
      texts.push((await clients[round % 2]!.ask("next", { contextId: "shared" })).text);
    expect(texts).toEqual(["Messages: 1", "Messages: 3", "Messages: 5", "Messages: 7"]);
  });
});

it("PostgresSessionService refuses a store without sessions", () => {
  expect(() => new PostgresSessionService({ name: "memory" })).toThrow(
    /memory stores no sessions; pass a PostgresStore/,
  );
});
