import { stripTrailingCharacters } from "../../protocol/index.ts";

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
