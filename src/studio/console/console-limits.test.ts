import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { MAX_URL_LENGTH } from "../../protocol/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import { CardBudget } from "./card-budget.ts";
import { ConsoleTestServer } from "./console.fixture.ts";

let console: ConsoleTestServer;
afterEach(() => console.close());

const start = async (options = {}, serverOptions = {}): Promise<void> => {
  console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent }, serverOptions, options);
};

const readReason = async (response: Response): Promise<unknown> => {
  const { error } = (await response.json()) as { error: { reason: string } };
  return [response.status, error.reason];
};

describe("a caller of the console", () => {
  it.each(["POST agents", "PUT agents/parrot/credentials"])("sends at most 64 KiB to %s", async (route) => {
    await start();
    const body = { url: "x".repeat(64 * 2 ** 10) };
    expect(await readReason(await console.request(route, { body }))).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it.each([
    ["a URL of more than 2,048 characters", `http://127.0.0.1:1/${"x".repeat(MAX_URL_LENGTH)}`],
    [
      "a URL whose encoding has more than 2,048 characters",
      `http://127.0.0.1:1/${"é".repeat(MAX_URL_LENGTH / 2)}`,
    ],
  ])("adds no agent with %s [SEC-81]", async (_, url) => {
    await start();
    expect(await readReason(await console.request("POST agents", { body: { url } }))).toEqual([
      400,
      "INVALID_PARAMS",
    ]);
  });

  it("sends at most 50,000 JSON values [SEC-82]", async () => {
    await start();
    const message = { parts: [{ data: Array.from({ length: 50_001 }, () => 1) }] };
    const response = await console.request("POST agents/parrot/messages", { body: { message } });
    expect(await readReason(response)).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("adds at most 50 agents", async () => {
    await start({ allowPrivate: false });
    for (let number = 1; number <= 50; number++) {
      const response = await console.request("POST agents", { body: { url: `http://127.0.0.1/${number}` } });
      expect(response.status).toBe(201);
    }
    const response = await console.request("POST agents", { body: { url: "http://127.0.0.1/51" } });
    expect(await readReason(response)).toEqual([429, "RESOURCE_EXHAUSTED"]);
  });

  it("holds the bytes of its messages until their streams end [SEC-83]", async () => {
    const release = Promise.withResolvers<void>();
    const slow = agent({ name: "slow", description: "Waits." }, async function* () {
      await release.promise;
      yield "done";
    });
    // One caller can reserve a fifth.
    console = await ConsoleTestServer.start({ slow }, { limits: { bufferedBytes: 1_000_000 } });
    const body = { message: { parts: [{ text: "x".repeat(150_000) }] } };
    const first = await console.request("POST agents/slow/messages", { body });
    expect(first.status).toBe(200);
    const second = await console.request("POST agents/slow/messages", { body });
    expect(await readReason(second)).toEqual([429, "RESOURCE_EXHAUSTED"]);
    release.resolve();
    await first.text();
    const later = await console.request("POST agents/slow/messages", { body });
    expect(later.status).toBe(200);
    await later.text();
  });
});

describe("the budget for cards of added agents", () => {
  it("counts each agent once, and has room again after an agent is removed", () => {
    const budget = new CardBudget();
    const bytes = 5 * 2 ** 20;
    budget.reserve("a", bytes);
    budget.reserve("a", bytes);
    expect(() => budget.reserve("b", bytes)).toThrow("remove one of the agents");
    budget.release("a");
    budget.reserve("b", bytes);
  });
});
