/**
 * Serves the scripted ADK agent and a generator agent with Colloquy, in a process that the harness can kill.
 * Prints `{"adk":URL,"generator":URL}`. All options have their defaults, except for the ports, the store, and the
 * session state key that the scenario `state` sends.
 *
 *   our-servers.ts ADK_PORT GENERATOR_PORT FOLDER whole|pieces
 */
import { toA2a } from "../../../../src/agents/adk/index.ts";
import { createServer } from "../../../../src/server/index.ts";
import { createScenarioAgent } from "../frameworks/scenario-agent.ts";
import script from "./scripted-agent.json" with { type: "json" };
import type { ScriptedAgentFile } from "./scripted-agent-file.ts";
import { createFileScriptedAgent } from "./js/scripted-agent.ts";

const [adkPort, generatorPort, folder, artifacts] = process.argv.slice(2);
const adkServer = toA2a(createFileScriptedAgent(script as unknown as ScriptedAgentFile), {
  port: Number(adkPort),
  store: `sqlite:${folder}/adk.db`,
  sendState: ["mood"],
});
const generatorServer = createServer(createScenarioAgent(artifacts as "whole" | "pieces"), {
  store: `sqlite:${folder}/generator.db`,
});
const [{ url: adk }, { url: generatorUrl }] = await Promise.all([
  adkServer.listen(),
  generatorServer.listen({ port: Number(generatorPort) }),
]);
console.log(JSON.stringify({ adk, generator: generatorUrl }));
process.stdin.on("end", () => process.exit(0)).resume();
