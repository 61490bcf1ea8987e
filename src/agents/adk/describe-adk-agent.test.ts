import {
  BaseAgent,
  BaseToolset,
  ExampleTool,
  FunctionTool,
  LlmAgent,
  LogLevel,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  setLogLevel,
  UnsafeLocalCodeExecutor,
  Workflow,
} from "@google/adk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { assertValidAgentCard } from "../../protocol/index.ts";
import { buildAgentSkills, describeAdkAgent, rewriteInstructionInFirstPerson } from "./describe-adk-agent.ts";

setLogLevel(LogLevel.ERROR);

class CustomAgent extends BaseAgent {
  protected override async *runAsyncImpl(): AsyncGenerator<never, void, void> {}
  protected override async *runLiveImpl(): AsyncGenerator<never, void, void> {}
}

const createCustomAgent = (name: string, description = ""): BaseAgent =>
  new CustomAgent({ name, description });
const createInnerAgents = (): BaseAgent[] => [
  createCustomAgent("Inner_1", "Inner 1 description"),
  createCustomAgent("Inner_2", "Inner 2 description"),
];
const testAgentConfig = { name: "Test", description: "Test test." };
const expectedInnerSkills = ["Inner_1", "Inner_2"].map((name) => ({
  id: `${name}_${name}`,
  name: `${name}: custom`,
  description: `${name.replace("_", " ")} description`,
  tags: [`sub_agent:${name}`, "custom_agent"],
}));

describe("the skills of an agent", () => {
  it("of a custom agent [C01]", async () => {
    expect(await buildAgentSkills(createCustomAgent("Test", "Test test"))).toEqual([
      { id: "Test", name: "custom", description: "Test test", tags: ["custom_agent"] },
    ]);
    expect(await buildAgentSkills(createCustomAgent("Test"))).toMatchObject([
      { description: "A custom agent" },
    ]);
  });

  it("have unique ids, even if tools have the same name [A-11]", async () => {
    const add = (description: string): FunctionTool =>
      new FunctionTool({ name: "add", description, parameters: z.object({}), execute: () => ({}) });
    const agent = new LlmAgent({ name: "twice", tools: [add("Adds"), add("Adds more")] });
    const described = await describeAdkAgent(agent);
    expect(described.skills?.map(({ id }) => id)).toEqual(["twice", "twice-add", "twice-add-2"]);
    expect(() => assertValidAgentCard(described)).not.toThrow();
  });

  it("of an LLM agent: the model, its tools, and code execution [C02, C03]", async () => {
    const tools = [
      new FunctionTool({ name: "add", description: "Adds", parameters: z.object({}), execute: () => ({}) }),
      new FunctionTool({ name: "sub", description: "", parameters: z.object({}), execute: () => ({}) }),
    ];
    const agent = new LlmAgent({
      name: "Test_LLM",
      description: "Test llm.",
      instruction: "You're a helpful agent, only respond with useful information.",
      tools,
      codeExecutor: new UnsafeLocalCodeExecutor(),
    });
    const others = [
      { id: "Test_LLM-add", name: "add", description: "Adds", tags: ["llm", "tools"] },
      { id: "Test_LLM-sub", name: "sub", description: "Tool: sub", tags: ["llm", "tools"] },
      {
        id: "Test_LLM-code-executor",
        name: "code-execution",
        description: "Can execute code",
        tags: ["llm", "code_execution"],
      },
    ];
    expect(await buildAgentSkills(agent)).toEqual([
      { id: "Test_LLM", name: "model", description: "Test llm.", tags: ["llm"] },
      ...others,
    ]);
    expect((await buildAgentSkills(agent, { includeInstructions: true }))[0]?.description).toBe(
      "Test llm. I am a helpful agent, only respond with useful information.",
    );
  });

  it("of an agent with a planner, as in Python's bridge", async () => {
    class PlanningAgent extends LlmAgent {
      readonly planner = { name: "plans and reacts" };
    }
    const codeExecutor = new UnsafeLocalCodeExecutor();
    const skills = await buildAgentSkills(new PlanningAgent({ name: "a", codeExecutor }));
    expect(skills.map(({ id }) => id)).toEqual(["a", "a-planner", "a-code-executor"]);
    expect(skills[1]).toEqual({
      id: "a-planner",
      name: "planning",
      description: "Can think about the tasks to do and make plans",
      tags: ["llm", "planning"],
    });
  });

  it("omits instructions that are functions", async () => {
    const agent = new LlmAgent({ name: "a", instruction: () => "You are secret." });
    expect(await buildAgentSkills(agent, { includeInstructions: true })).toMatchObject([
      { description: "An LLM-based agent" },
    ]);
  });

  it("includes the questions of its examples", async () => {
    const example = { input: { role: "user", parts: [{ text: "2 + 2?" }] }, output: [] };
    const agent = new LlmAgent({ name: "a", tools: [new ExampleTool([example])] });
    expect((await buildAgentSkills(agent))[0]?.examples).toEqual(["2 + 2?"]);
  });

  it.each([
    [
      "an empty loop [C04]",
      () => new LoopAgent({ ...testAgentConfig, subAgents: [] }),
      "loop_workflow",
      "Test test.",
    ],
    [
      "a loop of at most five [C05]",
      () => new LoopAgent({ ...testAgentConfig, subAgents: createInnerAgents(), maxIterations: 5 }),
      "loop_workflow",
      "Test test. This agent will Inner 1 description and Inner 2 description in a loop (max 5 iterations).",
    ],
    [
      "a loop without a bound [C06]",
      () => new LoopAgent({ ...testAgentConfig, subAgents: createInnerAgents() }),
      "loop_workflow",
      "Test test. This agent will Inner 1 description and Inner 2 description in a loop (max unlimited iterations).",
    ],
    [
      "a sequence [C07]",
      () => new SequentialAgent({ ...testAgentConfig, subAgents: createInnerAgents() }),
      "sequential_workflow",
      "Test test. First, this agent will Inner 1 description. Finally, this agent will Inner 2 description.",
    ],
    [
      "parallel agents [C08]",
      () => new ParallelAgent({ ...testAgentConfig, subAgents: createInnerAgents() }),
      "parallel_workflow",
      "Test test. This agent will Inner 1 description and Inner 2 description simultaneously.",
    ],
  ])("orchestrates: %s", async (_, make, tag, description) => {
    const agent = make();
    const [self, ...rest] = await buildAgentSkills(agent);
    expect(self).toEqual({ id: "Test", name: "workflow", description, tags: [tag] });
    if (agent.subAgents.length === 0) expect(rest).toEqual([]);
    else {
      expect(rest).toEqual([
        {
          id: "Test-sub-agents",
          name: "sub-agents",
          description: "Orchestrates: Inner 1 description; Inner 2 description",
          tags: [tag, "orchestration"],
        },
        ...expectedInnerSkills,
      ]);
    }
  });

  it("includes direct sub-agents and no deeper levels [C09]", async () => {
    const nested = new LoopAgent({
      name: "Nested",
      description: "Nested loop",
      subAgents: [
        new LlmAgent({ name: "LLM", description: "Test llm" }),
        createCustomAgent("Leaf", "Leaf agent"),
      ],
    });
    const skills = await buildAgentSkills(new SequentialAgent({ ...testAgentConfig, subAgents: [nested] }));
    expect(skills.slice(2)).toEqual([
      {
        id: "Nested_Nested",
        name: "Nested: workflow",
        description:
          "Nested loop This agent will Test llm and Leaf agent in a loop (max unlimited iterations).",
        tags: ["sub_agent:Nested", "loop_workflow"],
      },
      {
        id: "Nested_Nested-sub-agents",
        name: "Nested: sub-agents",
        description: "Orchestrates: Test llm; Leaf agent",
        tags: ["sub_agent:Nested", "loop_workflow", "orchestration"],
      },
    ]);
  });

  it("describes a workflow", async () => {
    const workflow = new Workflow({ name: "flow", edges: [["START", createCustomAgent("step")]] });
    expect(await buildAgentSkills(workflow)).toEqual([
      { id: "flow", name: "workflow", description: "Workflow flow", tags: ["workflow"] },
    ]);
  });
});

