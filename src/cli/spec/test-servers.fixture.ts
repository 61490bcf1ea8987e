import { once } from "node:events";
import { vi } from "vitest";
import {
  agent,
  artifact,
  authRequired,
  data,
  failed,
  file,
  inputRequired,
  reply,
  status,
  text as textPart,
} from "../../agents/adapters/index.ts";
import { serveWithOfficialSdk } from "../../client/a2a-js-server.fixture.ts";
import type { Agent } from "../../engine/index.ts";
import { createServer } from "../../server/index.ts";

/**
 * Creates an agent that follows instructions in the text. It covers every state and every kind of part in the
 * CLI specification.
 */
export const instructionFollowingTestAgent: Agent = agent(
  { name: "actor", description: "Does what it is told", capabilities: { streaming: true } },
  async function* ({ text, message, signal, history }) {
    if (text === "fail") yield failed("No luck.");
    else if (text === "reject") yield { status: { state: "TASK_STATE_REJECTED" } };
    else if (text === "ask") yield inputRequired("Which city?");
    else if (text === "login") yield authRequired("Who are you?");
    else if (text === "message") yield reply("Just a message.");
    else if (text === "wait") {
      yield status("Working…");
      yield "waiting";
      await once(signal, "abort");
    } else if (text === "parts") {
      yield artifact(
        { name: "report" },
        textPart("All of it:"),
        data({ rows: 2 }),
        file(Buffer.from("hello"), { filename: "hello.txt", mediaType: "text/plain" }),
        file(new URL("https://example.com/big.bin"), { filename: "big.bin", mediaType: "application/zip" }),
      );
    } else if (message.parts.length > 1 || text === "")
      yield artifact({ name: "heard" }, data(JSON.stringify(message.parts)));
    else {
      yield status("Working…");
      yield `You said: ${text}`;
      yield artifact({ name: "turn" }, data({ messages: history.length }));
    }
  },
  { respondsWith: "either" },
);

export interface RunningTestServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the text-driven agent on our server, over JSON-RPC, HTTP+JSON, and gRPC. */
export async function startInstructionFollowingTestServer(): Promise<RunningTestServer> {
  const server = createServer(instructionFollowingTestAgent, { store: "memory" });
  const { url } = await server.listen({ grpc: { port: 0 } });
  return { url, close: () => server.close({ graceMs: 50 }) };
}

/**
 * Servers from two vendors with an agent that supports `ask`, `wait`, and `message`, and answers every other
 * text with an artifact.
 */
export const TEST_SERVERS: readonly (readonly [name: string, serve: () => Promise<RunningTestServer>])[] = [
  ["our server", startInstructionFollowingTestServer],
  ["the official SDK's server", startOfficialSdkTestServer],
];

/** The official server logs each error that it returns before a stream starts. */
function startOfficialSdkTestServer(): Promise<RunningTestServer> {
  vi.spyOn(console, "error").mockReturnValue();
  return serveWithOfficialSdk();
}
