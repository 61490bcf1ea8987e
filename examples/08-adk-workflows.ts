/**
 * Serves four kinds of ADK workflows on one server: a sequence, a parallel agent, a loop with an exit
 * condition, and a graph of agents and functions. Every agent's answer is a separate artifact.
 *
 *     npm run -s example examples/08-adk-workflows.ts
 */
import {
  type BaseTool,
  EXIT_LOOP,
  LlmAgent,
  LogLevel,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  setLogLevel,
  Workflow,
} from "@google/adk";
import { connect, createServer, getText } from "colloquy";
import { adkAgent, type Script, ScriptedLlm } from "colloquy/adk";

// Hides ADK's warning that `Workflow` will replace the three other agent types.
setLogLevel(LogLevel.ERROR);

/** Creates an agent that follows a script unless a Gemini key is set. */
const writer = (name: string, instruction: string, script: Script, tools: BaseTool[] = []): LlmAgent =>
  new LlmAgent({
    name,
    instruction,
    model: process.env["GEMINI_API_KEY"] ? "gemini-2.5-flash" : new ScriptedLlm(script),
    tools,
  });

const sequence = new SequentialAgent({
  name: "sequence",
  subAgents: [
    writer("author", "Draft one sentence.", ["A draft."]),
    writer("editor", "Make the draft better.", ["A better draft."]),
  ],
});

const parallel = new ParallelAgent({
  name: "parallel",
  subAgents: [
    writer("prose", "Answer in prose.", ["A story."]),
    writer("verse", "Answer in verse.", ["A poem."]),
  ],
});

const polisher = writer(
  "polisher",
  "Improve the text. When it cannot be improved, call exit_loop.",
  ({ requestIndex }) => (requestIndex < 2 ? `Version ${requestIndex + 1}.` : { call: "exit_loop" }),
  [EXIT_LOOP],
);
const loop = new LoopAgent({ name: "loop", maxIterations: 5, subAgents: [polisher] });

// A workflow step may be a function whose second argument is the output of the previous step.
const count = (_: unknown, text: string): object => ({ words: text.split(" ").length });
const workflow = new Workflow({
  name: "workflow",
  edges: [["START", writer("counted", "Say something short.", ["One two three."]), count]],
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
    const text = getText(parts);
    return text ? [`${JSON.stringify(metadata?.["adk_author"])}: ${text}`] : [];
  });
  console.log(`${id} | ${lines.toSorted().join(" ")}`);
}
await server.close();