class BrokenToolset extends BaseToolset {
  readonly #listTools: () => Promise<never>;

  constructor(answer: () => Promise<never>) {
    super([]);
    this.#listTools = answer;
  }

  override getTools(): Promise<never> {
    return this.#listTools();
  }

  override async close(): Promise<void> {}
}

describe("a card", () => {
  it.each([
    ["fails", () => Promise.reject(new Error("no such server"))],
    ["hangs", () => new Promise<never>(() => {})],
  ])("is available even if a toolset %s, and the error is reported once", async (_, answer) => {
    const agent = new LlmAgent({ name: "a", description: "Does.", tools: [new BrokenToolset(answer)] });
    const errors: string[] = [];
    const options = {
      toolsetTimeoutMs: 1,
      observer: { onError: ({ where }: { where: string }) => errors.push(where) },
    };
    await describeAdkAgent(agent, options);
    const description = await describeAdkAgent(agent, options);
    expect(description).toMatchObject({ name: "a", description: "Does.", skills: [{ id: "a" }] });
    expect(errors).toEqual(["agent card: a toolset of a"]);
  });

  it("has MIME types, streams, and declares the extension of ADK's bridges [J26]", async () => {
    expect(await describeAdkAgent(createCustomAgent("a"), { version: "2.1.0" })).toMatchObject({
      description: "A custom agent",
      version: "2.1.0",
      capabilities: {
        streaming: true,
        extensions: [{ uri: "https://google.github.io/adk-docs/a2a/a2a-extension/" }],
      },
      defaultInputModes: ["text/plain", "application/json", "*/*"],
    });
  });
});

describe("an instruction in the first person", () => {
  it.each([
    [
      "all forms [P01]",
      "you are an agent. you were an agent, you're an agent, you've tasks, your tasks",
      "I am an agent. I was an agent, I am an agent, I have tasks, my tasks",
    ],
    [
      "possession [P02]",
      "You should do your work and it will be yours.",
      "I should do my work and it will be mine.",
    ],
    [
      "capital letters [P03]",
      "YOU should do YOUR work and it will be YOURS.",
      "I should do my work and it will be mine.",
    ],
    ["words with the same prefix [P04]", "youth, yourself, yourname", "youth, yourself, yourname"],
    ["at the beginning [P05]", "Your task is to be helpful", "my task is to be helpful"],
    ["repetition [P06]", "you you you", "I I I"],
  ])("%s", (_, instruction, expected) => expect(rewriteInstructionInFirstPerson(instruction)).toBe(expected));
});
