/**
 * Peer program of ADK for JavaScript.
 *
 *   main.ts server, own-server   serves the scripted agent with ADK's own server
 *   main.ts run bare             runs scenarios with the scripted agent in a bare Runner
 *   main.ts run URL              runs scenarios with ADK's RemoteA2AAgent
 *   main.ts run-colloquy URL     runs scenarios with Colloquy's RemoteAgent
 *
 * `run` reads one scenario per line from stdin and prints one session report per line.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { type BaseAgent, LogLevel, RemoteA2AAgent, setLogLevel, toA2a } from "@google/adk";
import { RemoteAgent } from "../../../../../src/agents/adk/index.ts";
import file from "../scripted-agent.json" with { type: "json" };
import type { Scenario, ScriptedAgentFile } from "../scripted-agent-file.ts";
import { cutFirstStream } from "./cut-first-stream.ts";
import { runScenario } from "./scenario-runner.ts";
import { createFileScriptedAgent } from "./scripted-agent.ts";

setLogLevel(LogLevel.ERROR);
console.warn = console.error;
console.info = console.error;
console.debug = console.error;
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const scripted = file as unknown as ScriptedAgentFile;
const [mode = "", target = ""] = process.argv.slice(2);
if (mode === "server" || mode === "own-server") await serveScriptedAgent();
else await runScenariosFromStdin();

async function serveScriptedAgent(): Promise<void> {
  // ADK's server writes its port into its card, so the port must be known in advance.
  const listener = createServer((request, response) => app(request, response));
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const options = { allowUnauthenticated: true, host: "127.0.0.1", port };
  const app = (await toA2a(createFileScriptedAgent(scripted), options)) as RequestListener;
  print({ url: `http://127.0.0.1:${port}` });
  process.stdin.on("end", () => process.exit(0)).resume();
}

async function runScenariosFromStdin(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const interrupt = async (): Promise<void> => {
    print({ interruption: true });
    await lines.next();
  };
  for (;;) {
    const line = await lines.next();
    if (line.done) process.exit(0);
    const scenario = JSON.parse(line.value) as Scenario & { cutAfterEvents?: number };
    try {
      print(await runScenario(scenario, createAgent(scenario), interrupt));
    } catch (error) {
      print({ error: String(error) });
    }
  }
}

function createAgent({ cutAfterEvents }: { cutAfterEvents?: number }): BaseAgent {
  if (target === "bare") return createFileScriptedAgent(scripted);
  if (mode === "run") return new RemoteA2AAgent({ name: "far", agentCard: target });
  return new RemoteAgent({
    name: "far",
    agent: target,
    receiveState: ["mood"],
    ...(cutAfterEvents !== undefined && { connect: { fetch: cutFirstStream(cutAfterEvents) } }),
  });
}
