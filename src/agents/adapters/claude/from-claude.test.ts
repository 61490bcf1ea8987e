import { expect, it, onTestFinished, vi } from "vitest";
import { createServer } from "../../../server/index.ts";
import { fromClaude } from "./index.ts";
import { decodeClaudeResult } from "./sdk-message.ts";

/** Sends a message to an agent of Claude, and returns the environment for the process of Claude. */
async function readClaudeEnvironment(queryOptions?: object): Promise<Record<string, string>> {
  let received: Record<string, string> = {};
  async function* query({ options }: { options: object }): AsyncGenerator {
    received = (options as { env: Record<string, string> }).env;
    yield { type: "result", subtype: "success", result: "done" };
  }
  const description = { name: "claude", description: "Answers" };
  const agent = fromClaude(query, {
    ...description,
    ...(queryOptions ? { toQueryOptions: () => queryOptions } : {}),
  });
  const server = createServer(agent, { store: "memory", observer: false });
  onTestFinished(() => server.close());
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
  await server.fetch(
    new Request("http://localhost/message:send", {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({ message }),
    }),
  );
  return received;
}

it("the process of Claude inherits no secrets of the server, except for those that Claude needs", async () => {
  vi.stubEnv("COLLOQUY_TOKEN", "secret");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret of AWS");
  vi.stubEnv("ANTHROPIC_API_KEY", "key");
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = await readClaudeEnvironment({ env: undefined });
  expect(env).toMatchObject({ ANTHROPIC_API_KEY: "key", PATH: process.env["PATH"] });
  expect(JSON.stringify(env)).not.toContain("secret");
  vi.stubEnv("CLAUDE_CODE_USE_BEDROCK", "1");
  expect(await readClaudeEnvironment()).toMatchObject({ AWS_SECRET_ACCESS_KEY: "secret of AWS" });
  expect(await readClaudeEnvironment({ env: { MINE: "1" } })).toEqual({ MINE: "1" });
});

it("the input tokens of Claude include those of its cache, as with the other adapters", () => {
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 100,
    cache_read_input_tokens: 900,
    output_tokens: 5,
  };
  expect(decodeClaudeResult({ type: "result", subtype: "success", usage })).toMatchObject({
    inputTokens: 1003,
    outputTokens: 5,
  });
});
