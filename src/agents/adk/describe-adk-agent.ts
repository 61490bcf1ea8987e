import { resolveObserver } from "../../observe/logging/index.ts";
import type { AgentDescription, Observer } from "../../engine/index.ts";
import type { AgentSkill } from "../../protocol/index.ts";
import { ADK_EXTENSION_URI } from "./adk-event-metadata.ts";

/** Options for the agent card of an ADK agent. */
export interface AdkCardOptions {
  /**
   * If `true`, the agent card contains the agents' instructions, rewritten in the first person. By default,
   * the card contains no instructions, because instructions are often private.
   */
  includeInstructions?: boolean;
  /** Version of the agent in its agent card. Default: `1.0.0`. */
  version?: string;
}

interface SkillOptions extends Pick<AdkCardOptions, "includeInstructions"> {
  observer?: Pick<Observer, "onError"> | false;
  /** Maximum time in milliseconds to wait for a toolset to list its tools. Default: 5 s. */
  toolsetTimeoutMs?: number;
}

/** Members that the bridge reads from an ADK agent or workflow to build the agent card. */
export interface AdkAgentLike {
  name: string;
  description?: string | undefined;
  subAgents?: readonly AdkAgentLike[];
  rootAgent?: AdkAgentLike;
  instruction?: unknown;
  globalInstruction?: unknown;
  tools?: readonly unknown[];
  /**
   * Planner of an ADK agent. Agents in ADK for Python can have planners. ADK JS agents have no planners, but
   * a subclass of an ADK JS agent may add a planner.
   */
  planner?: unknown;
  codeExecutor?: unknown;
  maxIterations?: number;
}

interface AdkTool {
  name: string;
  description?: string;
  examples?: unknown;
}

type AgentKind = "llm" | "loop" | "sequential" | "parallel" | "workflow" | "custom";

/**
 * Symbols that ADK uses to mark its classes. A symbol identifies an ADK class even if several copies of the
 * ADK package are loaded.
 */
const AGENT_KIND_BRANDS: readonly (readonly [AgentKind, symbol])[] = [
  ["llm", Symbol.for("google.adk.llmAgent")],
  ["loop", Symbol.for("google.adk.loopAgent")],
  ["sequential", Symbol.for("google.adk.sequentialAgent")],
  ["parallel", Symbol.for("google.adk.parallelAgent")],
  ["workflow", Symbol.for("google.adk.workflow.workflow")],
];

const AGENT_KIND_SKILL_TAGS: Record<AgentKind, string> = {
  llm: "llm",
  loop: "loop_workflow",
  sequential: "sequential_workflow",
  parallel: "parallel_workflow",
  workflow: "workflow",
  custom: "custom_agent",
};

const DEFAULT_DESCRIPTIONS: Record<AgentKind, string> = {
  llm: "An LLM-based agent",
  loop: "A loop workflow agent",
  sequential: "A sequential workflow agent",
  parallel: "A parallel workflow agent",
  workflow: "A workflow",
  custom: "A custom agent",
};

function getAgentKind(agent: object): AgentKind {
  return AGENT_KIND_BRANDS.find(([, brand]) => brand in agent)?.[0] ?? "custom";
}

