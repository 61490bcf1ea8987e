/** What all hosts take; the MCP specification would allow twice as much. */
const MAX_TOOL_NAME_LENGTH = 64;

/**
 * The name of a skill's tool: the agent's and the skill's, made of letters, digits, `_` and `-`, and not in `taken`,
 * to which it is added. The agent's is left out where the skill's begins with it.
 */
export function createToolName(agent: string, skill: string | undefined, taken: Set<string>): string {
  const [first, second] = [toSafeName(agent) || "agent", toSafeName(skill ?? "")];
  const whole = second === "" ? first : startsWithWord(second, first) ? second : `${first}_${second}`;
  let name = whole.slice(0, MAX_TOOL_NAME_LENGTH);
  for (let number = 2; taken.has(name.toLowerCase()); number++) {
    const suffix = `_${number}`;
    name = whole.slice(0, MAX_TOOL_NAME_LENGTH - suffix.length) + suffix;
  }
  // Some hosts do not tell cases apart.
  taken.add(name.toLowerCase());
  return name;
}

function startsWithWord(text: string, start: string): boolean {
  return text.startsWith(start) && /^([_-]|$)/.test(text.slice(start.length));
}

/** `Wettervorhersage für Köln` → `Wettervorhersage_fur_Koln` */
function toSafeName(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
}
