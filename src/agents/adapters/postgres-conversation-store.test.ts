import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { PostgresStore } from "../../stores/index.ts";
import { createPostgresConversationStore } from "./postgres-conversation-store.ts";

const { url, reason } = await findTestDatabase();
const createConversationKey = (contextId: string, principal = "ada", tenant = "") => ({
  tenant,
  principal,
  contextId,
});

describe.skipIf(reason)("conversations in PostgreSQL", () => {
  let stores: PostgresStore[];

  beforeAll(async () => {
    stores = [new PostgresStore(url), new PostgresStore(url)];
    await Promise.all(stores.map((store) => store.open()));
  });

  afterAll(() => Promise.all(stores.map((store) => store.close())));

  it("are the same on every node, in the order of the turns", async () => {
    const [first, second] = stores.map((store) => createPostgresConversationStore<string>(store, "planner"));
    const key = createConversationKey("a");
    expect(await second?.load(key)).toEqual([]);
    await first?.append(key, ["1", "2"]);
    await second?.append(key, ["3"]);
    expect(await first?.load(key)).toEqual(["1", "2", "3"]);
  });

  it("accept the first turns of a context from two nodes at once", async () => {
    const nodes = stores.map((store) => createPostgresConversationStore<number>(store, "race"));
    for (let round = 0; round < 20; round++) {
      const key = createConversationKey(`race ${round}`);
      await Promise.all(nodes.map(async (node, at) => await node.append(key, [at])));
      expect(new Set(await nodes[0]?.load(key))).toEqual(new Set([0, 1]));
    }
  });

  it("belong to one caller and one agent", async () => {
    const planner = createPostgresConversationStore<string>(stores[0]!, "planner");
    await planner.append(createConversationKey("mine", "ada", "acme"), ["secret"]);
    for (const key of [createConversationKey("mine"), createConversationKey("mine", "bob", "acme")])
      expect(await planner.load(key)).toEqual([]);
    const writer = createPostgresConversationStore<string>(stores[0]!, "writer");
    expect(await writer.load(createConversationKey("mine", "ada", "acme"))).toEqual([]);
  });

  it("return the newest turns, and only whole turns", async () => {
    const limited = createPostgresConversationStore<string>(stores[0]!, "limited", { maxTurns: 2 });
    const key = createConversationKey("long");
    for (const turn of ["1", "2", "3"]) await limited.append(key, [`user ${turn}`, `agent ${turn}`]);
    expect(await limited.load(key)).toEqual(["user 2", "agent 2", "user 3", "agent 3"]);
  });

  it("need a store that stores sessions", () => {
    expect(() => createPostgresConversationStore({ name: "memory" }, "a")).toThrow(
      /memory stores no conversations; pass a PostgresStore/,
    );
  });
});
