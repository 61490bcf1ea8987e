/**
 * Serves the scripted ADK agent and a generator agent with Colloquy, in a process that the harness can kill.
 * Prints `{"adk":URL,"generator":URL}`. All options have their defaults, except for the ports and the store.
 *
 *   our-servers.ts ADK_PORT GENERATOR_PORT FOLDER
 */
import { setTimeout as pause } from "node:timers/promises";
import { agent, authRequired, data, failed, file, inputRequired } from "../../../src/adapters/index.ts";
import { toA2a } from "../../../src/adk/index.ts";
import { fromBase64 } from "../../../src/protocol/index.ts";
import { createServer } from "../../../src/server/index.ts";
import script from "./scripted-agent.json" with { type: "json" };
import type { ScriptedAgentFile } from "./scripted-agent-file.ts";
import { createFileScriptedAgent } from "./js/scripted-agent.ts";

const PAUSE_MS = 150;

const generator = agent({ name: "counter", description: "Counts." }, async function* ({ text, task }) {
  const isAnswer = (task.history ?? []).filter(({ role }) => role === "ROLE_USER").length > 1;
  if (text === "ask") yield inputRequired("Which color?");
  else if (text === "sign in") yield authRequired("Sign in first.");
  else if (isAnswer) yield `Answered: ${text}`;
  else if (text === "files") {
    yield "Here it is: ";
    yield file(fromBase64("iVBORw0KGgo="), { mediaType: "image/png", filename: "dot.png" });
    yield data({ width: 1 });
  } else if (text === "fail") {
    yield "Partly. ";
    yield failed("no credit");
  } else {
    for (const word of ["one ", "two ", "three"]) {
      yield word;
      await pause(PAUSE_MS);
    }
  }
});

const [adkPort, generatorPort, folder] = process.argv.slice(2);
const adkServer = toA2a(createFileScriptedAgent(script as unknown as ScriptedAgentFile), {
  port: Number(adkPort),
  store: `sqlite:${folder}/adk.db`,
});
const generatorServer = createServer(generator, { store: `sqlite:${folder}/generator.db` });
const [{ url: adk }, { url: generatorUrl }] = await Promise.all([
  adkServer.listen(),
  generatorServer.listen({ port: Number(generatorPort) }),
]);
console.log(JSON.stringify({ adk, generator: generatorUrl }));
process.stdin.on("end", () => process.exit(0)).resume();