/** Returns the agent card of an ADK agent, without the members that only the server can set. */
export async function describeAdkAgent(
  agent: AdkAgentLike,
  { version = "1.0.0", ...options }: AdkCardOptions & SkillOptions = {},
): Promise<AgentDescription> {
  return {
    name: agent.name,
    description: agent.description || DEFAULT_DESCRIPTIONS[getAgentKind(agent)],
    version,
    capabilities: {
      streaming: true,
      extensions: [{ uri: ADK_EXTENSION_URI, description: "Speaks the A2A dialect of ADK's bridges." }],
    },
    // The agent accepts files of every type. Which types the model understands is unknown here.
    defaultInputModes: ["text/plain", "application/json", "*/*"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: await buildAgentSkills(agent, options),
  };
}

/**
 * Returns the A2A skills of an agent and its direct sub-agents. ADK's other A2A bridges use the same ids,
 * names, and tags for skills.
 */
export async function buildAgentSkills(
  agent: AdkAgentLike,
  options: SkillOptions = {},
): Promise<AgentSkill[]> {
  const subAgents = getAgentKind(agent) === "workflow" ? [] : (agent.subAgents ?? []);
  const [own, ...theirs] = await Promise.all(
    [agent, ...subAgents].map((each) => buildOwnSkills(each, options)),
  );
  const skills = own ?? [];
  for (const [index, { name }] of subAgents.entries()) {
    for (const skill of theirs[index] ?? []) {
      skills.push({
        ...skill,
        id: `${name}_${skill.id}`,
        name: `${name}: ${skill.name}`,
        tags: [`sub_agent:${name}`, ...skill.tags],
      });
    }
  }
  return deduplicateSkillIds(skills);
}

/**
 * Makes skill ids unique by adding a numeric suffix, because two toolsets may contain tools with the same
 * name.
 */
function deduplicateSkillIds(skills: readonly AgentSkill[]): AgentSkill[] {
  const usedIds = new Set<string>();
  return skills.map((skill) => {
    let { id } = skill;
    for (let next = 2; usedIds.has(id); next++) id = `${skill.id}-${next}`;
    usedIds.add(id);
    return { ...skill, id };
  });
}

async function buildOwnSkills(agent: AdkAgentLike, options: SkillOptions): Promise<AgentSkill[]> {
  const kind = getAgentKind(agent);
  if (kind === "llm") return buildLlmSkills(agent, options);
  const { name } = agent;
  if (kind === "workflow") {
    return [
      {
        id: name,
        name: "workflow",
        description: agent.description || `Workflow ${name}`,
        tags: ["workflow"],
      },
    ];
  }
  const tag = AGENT_KIND_SKILL_TAGS[kind];
  const description = [agent.description, describeOrchestration(kind, agent)].filter(Boolean).join(" ");
  const skills: AgentSkill[] = [
    {
      id: name,
      name: kind === "custom" ? "custom" : "workflow",
      description: description || DEFAULT_DESCRIPTIONS[kind],
      tags: [tag],
    },
  ];
  if (agent.subAgents?.length) {
    const descriptions = agent.subAgents.map((sub) => sub.description || "No description");
    skills.push({
      id: `${name}-sub-agents`,
      name: "sub-agents",
      description: `Orchestrates: ${descriptions.join("; ")}`,
      tags: [tag, "orchestration"],
    });
  }
  return skills;
}

/** Returns a description of how a workflow agent orchestrates its sub-agents. */
function describeOrchestration(kind: AgentKind, { subAgents = [], maxIterations }: AdkAgentLike): string {
  if (subAgents.length === 0) return "";
  const actions = subAgents.map((sub) => sub.description || `execute the ${sub.name} agent`);
  if (kind === "sequential") {
    return actions
      .map((action, at) => {
        const when = at === 0 ? "First" : at === actions.length - 1 ? "Finally" : "Then";
        return `${when}, this agent will ${action}.`;
      })
      .join(" ");
  }
  const allActions =
    actions.length === 1 ? actions[0] : `${actions.slice(0, -1).join(", ")} and ${actions.at(-1)}`;
  if (kind === "parallel") return `This agent will ${allActions} simultaneously.`;
  if (kind !== "loop") return "";
  const limited = maxIterations !== undefined && maxIterations > 0 && maxIterations < Number.MAX_SAFE_INTEGER;
  return `This agent will ${allActions} in a loop (max ${limited ? maxIterations : "unlimited"} iterations).`;
}

async function buildLlmSkills(agent: AdkAgentLike, options: SkillOptions): Promise<AgentSkill[]> {
  const { name } = agent;
  const tools = await listAgentTools(agent, options);
  const model: AgentSkill = {
    id: name,
    name: "model",
    description: buildLlmDescription(agent, options),
    tags: ["llm"],
  };
  const examples = tools.flatMap((tool) => extractExampleToolInputs(tool.examples));
  if (examples.length > 0) model.examples = examples;
  const skills = [model];
  for (const tool of tools) {
    skills.push({
      id: `${name}-${tool.name}`,
      name: tool.name,
      description: tool.description || `Tool: ${tool.name}`,
      tags: ["llm", "tools"],
    });
  }
  if (agent.planner) {
    skills.push({
      id: `${name}-planner`,
      name: "planning",
      description: "Can think about the tasks to do and make plans",
      tags: ["llm", "planning"],
    });
  }
  if (agent.codeExecutor) {
    skills.push({
      id: `${name}-code-executor`,
      name: "code-execution",
      description: "Can execute code",
      tags: ["llm", "code_execution"],
    });
  }
  return skills;
}

/**
 * Returns the description of an LLM agent for its agent card. The description omits instructions that are
 * functions, because the result of such a function depends on the conversation.
 */
function buildLlmDescription(agent: AdkAgentLike, { includeInstructions }: SkillOptions): string {
  const sentences = [agent.description];
  if (includeInstructions) {
    for (const instruction of [agent.instruction, (agent.rootAgent ?? agent).globalInstruction]) {
      if (typeof instruction === "string") sentences.push(rewriteInstructionInFirstPerson(instruction));
    }
  }
  return sentences.filter(Boolean).join(" ") || DEFAULT_DESCRIPTIONS.llm;
}

const PRONOUN_REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\byou were\b/gi, "I was"],
  [/\byou are\b/gi, "I am"],
  [/\byou're\b/gi, "I am"],
  [/\byou've\b/gi, "I have"],
  [/\byours\b/gi, "mine"],
  [/\byour\b/gi, "my"],
  [/\byou\b/gi, "I"],
];

/** Rewrites an instruction from "You are …" to "I am …", as ADK's other bridges do. */
export function rewriteInstructionInFirstPerson(instruction: string): string {
  return PRONOUN_REPLACEMENTS.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    instruction,
  );
}

