import { type AgentCard, type AgentSkill, matchesMediaType, type JsonObject } from "../protocol/index.ts";
import { sanitizeText } from "./sanitize-text.ts";
import { TOOL_OUTPUT_SCHEMA } from "./structured-result.ts";
import { createToolName } from "./tool-name.ts";

/** A tool as MCP lists it. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { type: "object" };
  readonly outputSchema: JsonObject & { type: "object" };
}

export interface SkillTool {
  readonly tool: ToolDefinition;
  /** An agent that names no skill is one tool. */
  readonly skillId: string | undefined;
}

/** Of one agent; hosts have their own, lower limits for what they show a model. */
const MAX_TOOLS_PER_AGENT = 256;

/** The tools of an agent: one for each skill. Their names are added to `taken`. */
export function createSkillTools(agentId: string, card: AgentCard, taken: Set<string>): SkillTool[] {
  const skills = card.skills.slice(0, MAX_TOOLS_PER_AGENT);
  return (skills.length === 0 ? [undefined] : skills).map((skill) => ({
    tool: {
      name: createToolName(agentId, skill?.id, taken),
      title: sanitizeText(skill?.name ?? card.name, 100),
      description: formatToolDescription(card, skill),
      inputSchema: createInputSchema(skill?.inputModes?.length ? skill.inputModes : card.defaultInputModes),
      outputSchema: TOOL_OUTPUT_SCHEMA,
    },
    skillId: skill?.id,
  }));
}

function formatToolDescription(card: AgentCard, skill: AgentSkill | undefined): string {
  const agent = `${JSON.stringify(sanitizeText(card.name, 100))}: ${sanitizeText(card.description, 1000)}`;
  if (!skill) return `Asks the agent ${agent}`;
  const examples = (skill.examples ?? []).slice(0, 5).map((example) => `- ${sanitizeText(example, 200)}`);
  return [
    sanitizeText(skill.description, 2000) || sanitizeText(skill.name, 100),
    ...(examples.length > 0 ? [`For example:\n${examples.join("\n")}`] : []),
    ...(skill.description === card.description ? [] : [`Answered by the agent ${agent}`]),
  ].join("\n\n");
}

/** `data` and `files` only for agents that take them: what is not offered is not tried. */
function createInputSchema(modes: readonly string[]): ToolDefinition["inputSchema"] {
  const takesFiles = modes.some((mode) => !/^(text|data|application\/json)\b/i.test(mode.trim()));
  return {
    type: "object",
    properties: {
      message: { type: "string", description: "What to say to the agent." },
      ...(matchesMediaType(modes, "application/json") ? { data: DATA_ARGUMENT_SCHEMA } : {}),
      ...(takesFiles ? { files: FILES_ARGUMENT_SCHEMA } : {}),
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

const DATA_ARGUMENT_SCHEMA: JsonObject = {
  type: "object",
  description: "Structured input, beside the message or in its place.",
  additionalProperties: true,
};

const FILES_ARGUMENT_SCHEMA: JsonObject = {
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
