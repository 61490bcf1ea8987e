import {
  type AgentCard,
  type AgentSkill,
  type JsonObject,
  matchesMediaType,
  stripTrailingCharacters,
} from "../../protocol/index.ts";
import { stripInvisibleAndTruncateText } from "./sanitize-text.ts";
import { TOOL_OUTPUT_SCHEMA } from "./structured-tool-result.ts";

/** A tool definition in an MCP tool list. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { type: "object" };
  readonly outputSchema: JsonObject & { type: "object" };
}

/** An MCP tool, and the agent skill that the tool calls. */
export interface SkillTool {
  readonly tool: ToolDefinition;
  /**
   * Id of the agent skill. If the agent has no skills, the id is `undefined`, and the tool calls the agent
   * itself.
   */
  readonly skillId: string | undefined;
}

/**
 * Maximum number of tools per agent. MCP hosts set even lower limits on the number of tools that a model
 * receives.
 */
const MAX_TOOLS_PER_AGENT = 256;

/**
 * Creates one tool for each skill of an agent, or a single tool for an agent without skills. The function
 * adds the names of the tools to `taken`.
 */
export function createSkillTools(agentId: string, card: AgentCard, taken: Set<string>): SkillTool[] {
  const skills = card.skills.slice(0, MAX_TOOLS_PER_AGENT);
  return (skills.length === 0 ? [undefined] : skills).map((skill) => ({
    tool: {
      name: createSkillToolName(agentId, skill?.id, taken),
      title: stripInvisibleAndTruncateText(skill?.name ?? card.name, 100),
      description: formatToolDescription(card, skill),
      inputSchema: createInputSchema(skill?.inputModes?.length ? skill.inputModes : card.defaultInputModes),
      outputSchema: TOOL_OUTPUT_SCHEMA,
    },
    skillId: skill?.id,
  }));
}

function formatToolDescription(card: AgentCard, skill: AgentSkill | undefined): string {
  const agent = `${JSON.stringify(stripInvisibleAndTruncateText(card.name, 100))}: ${stripInvisibleAndTruncateText(card.description, 1000)}`;
  if (!skill) return `Calls the agent ${agent}`;
  const examples = (skill.examples ?? [])
    .slice(0, 5)
    .map((example) => `- ${stripInvisibleAndTruncateText(example, 200)}`);
  return [
    stripInvisibleAndTruncateText(skill.description, 2000) || stripInvisibleAndTruncateText(skill.name, 100),
    ...(examples.length > 0 ? [`For example:\n${examples.join("\n")}`] : []),
    ...(skill.description === card.description ? [] : [`Answered by the agent ${agent}`]),
  ].join("\n\n");
}

/**
 * Creates the input schema for a skill's tool. The schema contains `data` and `files` only if the agent
 * accepts data and files.
 */
function createInputSchema(modes: readonly string[]): ToolDefinition["inputSchema"] {
  const acceptsFiles = modes.some((mode) => !/^(text|data|application\/json)\b/i.test(mode.trim()));
  return {
    type: "object",
    properties: {
      message: { type: "string", description: "Message to the agent." },
      ...(matchesMediaType(modes, "application/json") ? { data: DATA_ARGUMENT_SCHEMA } : {}),
      ...(acceptsFiles ? { files: FILES_ARGUMENT_SCHEMA } : {}),
      taskId: {
        type: "string",
        description:
          "Id of a task from an earlier result. With a message: continues the task, for example to answer the agent's question. Without a message: waits for the task.",
      },
      contextId: {
        type: "string",
        description: "Id of a conversation from an earlier result, in which a new task is started.",
      },
    },
    additionalProperties: false,
  };
}

const DATA_ARGUMENT_SCHEMA: JsonObject = {
  type: "object",
  description: "Structured input, in addition to the message or instead of it.",
  additionalProperties: true,
};

const FILES_ARGUMENT_SCHEMA: JsonObject = {
  type: "array",
  description: "Files for the agent, each with a URL or with its content.",
  items: {
    type: "object",
    properties: {
      url: { type: "string", description: "URL from which the agent can fetch the file." },
      base64: { type: "string", description: "Content of the file." },
      mediaType: { type: "string", description: "Media type, for example image/png." },
      name: { type: "string" },
    },
    additionalProperties: false,
  },
};

/**
 * Maximum length of a tool name in characters. All hosts accept names of this length. The MCP specification
 * allows tool names of up to 128 characters.
 */
const MAX_TOOL_NAME_LENGTH = 64;

/**
 * Creates the tool name of a skill from the ids of the agent and the skill. The tool name contains only
 * letters, digits, `_`, and `-`, differs from all names in `taken`, and is added to `taken`. If the id of the
 * skill starts with the agent's id, the tool name is the id of the skill.
 */
export function createSkillToolName(agent: string, skill: string | undefined, taken: Set<string>): string {
  const [first, second] = [toSafeName(agent) || "agent", toSafeName(skill ?? "")];
  const fullName = second === "" ? first : startsWithWord(second, first) ? second : `${first}_${second}`;
  let name = fullName.slice(0, MAX_TOOL_NAME_LENGTH);
  for (let number = 2; taken.has(name.toLowerCase()); number++) {
    const suffix = `_${number}`;
    name = fullName.slice(0, MAX_TOOL_NAME_LENGTH - suffix.length) + suffix;
  }
  // Some hosts ignore case.
  taken.add(name.toLowerCase());
  return name;
}

function startsWithWord(text: string, start: string): boolean {
  return text.startsWith(start) && /^([_-]|$)/.test(text.slice(start.length));
}

/**
 * Replaces characters that tool names must not contain. For example, `Wettervorhersage für Köln` becomes
 * `Wettervorhersage_fur_Koln`.
 */
function toSafeName(text: string): string {
  const safeText = text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^_+/, "");
  return stripTrailingCharacters(safeText, "_");
}
