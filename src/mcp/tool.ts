import { type AgentCard, type AgentSkill, covers, type JsonObject } from "../protocol/index.ts";
import { plain } from "./plain.ts";
import { OUTPUT_SCHEMA } from "./structured.ts";
import { toolName } from "./tool-names.ts";

/** A tool as MCP lists it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { type: "object" };
  readonly outputSchema: JsonObject & { type: "object" };
}

export interface SkillTool {
  readonly tool: Tool;
  /** An agent that names no skill is one tool. */
  readonly skillId: string | undefined;
}

/** Of one agent; hosts have their own, lower limits for what they show a model. */
const MAX_TOOLS = 256;

/** The tools of an agent: one for each skill. Their names are added to `taken`. */
export function toolsOf(agentId: string, card: AgentCard, taken: Set<string>): SkillTool[] {
  const skills = card.skills.slice(0, MAX_TOOLS);
  return (skills.length === 0 ? [undefined] : skills).map((skill) => ({
    tool: {
      name: toolName(agentId, skill?.id, taken),
      title: plain(skill?.name ?? card.name, 100),
      description: describe(card, skill),
      inputSchema: inputSchema(skill?.inputModes?.length ? skill.inputModes : card.defaultInputModes),
      outputSchema: OUTPUT_SCHEMA,
    },
    skillId: skill?.id,
  }));
}

function describe(card: AgentCard, skill: AgentSkill | undefined): string {
  const agent = `${JSON.stringify(plain(card.name, 100))}: ${plain(card.description, 1000)}`;
  if (!skill) return `Asks the agent ${agent}`;
  const examples = (skill.examples ?? []).slice(0, 5).map((example) => `- ${plain(example, 200)}`);
  return [
    plain(skill.description, 2000) || plain(skill.name, 100),
    ...(examples.length > 0 ? [`For example:\n${examples.join("\n")}`] : []),
    ...(skill.description === card.description ? [] : [`Answered by the agent ${agent}`]),
  ].join("\n\n");
}

/** `data` and `files` only for agents that take them: what is not offered is not tried. */
function inputSchema(modes: readonly string[]): Tool["inputSchema"] {
  const takesFiles = modes.some((mode) => !/^(text|data|application\/json)\b/i.test(mode.trim()));
  return {
    type: "object",
    properties: {
      message: { type: "string", description: "What to say to the agent." },
      ...(covers(modes, "application/json") ? { data: DATA } : {}),
      ...(takesFiles ? { files: FILES } : {}),
      taskId: {
        type: "string",
        description:
          "Goes on with this task, as an earlier result named it: to answer what the agent asked. Without a message: waits for the task.",
      },
      contextId: {
        type: "string",
        description: "Begins a new task in the conversation of an earlier result.",
      },
    },
    additionalProperties: false,
  };
}

const DATA: JsonObject = {
  type: "object",
  description: "Structured input, beside the message or in its place.",
  additionalProperties: true,
};

const FILES: JsonObject = {
  type: "array",
  description: "Files for the agent, each by its URL or by its content.",
  items: {
    type: "object",
    properties: {
      url: { type: "string", description: "Where the agent can fetch it." },
      base64: { type: "string", description: "Its content." },
      mediaType: { type: "string", description: "For example image/png." },
      name: { type: "string" },
    },
    additionalProperties: false,
  },
};