/** Toolsets whose last attempt failed. Each card is built several times, and the error is reported once. */
const failedToolsets = new WeakSet<object>();

/**
 * Returns the tools of an agent. If a toolset fails or exceeds the time limit, the function reports the
 * error and omits the toolset. The agent card therefore stays available if a toolset fails.
 */
async function listAgentTools(
  agent: AdkAgentLike,
  { observer, toolsetTimeoutMs = 5000 }: SkillOptions,
): Promise<AdkTool[]> {
  const lists = (agent.tools ?? []).map(async (tool): Promise<AdkTool[]> => {
    if (isToolset(tool)) {
      try {
        const tools = await withTimeout(toolsetTimeoutMs, tool.getTools());
        failedToolsets.delete(tool);
        return tools;
      } catch (error) {
        const where = `agent card: a toolset of ${agent.name}`;
        if (!failedToolsets.has(tool)) resolveObserver(observer).onError?.({ where, error });
        failedToolsets.add(tool);
        return [];
      }
    }
    return isNamedTool(tool) ? [tool] : [];
  });
  return (await Promise.all(lists)).flat();
}

async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The toolset did not list its tools within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function isToolset(tool: unknown): tool is { getTools(): Promise<AdkTool[]> } {
  return typeof tool === "object" && tool !== null && "getTools" in tool;
}

function isNamedTool(tool: unknown): tool is AdkTool {
  return typeof tool === "object" && tool !== null && "name" in tool && typeof tool.name === "string";
}

/**
 * Returns the input text of each example in an `ExampleTool`. The function skips example providers, because
 * an example provider requires a query.
 */
function extractExampleToolInputs(examples: unknown): string[] {
  if (!Array.isArray(examples)) return [];
  return examples.flatMap((example: { input?: { parts?: { text?: string }[] } }) => {
    const text = example.input?.parts?.map((part) => part.text ?? "").join("");
    return text ? [text] : [];
  });
}
