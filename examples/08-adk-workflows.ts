/**
 * ADK's workflow agents, each served beside the others: one after the other, side by side, again and again until
 * somebody is content, and a graph of agents and functions. What each agent says is an artifact of its own.
 *
 *     npm run -s example examples/08-adk-workflows.ts
 */
import {
  EXIT_LOOP,
  LlmAgent,
  LogLevel,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  setLogLevel,
  Workflow,
} from "@google/adk";
import { connect, createServer, textOf } from "colloquy";
import { adkAgent, type Script, ScriptedLlm } from "colloquy/adk";

// ADK warns that Workflow will take the place of the three others.
setLogLevel(LogLevel.ERROR);

const writer = (name: string, script: Script): LlmAgent =>
  new LlmAgent({
    name,
    description: `writes as ${name}`,
    model: new ScriptedLlm(script),
    tools: [EXIT_LOOP],
  });

const sequence = new SequentialAgent({
  name: "sequence",
  subAgents: [writer("author", ["A draft."]), writer("editor", ["A better draft."])],
});
const parallel = new ParallelAgent({
  name: "parallel",
  subAgents: [writer("prose", ["A story."]), writer("verse", ["A poem."])],
});
const loop = new LoopAgent({
  name: "loop",
  maxIterations: 5,
  subAgents: [writer("polisher", ({ turn }) => (turn < 2 ? `Version ${turn + 1}.` : { call: "exit_loop" }))],
});

const count = (_: unknown, said: string): object => ({ words: said.split(" ").length });
const workflow = new Workflow({
  name: "workflow",
  edges: [["START", writer("counted", ["One two three."]), count]],
});

const server = createServer(
  {
    sequence: adkAgent(sequence),
    parallel: adkAgent(parallel),
    loop: adkAgent(loop),
    workflow: adkAgent(workflow),
  },
  { store: "memory" },
);
const { agents } = await server.listen({ port: 0 });
for (const { id, url } of agents) {
  const remote = await connect(url);
  const result = await remote.send("Write something");
  const artifacts = "task" in result ? (result.task.artifacts ?? []) : [];
  const lines = artifacts.flatMap(({ parts, metadata }) => {
    const text = textOf(parts);
    return text ? [`${JSON.stringify(metadata?.["adk_author"])}: ${text}`] : [];
  });
  console.log(`${id} | ${lines.toSorted().join(" ")}`);
}
await server.close();
